// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct JitterRule {
  PENSTOCK_PIXEL(
      // Where the choices are few, 16 random bits are a pixel's: then two pixels share a number, the lower half first.
      struct Draws {
        RandomStream stream;
        int64_t halves;
      };
      struct Coef {
        Draws draws;
        int32_t reach;  // the largest distance
        int32_t height;
        int32_t width;
      };
      // The place that an output reads on an axis of n pixels.
      PENSTOCK_INLINE static int32_t place(int32_t from, int32_t n, uint32_t choice, const Coef& c) {
        return max(from + min(static_cast<int32_t>(choice) - c.reach, n - 1 - from), 0);
      } struct Share { uint32_t whole, rest; };
      // drawn * choices as its upper and lower 32 bits, for choices below 2^16: without products of 64 bits, which few
      // processors have in vectors.
      PENSTOCK_INLINE static Share share_of(uint32_t drawn, uint32_t choices) {
        const uint32_t upper = (drawn >> 16) * choices;
        const uint32_t lower = (drawn & 0xFFFFu) * choices;
        return {(upper + (lower >> 16)) >> 16, (upper << 16) + lower};
      }
      // One random number has both choices: the fraction that the first leaves gives the second.
      PENSTOCK_INLINE static gather::Pixel drawn_pixel(int32_t y, int32_t x, uint32_t drawn, const Coef& c) {
        const uint32_t choices = 2 * static_cast<uint32_t>(c.reach) + 1;
        const Share by_x = share_of(drawn, choices);
        const Share by_y = share_of(by_x.rest, choices);
        return {place(x, c.width, by_x.whole, c), place(y, c.height, by_y.whole, c)};
      }
      // The number of an output.
      PENSTOCK_INLINE static uint64_t number(int32_t image, int32_t y, int32_t x, const Coef& c) {
        return (static_cast<uint64_t>(image) * c.height + y) * c.width + x;
      } PENSTOCK_INLINE static gather::Pixel pixel(int32_t image, int32_t y, int32_t x, const Coef& c) {
        const uint64_t own = number(image, y, x, c);
        const bool halves = c.draws.halves != 0;
        const uint64_t word = halves ? own >> 1 : own;
        const PhiloxBlock b = c.draws.stream.block(word >> 2);
        const bool odd = (word & 1) != 0;
        const uint32_t first = odd ? b.word[1] : b.word[0];
        const uint32_t second = odd ? b.word[3] : b.word[2];
        const uint32_t all = (word & 2) != 0 ? second : first;
        return drawn_pixel(y, x, halves ? ((own & 1) != 0 ? all & 0xFFFF0000u : all << 16) : all, c);
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

// The numbers of consecutive outputs, as gather::draw_numbers; half a number is its upper half.
inline void draw_numbers(const JitterRule::Draws& from, uint64_t first, int n, gather::DrawnNumbers& to) {
  if (!from.halves) return gather::draw_numbers(from.stream, first, n, to);
  to.skipped = static_cast<int>(first & 1);
  const int count = (to.skipped + n + 1) / 2;
  gather::DrawnNumbers words;
  gather::draw_numbers(from.stream, first >> 1, count, words);
  const uint32_t* const word = words.first();
  for (int i = 0; i < count; ++i) to.all[2 * i] = word[i] << 16, to.all[2 * i + 1] = word[i] & 0xFFFF0000u;
}

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
    // 65536 are shared out among at most 15 x 15 places: no place is more likely than another by more than 0.4 %.
    constexpr int kMostOfHalves = 7;
    const JitterRule::Draws draws{RandomValues::stream(s), nDegree / 2 <= kMostOfHalves};
    gather::sample<JitterRule>(in[0], out[0], {draws, nDegree / 2, images.height, images.width}, {gather::kNearest},
                               to);
  }
};
PENSTOCK_OPERATOR(Jitter);

}  // namespace penstock
