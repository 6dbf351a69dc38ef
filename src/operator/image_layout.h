// SPDX-License-Identifier: Apache-2.0
// The layout of an image whose layout is not given.
#pragma once
#include "operator/bound_op.h"

namespace penstock {

// HW, HWC, FHWC (or `four`) or FDHWC by rank if the layout is empty; throws if it has no H and W.
inline Layout image_layout(const ValueType& in, const char* four = "FHWC") {
  if (in.layout.empty()) {
    switch (in.ndim) {
      case -1: return {};
      case 2: return "HW";
      case 3: return "HWC";
      case 4: return four;
      case 5: return "FDHWC";
      default: bad_type("expected an image (2 to 5 dimensions), got {} dimensions", in.ndim);
    }
  }
  if (!in.layout.has('H') || !in.layout.has('W'))
    bad_type("expected a layout with H and W, such as HWC, got '{}'", in.layout.str());
  return in.layout;
}

}  // namespace penstock
