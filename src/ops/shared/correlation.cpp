// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/correlation.h"

namespace penstock {

std::pair<int, int> convolved_axes(const Layout& layout, int ndim) {
  int first = 0, last = ndim;
  if (!layout.empty()) {
    while (first < last && (layout[first] == 'F' || layout[first] == 'C')) ++first;
    if (first < last && layout[last - 1] == 'C') --last;
    for (int i = first; i < last; ++i)
      if (layout[i] == 'F' || layout[i] == 'C')
        bad_type("F must come before the axes to convolve, C before or after them, got the layout '{}'", layout.str());
  }
  if (last - first < 1 || last - first > 3)
    bad_type("expected one to three axes to convolve, got {} in the layout '{}'", last - first, layout.str());
  return {first, last - first};
}

ImageRule::Extents convolved_extents(const Shape& shape, int first, int axes) {
  ImageRule::Extents e{1, 1, 1, 1, 1};
  for (int d = 0; d < shape.size(); ++d) {
    if (d < first) e.outer *= shape[d];
    else if (d >= first + axes) e.inner *= shape[d];
    else (d == first + axes - 1 ? e.width : d == first + axes - 2 ? e.height : e.depth) = shape[d];
  }
  return e;
}

}  // namespace penstock
