// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement_field.h"
#include "ops/shared/distortion.h"

namespace penstock {

struct OpticalRule {
  PENSTOCK_PIXEL(
      struct Coef {
        float middle_x, middle_y;    // of the image, from the center of the first pixel
        float inverse_x, inverse_y;  // 1 / width, 1 / height
        float k;
      };
      template <class V> PENSTOCK_INLINE static gather::Position<V> at(int32_t, int32_t y, int32_t x, const Coef& c) {
        const V from_x = static_cast<V>(x) - static_cast<V>(c.middle_x);
        const V from_y = static_cast<V>(y) - static_cast<V>(c.middle_y);
        const V u = from_x * static_cast<V>(c.inverse_x);
        const V v = from_y * static_cast<V>(c.inverse_y);
        const V square = u * u + v * v;
        const V more = static_cast<V>(c.k) * square * (square + static_cast<V>(1));
        const V by_x = from_x * more;
        const V by_y = from_y * more;
        return gather::displaced(static_cast<V>(x), static_cast<V>(y), by_x, by_y);
      });
};

struct OpticalDistortion : Distortion {
  PerSample<float> k = 0.0f;

  static Schema<OpticalDistortion> schema() {
    using Op = OpticalDistortion;
    return Schema<Op>(
               "optical_distortion",
               "Distorts images as a lens does: barrels and pincushions.\n\nWith u = (x - cx) / width and v = "
               "(y - cy) / height from the center of the image, and r2 = u * u + v * v, output (x, y) is the "
               "input at (cx + (x - cx) * f, cy + (y - cy) * f), f = 1 + k * r2 + k * r2 * r2: OpenCV's "
               "undistortion for a camera of the focal lengths (width, height) and k1 = k2 = k, as Albumentations' "
               "OpticalDistortion has it. Sums of uint8, int8, bool, float16 and float32 are in float32, those "
               "of other types in float64. Layouts: HW, HWC, CHW, each also with a leading F; the output keeps "
               "the layout. Types: all.\n\nExample:\n>>> image = np.zeros((48, 64, 3), np.uint8)\n>>> result = "
               "fn.optical_distortion(image, k=0.3)")
        .arg("k", &Op::k, "How strong: above 0 the borders move inward, below 0 outward. From -0.4 on nothing folds.")
        .with(&distortion_arguments<Op>)
        .reads_images();
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const gather::Images images = gather::images_of(in[0].shape, in[0].layout);
    const OpticalRule::Coef c = coef(s, images.height, images.width);
    gather::sample<OpticalRule>(in[0], out[0], c, sampling(), to);
  }
  // As displacement_field.h says.
  void displace(const SampleContext& s, int32_t height, int32_t width, float* dx, float* dy) const {
    const OpticalRule::Coef c = coef(s, height, width);
    for (int32_t y = 0; y < height; ++y)
      for (int32_t x = 0; x < width; ++x) {
        const auto p = OpticalRule::at<double>(0, y, x, c);
        *dx++ = static_cast<float>(p.x - x), *dy++ = static_cast<float>(p.y - y);
      }
  }

 private:
  OpticalRule::Coef coef(const SampleContext& s, int32_t height, int32_t width) const {
    const float strength = k[s.index];
    if (!(std::fabs(strength) <= 1e4f)) bad_argument("k must be from -10000 to 10000, got {}", strength);
    const auto middle = [](int32_t n) { return static_cast<float>((n - 1) * 0.5); };
    const auto inverse = [](int32_t n) { return n > 0 ? static_cast<float>(1.0 / n) : 0.0f; };
    return {middle(width), middle(height), inverse(width), inverse(height), strength};
  }
};
PENSTOCK_OPERATOR(OpticalDistortion);
PENSTOCK_DISPLACEMENTS(OpticalDistortion);

}  // namespace penstock
