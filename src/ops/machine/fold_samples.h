// SPDX-License-Identifier: Apache-2.0
// fold() of many samples at once (docs/decisions/0016), compiled once per target.
#pragma once
#include <array>
#include <bit>
#include <utility>

#include "ops/machine/bound_op.h"

namespace penstock {

constexpr size_t kFoldedTogether = 64;

// The numbers of Op::Values, and those of its coefficients: a row for each, a column for each sample.
template <class Op> struct FoldRows {
  static constexpr size_t count = sizeof(typename Op::Values) / sizeof(float);
  float row[count][kFoldedTogether];
};
template <class Op, class V> struct FoldedRows {
  static constexpr size_t count = sizeof(typename Op::template Coef<V>) / sizeof(V);
  static_assert(sizeof(typename Op::template Coef<V>) % sizeof(V) == 0);
  V row[count][kFoldedTogether];
};

namespace folds_scalar {
#include "ops/machine/fold_loop.inc.h"
}
#if defined(__x86_64__) && !defined(__CUDACC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2")
namespace folds_avx2 {
#include "ops/machine/fold_loop.inc.h"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi2,prefer-vector-width=512")
namespace folds_avx512 {
#include "ops/machine/fold_loop.inc.h"
}
#pragma GCC pop_options
#else
namespace folds_avx2 = folds_scalar;
namespace folds_avx512 = folds_scalar;
#endif

// Of samples [0, n), n <= kFoldedTogether.
template <class Op, class V>
void fold_samples(const FoldRows<Op>& in, const typename Op::Known& known, size_t n, FoldedRows<Op, V>& out) {
  const auto values = std::make_index_sequence<FoldRows<Op>::count>();
  const auto members = std::make_index_sequence<FoldedRows<Op, V>::count>();
  switch (best_target()) {
    case Target::avx512: return folds_avx512::fold_rows<Op, V>(in, known, n, out, values, members);
    case Target::avx2: return folds_avx2::fold_rows<Op, V>(in, known, n, out, values, members);
    default: return folds_scalar::fold_rows<Op, V>(in, known, n, out, values, members);
  }
}

}  // namespace penstock
