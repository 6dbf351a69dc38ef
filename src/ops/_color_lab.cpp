// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "families/frame/lab.h"
#include "operator/byte_pixels.h"
#include "ops/shared/light_curves.h"

namespace penstock {

// RGB with sRGB's curve to CIE's Lab or Luv under D65. Bytes of Lab have OpenCV's steps: light in parts of 2040, roots
// in parts of 32768.
struct ToLab : LightForm<ToLab> {
  static Schema<ToLab> schema() { return form("color_space_conversion@to_lab"); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V unit, steps, m[9], luv, full, blue_first; };
      // The light of a channel, in steps of OpenCV's table.
      template <class V> PENSTOCK_INLINE static V light(V x, const Coef<V>& c) {
        const V v = clamp(x * c.unit, V(0), V(1));
        const V power = V(light_of(static_cast<float>(v)));
        const V found = v > V(0.04045f) ? power : v * V(1.0f / 12.92f);
        return select(c.steps > V(0), round_even(found * V(2040)), found);
      } template <class V>
      PENSTOCK_INLINE static V steps(V sum, const Coef<V>& c) {
        return select(c.steps > V(0), floor(sum + V(0.5f)) * V(1.0f / 2040), sum);
      } template <class V>
      PENSTOCK_INLINE static V root(V t, const Coef<V>& c) {
        const float some = static_cast<float>(t > V(0.008856f) ? t : V(1));
        const V cube = V(cube_root(some));
        const V found = t > V(0.008856f) ? cube : t * V(7.787f) + V(0.13793103f);
        return select(c.steps > V(0), round_even(found * V(32768)) * V(1.0f / 32768), found);
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            const V red = light(select(c.blue_first > V(0), p.b, p.r), c);
            const V green = light(p.g, c);
            const V blue = light(select(c.blue_first > V(0), p.r, p.b), c);
            const V x = steps(red * c.m[0] + green * c.m[1] + blue * c.m[2], c);
            const V y = steps(red * c.m[3] + green * c.m[4] + blue * c.m[5], c);
            const V z = steps(red * c.m[6] + green * c.m[7] + blue * c.m[8], c);
            const V root_y = root(y, c);
            const V lightness =
                select(c.luv + c.steps > V(0) || y > V(0.008856f), V(116) * root_y - V(16), V(903.3f) * y);
            const V of_lab_a = V(500) * (root(x, c) - root_y);
            const V of_lab_b = V(200) * (root_y - root(z, c));
            // x and z are relative to the white for Lab alone.
            const V sum = x + V(15) * y + V(3) * z;
            const V per_sum = V(1) / (sum > V(0x1p-23f) ? sum : V(0x1p-23f));
            const V of_luv_u = lightness * (V(52) * x * per_sum - V(13 * 0.19783940f));
            const V of_luv_v = lightness * (V(117) * y * per_sum - V(13 * 0.46834220f));
            const V a = select(c.luv > V(0), of_luv_u, of_lab_a);
            const V b = select(c.luv > V(0), of_luv_v, of_lab_b);
            const V byte_l = floor(lightness * V(2.55f) + V(0.5f));
            const V byte_a = select(c.luv > V(0), (a + V(134)) * V(255.0f / 354), a + V(128));
            const V byte_b = select(c.luv > V(0), (b + V(140)) * V(255.0f / 262), b + V(128));
            const bool real = c.full < V(2);
            return {select(real, lightness, byte_l), select(real, a, floor(byte_a + V(0.5f))),
                    select(real, b, floor(byte_b + V(0.5f)))};
          });
  template <class V> Coef<V> coef(int) const {
    static constexpr double kTo[9] = {.412453, .357580, .180423, .212671, .715160, .072169, .019334, .119193, .950227};
    static constexpr double kWhite[3] = {.950456, 1, 1.088754};
    const bool bytes = type_ == DType::uint8, luv = to() == ColorFormat::luv;
    Coef<V> c;
    c.unit = bytes ? V(1.0f / 255) : V(1);
    c.steps = V(bytes && !luv), c.luv = V(luv), c.full = V(full()), c.blue_first = V(from() == ColorFormat::bgr);
    for (int i = 0; i < 9; ++i) {
      const double m = kTo[i] / (luv ? 1 : kWhite[i / 3]);
      c.m[i] = static_cast<V>(bytes && !luv ? std::round(m * 4096) / 4096 : m);
    }
    return c;
  }
};
PENSTOCK_OPERATOR(ToLab);

// By the parts of the pixel function. A difference of roots is a multiple of 2^-15, so no product of it is rounded.
static frame::LabTables make_tables(const ToLab::Coef<float>& c) {
  frame::LabTables t{};
  for (int k = 0; k < 3; ++k)
    for (int v = 0; v < 256; ++v)
      for (int row = 0; row < 3; ++row) {
        const float factor = 4096 * c.m[3 * row + (c.blue_first > 0 ? 2 - k : k)];
        t.light[k][v][row] =
            static_cast<int32_t>(ToLab::light(static_cast<float>(v), c) * factor) + (k == 0 ? 2048 : 0);
      }
  for (int step = 0; step < 2048; ++step) {
    const float root = ToLab::root(static_cast<float>(step) * (1.0f / 2040), c);
    t.root[step] = static_cast<uint16_t>(root * 32768);
    t.lightness[step] = static_cast<uint8_t>(clamp(floor((116 * root - 16) * 2.55f + 0.5f), 0.0f, 255.0f));
  }
  return t;
}
static bool lab_of_bytes(const BoundOp& op, Target target, const uint8_t* in, uint8_t* out, int64_t n) {
  const ToLab& form = static_cast<const CoefAdaptor<ToLab>&>(op).op;
  if (form.to() != ColorFormat::lab) return false;
  static const std::array<frame::LabTables, 2> tables = [&] {
    auto c = form.coef<float>(0);
    c.blue_first = 0;
    const frame::LabTables of_rgb = make_tables(c);
    c.blue_first = 1;
    return std::array<frame::LabTables, 2>{of_rgb, make_tables(c)};
  }();
  return frame::lab_pixels(target, tables[form.from() == ColorFormat::bgr], in, out, n);
}
[[maybe_unused]] static const bool lab_has_byte_loop = add_byte_pixels("color_space_conversion@to_lab", &lab_of_bytes);

}  // namespace penstock
