// SPDX-License-Identifier: Apache-2.0
// cv2.resize as OpenCV's own code computes it (modules/imgproc/src/resize.cpp; not IPP, which has other sums):
// positions and weights in float32; sums along a row, then along a column. Bytes have weights of 11 bits and sums of
// integers. Vectors of 128 bits add the rows of some sums from the last one to the first, what remains of a row from
// the first one to the last; cubic sums of bytes are float32 in vectors.
#pragma once
#include "operator/image_work.h"
#include "pixel/filter.h"

namespace penstock {

struct OpencvResizeRule : ImageRule {
  PENSTOCK_TEXT(
      base_text,
      // What a value of the input's type is in the result's.
      template <class Out, class In> PENSTOCK_HD static Out converted(In v) {
        if constexpr (std::is_same_v<Out, In>) return v;
        else return stored<Out>(static_cast<NumberOf<In>>(v));
      } template <class In, bool bytes = std::is_same_v<In, uint8_t>> struct SumFor { using type = NumberOf<In>; };
      template <class In> struct SumFor<In, true> { using type = int32_t; };
      template <class In> using SumOf = typename SumFor<In>::type;
      // The sum of `taps` elements, `step` apart, where all are inside.
      template <int taps, class In, class W> PENSTOCK_HD static SumOf<In> across(const In* in, int64_t step,
                                                                                 const W* w) {
        SumOf<In> sum = static_cast<SumOf<In>>(in[0]) * static_cast<SumOf<In>>(w[0]);
        for (int k = 1; k < taps; ++k) sum += static_cast<SumOf<In>>(in[k * step]) * static_cast<SumOf<In>>(w[k]);
        return sum;
      } template <int taps, class In, class W>
      PENSTOCK_HD static SumOf<In>
          across_edge(const In* row, int64_t first, int64_t width, int64_t step, const W* w) {
            SumOf<In> sum = 0;
            for (int k = 0; k < taps; ++k)
              sum += static_cast<SumOf<In>>(row[clamp<int64_t>(first + k, 0, width - 1) * step]) *
                     static_cast<SumOf<In>>(w[k]);
            return sum;
          }
      // The element of sums of its rows. `vector`: as vectors add them.
      template <class Out, int taps, class Sum>
      PENSTOCK_HD static Out down(const Sum* rows, const float* w, bool vector) {
        if constexpr (std::is_same_v<Sum, int32_t>) {
          if (taps == 2) {
            const int32_t a = (static_cast<int32_t>(w[0]) * (rows[0] >> 4)) >> 16;
            const int32_t b = (static_cast<int32_t>(w[1]) * (rows[1] >> 4)) >> 16;
            return static_cast<Out>((a + b + 2) >> 2);
          }
          if (vector) {
            float sum = static_cast<float>(rows[taps - 1]) * (w[taps - 1] * 0x1p-22f);
            for (int k = taps - 2; k >= 0; --k) sum = static_cast<float>(rows[k]) * (w[k] * 0x1p-22f) + sum;
            return stored<Out>(sum);
          }
          uint32_t sum = 1u << 21;  // it may wrap, as OpenCV's
          for (int k = 0; k < taps; ++k)
            sum += static_cast<uint32_t>(rows[k]) * static_cast<uint32_t>(static_cast<int32_t>(w[k]));
          return static_cast<Out>(clamp<int32_t>(static_cast<int32_t>(sum) >> 22, 0, 255));
        } else {
          Sum sum = vector ? rows[taps - 1] * w[taps - 1] : rows[0] * w[0];
          for (int k = 1; k < taps; ++k) {
            const int j = vector ? taps - 1 - k : k;
            sum = rows[j] * w[j] + sum;
          }
          return stored<Out>(sum);
        }
      });
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        Extents in;
        int64_t taps;
        int64_t vectors;  // so many elements of a row are in vectors
      };
      template <int taps, class In>
      PENSTOCK_HD static In sized(const In* in, const Place& p, const Coef& c, const char* table) {
        const int32_t* const first = reinterpret_cast<const int32_t*>(table);
        const float* const w = reinterpret_cast<const float*>(first + c.out.width + c.out.height);
        SumOf<In> rows[taps];
        for (int k = 0; k < taps; ++k) {
          const int64_t y = clamp<int64_t>(first[c.out.width + p.y] + k, 0, c.in.height - 1);
          rows[k] = across_edge<taps>(in + offset_of(c.in, p.outer, 0, y, 0, p.inner), first[p.x], c.in.width,
                                      c.in.inner, w + p.x * taps);
        }
        return down<In, taps>(rows, w + (c.out.width + p.y) * taps, p.x * c.out.inner + p.inner < c.vectors);
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char* table) {
        if (c.taps == 2) return converted<Out>(sized<2>(in, p, c, table));
        if (c.taps == 4) return converted<Out>(sized<4>(in, p, c, table));
        return converted<Out>(sized<8>(in, p, c, table));
      });
};

// cv2.INTER_LINEAR_EXACT: positions in float64, weights that are multiples of 2^-bits, sums of integers, which are
// rounded up from a half.
struct OpencvExactRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        Extents in;
        int64_t bits;
      };
      // `first` and `second` of a sum, whose weights are `one` together.
      template <class Number> PENSTOCK_HD static Number between(Number first, Number second, Number weight,
                                                                Number one) {
        return first * (one - weight) + second * weight;
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char* table) {
        const int32_t* const first = reinterpret_cast<const int32_t*>(table);
        const float* const w = reinterpret_cast<const float*>(first + c.out.width + c.out.height);
        const int64_t one = int64_t{1} << c.bits;
        int64_t rows[2];
        for (int k = 0; k < 2; ++k) {
          const int64_t y = clamp<int64_t>(first[c.out.width + p.y] + k, 0, c.in.height - 1);
          int64_t pair[2];
          for (int j = 0; j < 2; ++j) {
            const int64_t x = clamp<int64_t>(first[p.x] + j, 0, c.in.width - 1);
            pair[j] = static_cast<int64_t>(in[offset_of(c.in, p.outer, 0, y, x, p.inner)]);
          }
          rows[k] = between<int64_t>(pair[0], pair[1], static_cast<int64_t>(w[p.x * 2 + 1]), one);
        }
        const int64_t sum =
            between<int64_t>(rows[0], rows[1], static_cast<int64_t>(w[(c.out.width + p.y) * 2 + 1]), one);
        return stored<Out>(static_cast<NumberOf<In>>((sum + (int64_t{1} << (2 * c.bits - 1))) >> (2 * c.bits)));
      });
};

// On the host: make(result) makes a result of the input's type; that of `out` may be another one.
void make_in_own_type(const View& in, const View& out, const std::function<void(const View&)>& make);

// One of linear, cubic_75, lanczos4, and area_linear, an area where an axis grows: `x` and `y` say which part of the
// input becomes how many columns and rows.
void resize_as_opencv(const View& in, const View& out, FilterKind kind, const AxisWindow& x, const AxisWindow& y,
                      SampleWork& to);
// The same with the values of cv2.INTER_LINEAR_EXACT, of integers of 8 and 16 bits.
void resize_exactly_as_opencv(const View& in, const View& out, const AxisWindow& x, const AxisWindow& y,
                              SampleWork& to);

}  // namespace penstock
