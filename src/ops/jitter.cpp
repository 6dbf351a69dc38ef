// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct JitterRule {
  PENSTOCK_PIXEL(
      struct Coef {
        RandomStream draws;
        uint64_t reach;  // the largest distance
        int64_t height;
        int64_t width;
      };
      // What a float cannot hold of a place is its rest.
      template <class V> PENSTOCK_INLINE static gather::Sum<V> exactly(int64_t place, int64_t n) {
        const int32_t inside = static_cast<int32_t>(clamp<int64_t>(place, 0, n - 1));
        const V value = static_cast<V>(inside);
        return {value, static_cast<V>(inside - static_cast<int64_t>(value))};
      } template <class V>
      PENSTOCK_INLINE static gather::Position<V>
          at(int32_t image, int32_t y, int32_t x, const Coef& c) {
            const uint64_t pixel = (static_cast<uint64_t>(image) * c.height + y) * c.width + x;
            const PhiloxBlock b = c.draws.block(pixel >> 1);
            const uint32_t by_x = (pixel & 1) ? b.word[2] : b.word[0];
            const uint32_t by_y = (pixel & 1) ? b.word[3] : b.word[1];
            const uint64_t n = 2 * c.reach + 1;
            const int64_t least = static_cast<int64_t>(c.reach);
            const gather::Sum<V> px = exactly<V>(x - least + static_cast<int64_t>((by_x * n) >> 32), c.width);
            const gather::Sum<V> py = exactly<V>(y - least + static_cast<int64_t>((by_y * n) >> 32), c.height);
            return {px.value, py.value, px.rest, py.rest};
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
    gather::sample<JitterRule>(
        in[0], out[0], {RandomValues::stream(s), static_cast<uint64_t>(nDegree) / 2, images.height, images.width},
        {gather::kNearest}, to);
  }
};
PENSTOCK_OPERATOR(Jitter);

}  // namespace penstock
