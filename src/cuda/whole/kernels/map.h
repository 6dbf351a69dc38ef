// SPDX-License-Identifier: Apache-2.0
// Results that are each a function of the input, and largest elements that such functions read.
#pragma once
#include <bit>
#include <cstdint>

#include "cuda/whole/kernels/entry.h"

namespace penstock::whole {

struct MapRow {
  const void* in;
  void* out;
  InData<char> coef, table;
};
static_assert(sizeof(MapRow) == 32);

// Units of work are elements of the output. Rule: Coef, and value<Out>(in, i, coef, table): element i.
template <class In, class Out, class Rule> PENSTOCK_KERNEL void map(const Entry<MapRow>& e) {
  const In* in = static_cast<const In*>(e.row.in);
  Out* out = static_cast<Out*>(e.row.out);
  const auto& coef = *reinterpret_cast<const typename Rule::Coef*>(e.at(e.row.coef));
  for (int64_t i = e.begin + thread(); i < e.end; i += threads())
    out[i] = Rule::template value<Out>(in, i, coef, e.at(e.row.table));
}

struct MaximumRow {
  const float* in;
  float* out;
  int64_t elements;
};
static_assert(sizeof(MaximumRow) == 24);

// A block for each row; shared memory: kThreads floats.
PENSTOCK_KERNEL void maximum(const Entry<MaximumRow>& e) {
  const float* in = e.row.in;
  const int64_t n = e.row.elements;
  float* part = shared_memory<float>();
  for (int item = thread(); item < kThreads; item += threads()) {
    float top = std::bit_cast<float>(0xff800000u);
    for (int64_t i = item; i < n; i += kThreads) top = in[i] > top ? in[i] : top;
    part[item] = top;
  }
  fold_in_halves(part, [](float& a, float b) { a = b > a ? b : a; });
  if (thread() == 0) *e.row.out = part[0];
}

}  // namespace penstock::whole
