// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct JitterRule {
  PENSTOCK_PIXEL(
      struct Coef {
        RandomStream draws;
        int32_t reach;  // the largest distance
        int32_t height;
        int32_t width;
      };
      // The place that an output reads on an axis of n pixels.
      PENSTOCK_INLINE static int32_t place(int32_t from, int32_t n, uint32_t choice, const Coef& c) {
        return max(from + min(static_cast<int32_t>(choice) - c.reach, n - 1 - from), 0);
      }
      // One random number has both choices: the fraction that the first leaves gives the second.
      PENSTOCK_INLINE static gather::Pixel drawn_pixel(int32_t y, int32_t x, uint32_t drawn, const Coef& c) {
        const uint64_t choices = 2 * static_cast<uint32_t>(c.reach) + 1;
        const uint64_t by_x = drawn * choices;
        const uint64_t by_y = static_cast<uint32_t>(by_x) * choices;
        return {place(x, c.width, static_cast<uint32_t>(by_x >> 32), c),
                place(y, c.height, static_cast<uint32_t>(by_y >> 32), c)};
      }
      // The number of an output.
      PENSTOCK_INLINE static uint64_t number(int32_t image, int32_t y, int32_t x, const Coef& c) {
        return (static_cast<uint64_t>(image) * c.height + y) * c.width + x;
      } PENSTOCK_INLINE static gather::Pixel pixel(int32_t image, int32_t y, int32_t x, const Coef& c) {
        const uint64_t own = number(image, y, x, c);
        const PhiloxBlock b = c.draws.block(own >> 2);
        const bool odd = (own & 1) != 0;
        const uint32_t first = odd ? b.word[1] : b.word[0];
        const uint32_t second = odd ? b.word[3] : b.word[2];
        return drawn_pixel(y, x, (own & 2) != 0 ? second : first, c);
      } template <class V>
      PENSTOCK_INLINE static gather::Position<V>
          drawn_at(int32_t y, int32_t x, uint32_t drawn, const Coef& c) {
            return gather::at_pixel<V>(drawn_pixel(y, x, drawn, c));
          } template <class V>
          PENSTOCK_INLINE static gather::Position<V>
              at(int32_t image, int32_t y, int32_t x, const Coef& c) {
                return gather::at_pixel<V>(pixel(image, y, x, c));
              });
};

struct Jitter : Displacement {
  int nDegree = 2;

  static Schema<Jitter> schema() {
    using Op = Jitter;
    return Schema<Op>("jitter",
                      "Replaces each pixel by a random pixel near it.\n\nThat pixel is at most trunc(nDegree / 2) "
                      "pixels away along each axis, and inside the image; channels stay together. The random numbers "
                      "come from Philox4x32-10, keyed on the seed, the epoch, the sample and, unless the operator has "
                      "a seed of its own, the operator. Layouts: HW, HWC, CHW, each also with a leading F; the output "
                      "keeps the layout. Types: all.")
        .arg("nDegree", &Op::nDegree, "Twice the largest distance in pixels.", within(0, 65535))
        .with(&displacement_arguments<Op>)
        .random();
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (mask[s.index] == 0) return to.copy(in[0], out[0]);
    const gather::Images images = gather::images_of(in[0].shape, in[0].layout);
    gather::sample<JitterRule>(in[0], out[0], {RandomValues::stream(s), nDegree / 2, images.height, images.width},
                               {gather::kNearest}, to);
  }
};
PENSTOCK_OPERATOR(Jitter);

}  // namespace penstock
