// SPDX-License-Identifier: Apache-2.0
// Parts of views, without a copy.
#pragma once
#include <string>

#include "batch/batch.h"

namespace penstock {

// Where `extent` elements along a dimension are, from `begin` on.
inline View part(View v, int dim, int64_t begin, int64_t extent) {
  v.data = v.as<char>() + begin * v.strides[dim] * static_cast<int64_t>(size_of(v.dtype));
  v.shape[dim] = extent;
  return v;
}

inline Shape without_first(const Shape& s) {
  return Shape(std::span<const int64_t>(s.begin() + (s.empty() ? 0 : 1), s.end()));
}
inline Layout without_first(const Layout& layout) { return layout.empty() ? layout : Layout(layout.view().substr(1)); }
// An entry of the first dimension, which the view has no more.
inline View entry(const View& v, int64_t index) {
  View e = part(v, 0, index, 1);
  e.layout = without_first(v.layout), e.shape = without_first(v.shape), e.strides = without_first(v.strides);
  return e;
}

}  // namespace penstock
