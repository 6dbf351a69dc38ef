// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "families/team/team.h"
#include "ops/shared/random_values.h"
#include "pixel/transcendental.h"

namespace penstock {

struct RandomMaskPixel : WholeOperator {
  PerSample<int> foreground = 0, value;
  PerSample<float> threshold = 0.0f;

  static Schema<RandomMaskPixel> schema() {
    using Op = RandomMaskPixel;
    return Schema<Op>("segmentation.random_mask_pixel",
                      "Draws a pixel of a mask; all are equally likely.\n\nOutput: the indices of the pixel, 1-D "
                      "int64. If a mask has no foreground pixel, any pixel is drawn. Layouts: any. Types: all.\n\n"
                      "Example:\n"
                      ">>> mask = np.zeros((48, 64), np.uint8)\n"
                      ">>> mask[10, 20] = 1\n"
                      ">>> fn.segmentation.random_mask_pixel(mask, foreground=True).tolist()\n"
                      "[10, 20]")
        .arg("foreground", &Op::foreground, "Draw only foreground pixels if this is not 0.")
        .arg("threshold", &Op::threshold, "Foreground pixels are greater than this.")
        .arg("value", &Op::value, "Foreground pixels equal this, instead of the threshold.")
        .random()
        .oracle("dali");
  }
  void ready() override {
    if (threshold.given() && value.given()) bad_argument("threshold and value are mutually exclusive");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim == 0) bad_type("a mask must have at least one dimension");
    out[0] = {DType::int64, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {in[0].size()};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t n = in[0].volume();
    if (n == 0) bad_argument("a mask of the shape {} has no pixels", in[0].shape.text());
    Drawing::Coef c{
        RandomValues::stream(s).draw64(0), n, in[0].shape.size(), {}, 0, 0, 0, foreground[s.index] != 0, 0, 0};
    std::copy(in[0].shape.begin(), in[0].shape.end(), c.extents);
    c.exact = value.given();
    c.limit = c.exact ? value[s.index] : static_cast<double>(threshold[s.index]);
    c.narrow = static_cast<float>(c.limit);
    if (c.exact && static_cast<double>(c.narrow) != c.limit) c.narrow = static_cast<float>(kNan);  // equals nothing
    dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (Drawing::kBounded<T>) bound(c, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    });
    run_team<Drawing>({.in = {in[0].data}, .out = {out[0].data}, .type = in[0].dtype}, c, to);
  }

 private:
  struct Drawing {
    PENSTOCK_PIXEL(
        // Compared as they are: conversions to float64 took most of the time.
        template <class In> static constexpr bool kBounded = std::is_integral_v<In> && sizeof(In) <= 4; struct Coef {
          uint64_t bits;
          int64_t n;
          int64_t dims;
          int64_t extents[8];
          double limit;
          float narrow;
          int32_t exact;
          int64_t foreground;
          uint32_t base;  // of a bounded type: v is one if v - base, as a signed number, is at most this
          int32_t most;
        };
        template <class In> PENSTOCK_HD static bool is_foreground(In v, const Coef& c) {
          if constexpr (kBounded<In>) {
            return static_cast<int32_t>(static_cast<uint32_t>(v) - c.base) <= c.most;
          } else if constexpr (std::is_same_v<NumberOf<In>, float>) {
            return c.exact ? static_cast<float>(v) == c.narrow : static_cast<float>(v) > c.narrow;
          } else {
            return c.exact ? static_cast<double>(v) == c.limit : static_cast<double>(v) > c.limit;
          }
        }
        // In pieces whose count fits a small number: such loops become vectors.
        static constexpr int64_t kPiece = 4096;
        static constexpr int kParts = 16;
        template <class In> PENSTOCK_HD static int32_t count_of(const In* mask, int64_t n, const Coef& c) {
          int32_t count = 0;
          for (int64_t i = 0; i < n; ++i) count += is_foreground(mask[i], c);
          return count;
        } PENSTOCK_HD static int64_t piece(int64_t begin, int64_t end, int64_t most) {
          return end - begin < 0 ? 0 : end - begin < most ? end - begin : most;
        } PENSTOCK_HD static void write(int64_t pixel, const Coef& c, int64_t* out) {
          for (int64_t d = c.dims - 1; d >= 0; --d) {
            out[d] = pixel % c.extents[d];
            pixel /= c.extents[d];
          }
        } PENSTOCK_HD static int64_t below(const Coef& c, int64_t n) {
          return static_cast<int64_t>(high_product(c.bits & ~uint64_t{0x7FF}, static_cast<uint64_t>(n)));
        } template <class In> PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team,
                                                          Refusal&) {
          const In* const mask = a.from<In>(0);
          const Share own = team.share(c.foreground ? c.n : 0);
          // The counts before each part: only the part of the drawn pixel is read again.
          const int64_t part = ((own.end - own.begin) / (kParts * kPiece) + 1) * kPiece;
          int64_t before[kParts];
          int64_t count = 0;
          for (int p = 0; p < kParts; ++p) {
            before[p] = count;
            const int64_t begin = own.begin + p * part, end = piece(begin, own.end, part) + begin;
            for (int64_t i = begin; i < end; i += kPiece) count += count_of(mask + i, piece(i, end, kPiece), c);
          }
          int64_t all = 0;
          const int64_t first = team.before(count, all);
          if (all == 0) {
            if (team.index == 0) write(below(c, c.n), c, a.to<int64_t>(0));
            return;
          }
          int64_t left = below(c, all) - first;
          if (left < 0 || left >= count) return;
          int p = kParts - 1;
          while (before[p] > left) --p;
          left -= before[p];
          int64_t i = own.begin + p * part;
          for (;; i += kPiece) {
            const int64_t here = count_of(mask + i, piece(i, own.end, kPiece), c);
            if (left < here) break;
            left -= here;
          }
          while (!is_foreground(mask[i], c) || left-- > 0) ++i;
          write(i, c, a.to<int64_t>(0));
        });
  };
  static void bound(Drawing::Coef& c, double lowest, double highest) {
    const double low = c.exact ? c.limit : std::floor(c.limit) + 1, high = c.exact ? c.limit : highest;
    if (!(low <= highest && high >= lowest)) {  // no pixel can be one
      c.foreground = 0;
      return;
    }
    const auto first = static_cast<int64_t>(std::max(low, lowest));
    c.base = static_cast<uint32_t>(first) + 0x80000000u;  // the first foreground pixel becomes the least number
    c.most = static_cast<int32_t>(static_cast<int64_t>(high) - first + INT32_MIN);
  }
};
PENSTOCK_OPERATOR(RandomMaskPixel);

}  // namespace penstock
