// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/color_matrix.h"

#include <cmath>

#include "ops/machine/image_layout.h"

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

ColorMatrix color_twist_matrix(double hue, double saturation, double value, double brightness, double contrast,
                               DType input) {
  static const ColorMatrix to_yiq{{{{.299, .587, .114}, {.596, -.274, -.321}, {.211, -.523, .311}}}, {}};
  static const ColorMatrix from_yiq = inverse(to_yiq);
  // The turned and scaled matrix is a sum of three that do not change.
  static const ColorMatrix gray = from_yiq * ColorMatrix{{{{1, 0, 0}, {}, {}}}, {}} * to_yiq;
  static const ColorMatrix kept = from_yiq * ColorMatrix{{{{}, {0, 1, 0}, {0, 0, 1}}}, {}} * to_yiq;
  static const ColorMatrix turned = from_yiq * ColorMatrix{{{{}, {0, 0, 1}, {0, -1, 0}}}, {}} * to_yiq;
  const double angle = hue * (3.14159265358979323846 / 180);
  const double c = saturation * std::cos(angle), s = saturation * std::sin(angle);
  const double half = is_float(input) ? 0.5 : 128.0, scale = brightness * contrast * value;
  ColorMatrix out;
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) out.m[r][k] = (gray.m[r][k] + c * kept.m[r][k] + s * turned.m[r][k]) * scale;
  out.offset.fill((half - half * contrast) * brightness);
  return out;
}

Layout color_layout(const ValueType& in) {
  const Layout l = image_layout(in);
  if (!l.empty() && !l.has('C')) bad_type("expected a layout with channels, such as HWC, got '{}'", l.str());
  return l;
}

}  // namespace penstock
