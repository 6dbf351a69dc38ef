// SPDX-License-Identifier: Apache-2.0
// Sums of 3 x 3 elements with any weights, in float32 and in the order of the window, row by row: a thread makes four
// elements of a row from registers, and reads each row of its strip once.
#pragma once
#include "base/half.h"
#include "families/window/kernels/element_columns.h"
#include "pixel/stored.h"

namespace penstock::window {

struct ElementTapsRow {
  ElementRows rows;
  const float* weights;  // null: those in the data
  InData<float> own_weights;
  const void* fill;  // an element outside of a constant border; null: 0
};
static_assert(sizeof(ElementTapsRow) == 72);

constexpr int kTapSize = 3;

// `columns.edge` is 0 where `inner`.
template <class In, class Out, int channels, bool inner, class Columns>
PENSTOCK_KERNEL void sum_columns(const Columns& columns, void* out, const float (&weights)[kTapSize * kTapSize],
                                 float fill) {
  constexpr int kTogether = sizeof(In) < 4 ? 4 : 2;  // rows
  float rows[kTapSize - 1 + kTogether][Columns::kSeen] = {};
  PENSTOCK_UNROLL_BY(1)
  for (int y = columns.begin - kTogether; y < columns.end; y += kTogether) {
    int at[kTogether];
    typename Columns::Read read[kTogether];
    PENSTOCK_UNROLL
    for (int j = 0; j < kTogether; ++j) at[j] = columns.row_at(y + 1 + j);
    PENSTOCK_UNROLL
    for (int j = 0; j < kTogether; ++j) read[j] = columns.template read<inner>(at[j]);
    PENSTOCK_UNROLL
    for (int j = 0; j < kTapSize - 1; ++j) {
      PENSTOCK_UNROLL
      for (int k = 0; k < Columns::kSeen; ++k) rows[j][k] = rows[j + kTogether][k];
    }
    PENSTOCK_UNROLL
    for (int j = 0; j < kTogether; ++j) {
      columns.template convert<inner>(read[j], rows[kTapSize - 1 + j], fill,
                                      [](In v) { return static_cast<float>(v); });
      if (y < columns.begin || y + j >= columns.end) continue;
      Four<Out> sums;
      PENSTOCK_UNROLL
      for (int k = 0; k < kFour; ++k) {
        float sum = 0;
        PENSTOCK_UNROLL
        for (int i = 0; i < kTapSize * kTapSize; ++i)
          sum += weights[i] * rows[j + i / kTapSize][k + i % kTapSize * channels];
        sums.v[k] = stored<Out>(sum);
      }
      columns.store(out, y + j, sums);
    }
  }
}

// Units of work are threads. The window's anchor is in its middle. Rule: bordered() of ImageRule.
template <class In, class Out, int channels, int aligned, class Rule>
PENSTOCK_KERNEL void taps_elements(const Entry<ElementTapsRow>& e) {
  using Columns = ElementColumns<In, channels, kTapSize / 2, aligned != 0, Rule>;
  const float fill = e.row.fill ? static_cast<float>(*static_cast<const In*>(e.row.fill)) : 0.0f;
  const float* const given = e.row.weights ? e.row.weights : e.at(e.row.own_weights);
  float weights[kTapSize * kTapSize];
  PENSTOCK_UNROLL
  for (int i = 0; i < kTapSize * kTapSize; ++i) weights[i] = given[i];
  for (int64_t item = e.begin + thread(); item < e.end; item += threads()) {
    const Columns columns(e.row.rows, static_cast<uint32_t>(item));
    if (columns.edge == 0) sum_columns<In, Out, channels, true>(columns, e.row.rows.out, weights, fill);
    else sum_columns<In, Out, channels, false>(columns, e.row.rows.out, weights, fill);
  }
}

}  // namespace penstock::window
