// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_matrix.h"

#include "operator/image_layout.h"

namespace penstock {

ColorMatrix operator*(const ColorMatrix& a, const ColorMatrix& b) {
  ColorMatrix out;
  for (int r = 0; r < 3; ++r) {
    out.offset[r] = a.offset[r];
    for (int k = 0; k < 3; ++k) {
      out.offset[r] += a.m[r][k] * b.offset[k];
      for (int c = 0; c < 3; ++c) out.m[r][c] += a.m[r][k] * b.m[k][c];
    }
  }
  return out;
}

static ColorMatrix inverse(const ColorMatrix& a) {
  ColorMatrix out;
  auto minor = [&](int r, int c) {
    const int r0 = (r + 1) % 3, r1 = (r + 2) % 3, c0 = (c + 1) % 3, c1 = (c + 2) % 3;
    return a.m[r0][c0] * a.m[r1][c1] - a.m[r0][c1] * a.m[r1][c0];
  };
  const double det = a.m[0][0] * minor(0, 0) + a.m[0][1] * minor(0, 1) + a.m[0][2] * minor(0, 2);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) out.m[r][c] = minor(c, r) / det;
  return out;
}

const TwistMatrices& twist_matrices() {
  static const TwistMatrices matrices = [] {
    const ColorMatrix to_yiq{{{{.299, .587, .114}, {.596, -.274, -.321}, {.211, -.523, .311}}}, {}};
    const ColorMatrix from_yiq = inverse(to_yiq);
    TwistMatrices t;
    const auto put = [&](double* to, const ColorMatrix& part) {
      const ColorMatrix m = from_yiq * part * to_yiq;
      for (int i = 0; i < 9; ++i) to[i] = m.m[i / 3][i % 3];
    };
    put(t.gray, {{{{1, 0, 0}, {}, {}}}, {}});
    put(t.kept, {{{{}, {0, 1, 0}, {0, 0, 1}}}, {}});
    put(t.turned, {{{{}, {0, 0, 1}, {0, -1, 0}}}, {}});
    return t;
  }();
  return matrices;
}

Layout color_layout(const ValueType& in) {
  const Layout l = image_layout(in);
  if (!l.empty() && !l.has('C')) bad_type("expected a layout with channels, such as HWC, got '{}'", l.str());
  return l;
}

}  // namespace penstock
