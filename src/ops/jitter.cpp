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
      // The place that an output reads on an axis of n pixels, by a random number: drawn * choices / 2^32, whose
      // parts fit 32 bits because there are less than 2^16 choices.
      PENSTOCK_INLINE static int32_t place(int32_t from, int32_t n, uint32_t drawn, const Coef& c) {
        const uint32_t choices = 2 * static_cast<uint32_t>(c.reach) + 1;
        const uint32_t high = (drawn >> 16) * choices;
        const uint32_t low = (drawn & 0xFFFFu) * choices;
        const int32_t by = static_cast<int32_t>((high + (low >> 16)) >> 16) - c.reach;
        return max(from + min(by, n - 1 - from), 0);
      } PENSTOCK_INLINE static int32_t drawn_x(int32_t x, uint32_t drawn, const Coef& c) {
        return place(x, c.width, drawn, c);
      } PENSTOCK_INLINE static int32_t drawn_y(int32_t y, uint32_t drawn, const Coef& c) {
        return place(y, c.height, drawn, c);
      }
      // What a float cannot hold of a place is its rest.
      template <class V> PENSTOCK_INLINE static gather::Sum<V>
          parted(int32_t place) { return {static_cast<V>(place & ~255), static_cast<V>(place & 255)}; }
      // The number of an output: a block of random numbers serves two of them.
      PENSTOCK_INLINE static uint64_t number(int32_t image, int32_t y, int32_t x, const Coef& c) {
        return (static_cast<uint64_t>(image) * c.height + y) * c.width + x;
      } template <class V> PENSTOCK_INLINE static gather::Position<V>
          drawn_at(int32_t y, int32_t x, uint32_t by_x, uint32_t by_y, const Coef& c) {
            const gather::Sum<V> px = parted<V>(drawn_x(x, by_x, c));
            const gather::Sum<V> py = parted<V>(drawn_y(y, by_y, c));
            return {px.value, py.value, px.rest, py.rest};
          } template <class V>
          PENSTOCK_INLINE static gather::Position<V>
              at(int32_t image, int32_t y, int32_t x, const Coef& c) {
                const uint64_t pixel = number(image, y, x, c);
                const PhiloxBlock b = c.draws.block(pixel >> 1);
                const bool second = (pixel & 1) != 0;
                return drawn_at<V>(y, x, second ? b.word[2] : b.word[0], second ? b.word[3] : b.word[1], c);
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
