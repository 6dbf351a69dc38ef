// SPDX-License-Identifier: Apache-2.0
// cv2.resize's INTER_AREA of images that shrink, as OpenCV's own code computes it: in float32, sums along a row and
// then of rows; of whole pixels of bytes sums of integers.
#pragma once
#include "operator/image_work.h"
#include "pixel/filter.h"

namespace penstock {

struct OpencvAreaRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        Extents in;
        int64_t columns;  // entries of the table for columns
        int64_t whole;    // elements of a mean of whole pixels; 0: parts of pixels count
        int64_t halves_up;
        float unit;  // 1 / whole
        int32_t unused;
      };
      // What a value of the input's type is in the result's.
      template <class Out, class In> PENSTOCK_HD static Out converted(In v) {
        if constexpr (std::is_same_v<Out, In>) return v;
        else return stored<Out>(static_cast<NumberOf<In>>(v));
      } struct Entry {
        int32_t from;  // the sample
        float weight;
      };
      // The entries of column or row i are [begin[i], begin[i + 1]).
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char* table) {
        const int32_t* const begin_x = reinterpret_cast<const int32_t*>(table);
        const int32_t* const begin_y = begin_x + c.out.width + 1;
        const Entry* const columns = reinterpret_cast<const Entry*>(begin_y + c.out.height + 1);
        const Entry* const rows = columns + c.columns;
        const int32_t first = begin_x[p.x];
        const int32_t last = begin_x[p.x + 1];
        NumberOf<In> sum = 0;
        int64_t whole = 0;
        for (int32_t j = begin_y[p.y]; j < begin_y[p.y + 1]; ++j) {
          const In* const row = in + offset_of(c.in, p.outer, 0, rows[j].from, 0, p.inner);
          NumberOf<In> part = 0;
          for (int32_t k = first; k < last; ++k) {
            if constexpr (std::is_same_v<In, uint8_t>) whole += row[columns[k].from * c.in.inner];
            part += static_cast<NumberOf<In>>(row[columns[k].from * c.in.inner]) * columns[k].weight;
          }
          sum += part * rows[j].weight;
        }
        if constexpr (std::is_same_v<In, uint8_t>) {
          if (c.halves_up) return converted<Out>(static_cast<In>((whole + 2) >> 2));
          if (c.whole) return converted<Out>(stored<In>(static_cast<float>(whole) * c.unit));
        }
        return converted<Out>(stored<In>(sum));
      });
};

// `x` and `y` say which part of the input becomes how many columns and rows; none grows.
void area_as_opencv(const View& in, const View& out, const AxisWindow& x, const AxisWindow& y, SampleWork& to);

}  // namespace penstock
