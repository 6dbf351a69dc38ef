// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/light_curves.h"

namespace penstock {

// Lab and Luv to RGB.
struct OfLab : LightForm<OfLab> {
  static Schema<OfLab> schema() { return form("color_space_conversion@of_lab"); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V scale[3], shift[3], luv, full, blue_first; };
      template <class V> PENSTOCK_INLINE static V cubed(V t) {
        return t > V(0.20689270f) ? t * t * t : (t - V(0.13793103f)) * V(1.0f / 7.787f);
      } template <class V>
      PENSTOCK_INLINE static V curve(V light, const Coef<V>& c) {
        const V v = clamp(light, V(0), V(1));
        const float some = static_cast<float>(v > V(0.0031308f) ? v : V(1));
        const V power = V(curve_of(some));
        return (v > V(0.0031308f) ? power : v * V(12.92f)) * c.full;
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            const V l = p.r * c.scale[0] + c.shift[0];
            const V a = p.g * c.scale[1] + c.shift[1];
            const V b = p.b * c.scale[2] + c.shift[2];
            const V part = (l + V(16)) * V(1.0f / 116);
            const bool dark = !(l > V(8));
            const V y = dark ? l * V(1.0f / 903.3f) : part * part * part;
            const V root_y = dark ? y * V(7.787f) + V(0.13793103f) : part;
            const V of_lab_x = V(0.950456f) * cubed(root_y + a * V(0.002f));
            const V of_lab_z = V(1.088754f) * cubed(root_y - b * V(0.005f));
            const V some = l > V(0x1p-23f) ? l : V(0x1p-23f);
            const V u = V(3) * (a + some * V(13 * 0.19783940f));
            const V per_v = V(0.25f) / (b + some * V(13 * 0.46834220f));
            const V by = clamp(per_v, V(-0.25f), V(0.25f));
            const V of_luv_x = V(3) * y * u * by;
            const V of_luv_z = y * ((V(12 * 13) * some - u) * by - V(5));
            const V x = select(c.luv > V(0), of_luv_x, of_lab_x);
            const V z = select(c.luv > V(0), of_luv_z, of_lab_z);
            const V red = curve(x * V(3.240479f) + y * V(-1.53715f) + z * V(-0.498535f), c);
            const V green = curve(x * V(-0.969256f) + y * V(1.875991f) + z * V(0.041556f), c);
            const V blue = curve(x * V(0.055648f) + y * V(-0.204043f) + z * V(1.057311f), c);
            return {select(c.blue_first > V(0), blue, red), green, select(c.blue_first > V(0), red, blue)};
          });
  template <class V> Coef<V> coef(int) const {
    const bool bytes = type_ == DType::uint8, luv = from() == ColorFormat::luv;
    Coef<V> c{{1, 1, 1}, {0, 0, 0}, V(luv), V(full()), V(to() == ColorFormat::bgr)};
    if (!bytes) return c;
    c.scale[0] = V(100.0 / 255);
    c.scale[1] = luv ? V(354.0 / 255) : V(1), c.shift[1] = luv ? V(-134) : V(-128);
    c.scale[2] = luv ? V(262.0 / 255) : V(1), c.shift[2] = luv ? V(-140) : V(-128);
    return c;
  }
};
PENSTOCK_OPERATOR(OfLab);

}  // namespace penstock
