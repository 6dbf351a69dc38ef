// SPDX-License-Identifier: Apache-2.0
// fold() for many samples at once (docs/decisions/0016), compiled once per target.
#pragma once
#include <array>
#include <bit>
#include <utility>

#include "base/target.h"
#include "operator/bound_op.h"

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

#define PENSTOCK_LOOPS folds
#define PENSTOCK_LOOPS_TEXT "operator/fold_loop.inc.h"
#include "base/foreach_target.h"

// For samples [0, n), n <= kFoldedTogether.
template <class Op, class V>
void fold_samples(const FoldRows<Op>& in, const typename Op::Known& known, size_t n, FoldedRows<Op, V>& out) {
  const auto values = std::make_index_sequence<FoldRows<Op>::count>();
  const auto members = std::make_index_sequence<FoldedRows<Op, V>::count>();
  const Target t = best_target();
  PENSTOCK_FOR_TARGET(t, folds, fold_rows<Op, V>(in, known, n, out, values, members));
}

}  // namespace penstock
