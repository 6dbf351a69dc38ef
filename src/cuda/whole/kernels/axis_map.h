// SPDX-License-Identifier: Apache-2.0
// Numbers along an axis that become others: each thread makes one of them.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "cuda/whole/kernels/entry.h"
#include "pixel/stored.h"

namespace penstock::whole {

struct AxisRow {
  const void* in;
  void* out;
  int64_t n, m;  // extents of the axis before and after
  int64_t inner;
  InData<char> coef;
};
static_assert(sizeof(AxisRow) == 48);

// What an operator's rule reads: in[k] is a double.
template <class In> struct AxisNumbers {
  const In* first;
  int64_t stride;
  PENSTOCK_HD double operator[](int64_t k) const {
    if constexpr (std::is_same_v<In, Half>) return static_cast<double>(static_cast<float>(first[k * stride]));
    else return static_cast<double>(first[k * stride]);
  }
};

// Units of work are elements of the output. Rule: Coef, and number(in, j, coef): number j.
template <class In, class Out, class Rule> PENSTOCK_KERNEL void map_axis(const Entry<AxisRow>& e) {
  const In* in = static_cast<const In*>(e.row.in);
  Out* out = static_cast<Out*>(e.row.out);
  const int64_t n = e.row.n, m = e.row.m, inner = e.row.inner;
  const auto& coef = *reinterpret_cast<const typename Rule::Coef*>(e.at(e.row.coef));
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const int64_t x = i % inner, j = i / inner % m, o = i / inner / m;
    const AxisNumbers<In> numbers{in + o * n * inner + x, inner};
    out[i] = stored<Out>(static_cast<double>(Rule::number(numbers, j, coef)));
  }
}

}  // namespace penstock::whole
