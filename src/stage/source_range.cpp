// SPDX-License-Identifier: Apache-2.0
#include "stage/source_range.h"

#include <algorithm>

namespace penstock {

SourceRange source_range(const Placement& p, int dim) {
  const DimMap& m = p[dim];
  int64_t a = 0, b = m.extent;  // positions of the window that are read; a warp may read any of them
  if (!p.warps()) {
    int64_t begin, end;
    m.valid(begin, end);
    if (end <= begin) return {};
    if (!m.filter) {
      a = begin, b = end;
    } else if (m.filter->kind != FilterKind::nearest || m.filter->border == FilterBorder::clamp) {
      // Taps move in the same direction as the outputs, so the outermost outputs read the outermost samples.
      const AxisTaps taps = axis_taps(*m.filter, m.extent);
      const int64_t first = output_taps(taps, m.after_start + m.after_step * begin).first;
      const int64_t last = output_taps(taps, m.after_start + m.after_step * (end - 1)).first;
      a = std::min(first, last), b = std::max(first, last) + taps.taps;
    }
  }
  if (b <= a) return {};
  const int64_t first = m.start + m.step * a, last = m.start + m.step * (b - 1);
  SourceRange r;
  r.lo = std::clamp<int64_t>(std::min(first, last), 0, m.in);
  r.hi = std::clamp<int64_t>(std::max(first, last) + 1, r.lo, m.in);
  return r;
}

}  // namespace penstock
