// SPDX-License-Identifier: Apache-2.0
#include "operator/point_map.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "numerics/matrix_inverse.h"

namespace penstock {
namespace {

// Position x of the output is position scale * x + offset of the input.
struct Line {
  double scale = 1, offset = 0;
};

Line after(const Line& source, const Line& next) {
  return {source.scale * next.scale, source.scale * next.offset + source.offset};
}

// Backward, output 0 shows element `start`, whose far side is at start + 1.
Line window(int64_t start, int64_t step) {
  return {static_cast<double>(step), static_cast<double>(step > 0 ? start : start + 1)};
}

Line line_of(const DimMap& d) {
  const Line source = window(d.start, d.step);
  if (!d.filter) return source;
  const AxisFilter& f = *d.filter;
  Line filtered;
  if (f.kind != FilterKind::window && f.out > 0) filtered = {(f.hi - f.lo) / static_cast<double>(f.out), f.lo};
  return after(source, after(filtered, window(d.after_start, d.after_step)));
}

}  // namespace

int spatial_dims(const Layout& layout, int* dims) {
  int n = 0;
  for (const char c : {'W', 'H', 'D'})
    if (const int at = layout.find(c); at >= 0) dims[n++] = at;
  return n;
}

PointMap unmoved_points(const Layout& layout) {
  int dims[3];
  PointMap map;
  const int n = map.dims = spatial_dims(layout, dims);
  if (n < 2) bad_type("points move with images and volumes, but the layout is '{}'", layout.str());
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j) map.m[i * (n + 1) + j] = i == j;
  return map;
}

PointMap point_map(const Placement& p) {
  PointMap to_input = unmoved_points(p.layout());
  int dims[3];
  const int n = spatial_dims(p.layout(), dims);
  for (int i = 0; i < n; ++i) {
    double* row = to_input.m + i * (n + 1);
    if (p.warps() && p[dims[i]].warped) {
      const AffineMap& a = p.affine_map();
      for (int j = 0; j <= n; ++j) row[j] = a.m[i * (n + 1) + j];
    } else {
      const Line line = line_of(p[dims[i]]);
      row[i] = line.scale, row[n] = line.offset;
    }
  }
  return inverse(to_input);
}

PointMap inverse(const PointMap& map) {
  const int n = map.dims + 1;
  double a[4][8] = {};
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) a[r][c] = map.m[r * n + c];
  if (!make_inverse(a, n)) bad_argument("points cannot follow a map that is singular");
  PointMap to;
  to.dims = map.dims;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) to.m[r * n + c] = a[r][n + c];
  return to;
}

}  // namespace penstock
