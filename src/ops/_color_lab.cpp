// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/shared/color_formats.h"
#include "ops/shared/light_curves.h"

namespace penstock {

static void check_light_type(DType t) {
  if (t == DType::uint16) bad_type("Lab and Luv need uint8 or float32, got uint16");
}

// RGB with sRGB's curve to CIE's Lab or Luv under D65. Bytes of Lab have OpenCV's steps: light in parts of 2040, roots
// in parts of 32768.
struct ToLab : ColorForm<ToLab>, LightCurves {
  std::string base_text() const override { return curves_text; }
  static Schema<ToLab> schema() { return form("color_space_conversion@to_lab"); }
  void check(std::span<const ValueType> in) override {
    ColorForm::check(in);
    check_light_type(type_);
  }
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

// Lab and Luv to RGB.
struct OfLab : ColorForm<OfLab>, LightCurves {
  std::string base_text() const override { return curves_text; }
  static Schema<OfLab> schema() { return form("color_space_conversion@of_lab"); }
  void check(std::span<const ValueType> in) override {
    ColorForm::check(in);
    check_light_type(type_);
  }
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
