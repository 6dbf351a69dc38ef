// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement.h"

namespace penstock {

struct SphereRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int32_t middle_x, middle_y;
        double extent;                // from the middle to the longer side
        float inverse, inverse_rest;  // 1 / extent is their sum
      };
      template <class V> PENSTOCK_HD static gather::Position<V> at(int32_t, int32_t y, int32_t x, const Coef& c) {
        const V dx = static_cast<V>(x - c.middle_x) + static_cast<V>(0.5);
        const V dy = static_cast<V>(y - c.middle_y) + static_cast<V>(0.5);
        const V half = static_cast<V>(-0.5);
        const V middle_x = static_cast<V>(c.middle_x);
        const V middle_y = static_cast<V>(c.middle_y);
        if constexpr (sizeof(V) == sizeof(double)) {
          const V radius = sqrt(dx * dx + dy * dy) / c.extent;
          return {middle_x + radius * dx, middle_y + radius * dy, half, half};
        } else {
          const gather::Sum<V> xx = gather::product_of(dx, dx);
          const gather::Sum<V> yy = gather::product_of(dy, dy);
          const gather::Sum<V> square = gather::sum_of(xx.value, yy.value);
          const V root = sqrt(square.value);
          const V lost = fma(-root, root, square.value) + (square.rest + xx.rest + yy.rest);
          const gather::Sum<V> radius = gather::product_of(root, c.inverse);
          const V rest = radius.rest + root * c.inverse_rest + lost * static_cast<V>(0.5) / root * c.inverse;
          const gather::Sum<V> by_x = gather::product_of(radius.value, dx);
          const gather::Sum<V> by_y = gather::product_of(radius.value, dy);
          const gather::Sum<V> px = gather::sum_of(middle_x, by_x.value);
          const gather::Sum<V> py = gather::sum_of(middle_y, by_y.value);
          return {px.value, py.value, half + (px.rest + by_x.rest + rest * dx),
                  half + (py.rest + by_y.rest + rest * dy)};
        }
      }
      // The halves of the pixels' centers cancel each other, and a few digits of the root's last correction are enough.
      PENSTOCK_INLINE static gather::Pixel pixel(int32_t, int32_t y, int32_t x, const Coef& c) {
        const float dx = static_cast<float>(x - c.middle_x) + 0.5f;
        const float dy = static_cast<float>(y - c.middle_y) + 0.5f;
        const float yy = dy * dy;
        const float square = fma(dx, dx, yy);
        const float square_rest = fma(dx, dx, yy - square) + fma(dy, dy, -yy);
        const float root = sqrt(square);
        const float lost = fma(-root, root, square) + square_rest;
        const float rough = std::bit_cast<float>(0x7EF311C3u - std::bit_cast<uint32_t>(root));
        const float root_rest = lost * (fma(-root, rough, 2.0f) * (0.5f * rough));
        const gather::Sum<float> radius = gather::product_of(root, c.inverse);
        const float rest = fma(root_rest, c.inverse, fma(root, c.inverse_rest, radius.rest));
        const gather::Sum<float> by_x = gather::product_of(radius.value, dx);
        const gather::Sum<float> by_y = gather::product_of(radius.value, dy);
        return {c.middle_x + gather::whole_part({by_x.value, fma(rest, dx, by_x.rest)}),
                c.middle_y + gather::whole_part({by_y.value, fma(rest, dy, by_y.rest)})};
      });
};

struct Sphere : Displacement {
  static Schema<Sphere> schema() {
    return Schema<Sphere>("sphere",
                          "Distorts an image as if it lay on a sphere.\n\nThe pixel at a distance r from the center is "
                          "taken from r times that distance, in the same direction; r is 1 at half of the longer side. "
                          "Layouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. Types: all.")
        .float64(gather::kWhyFloat64)
        .with(&displacement_arguments<Sphere>);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const ImageRule::Extents e = image_extents(in[0].shape, in[0].layout);
    SphereRule::Coef c{static_cast<int32_t>(e.width / 2), static_cast<int32_t>(e.height / 2), 0, 0, 0};
    c.extent = std::max<double>({c.middle_x * 1.0, c.middle_y * 1.0, 0.5});
    c.inverse = static_cast<float>(1 / c.extent), c.inverse_rest = static_cast<float>(1 / c.extent - c.inverse);
    sample_displaced<SphereRule>(s, in[0], out[0], c, to, kept_);
  }

 private:
  std::shared_ptr<gather::KeptPixels> kept_ = std::make_shared<gather::KeptPixels>();
};
PENSTOCK_OPERATOR(Sphere);

}  // namespace penstock
