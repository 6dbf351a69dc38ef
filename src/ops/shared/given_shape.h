// SPDX-License-Identifier: Apache-2.0
// A shape for the result that the caller gives; a scalar if none is given.
#pragma once
#include "operator/operator.h"

namespace penstock {

struct GivenShape {
  PerSample<std::vector<int64_t>> shape;
  static constexpr const char* kShape = "Extents of the result.";

  int given_ndim() const {
    if (!shape.given()) return 0;
    return shape.constant()        ? static_cast<int>(shape.one().size())
           : shape.batch()->size() ? static_cast<int>(shape.batch()->shape(0).volume())
                                   : -1;
  }
  Shape given_shape(int sample) const {
    Shape s;
    if (!shape.given()) return s;
    for (int64_t e : shape[sample]) {
      if (e < 0) bad_argument("shape must not be negative, got {}", e);
      s.push_back(e);
    }
    return s;
  }
};

}  // namespace penstock
