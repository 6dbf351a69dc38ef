// SPDX-License-Identifier: Apache-2.0
#include "numerics/reduction_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/intrinsics.h"

namespace penstock {
namespace {

// A power of two, enough for these partial sums: the others are 0.
int64_t partial_sums(int64_t used, int most) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(used, 1, most))));
}

// Sums of 32 bits in float64 are exact for fewer elements.
constexpr int64_t kExactInts = int64_t{1} << 21;

#define PENSTOCK_LOOPS rows
#define PENSTOCK_LOOPS_TEXT "numerics/reduction_rows.inc.h"
#include "base/foreach_target.h"

// Null where the type has no vectors here. Squares of integers other than bytes are rare.
const RowFolds* row_folds(Target target, DType dtype, Fold fold) {
  return dispatch(dtype, [&]<class Element>(TypeTag<Element>) -> const RowFolds* {
    using T = std::conditional_t<std::is_same_v<Element, bool>, uint8_t, Element>;
    if constexpr (std::is_same_v<T, Half> || (std::is_integral_v<T> && sizeof(T) == 8)) {
      return nullptr;
    } else {
      switch (fold) {
        case Fold::numbers: return &PENSTOCK_FOR_TARGET(target, rows, kFolds<T, Fold::numbers>);
        case Fold::squares:
          if constexpr (std::is_integral_v<T> && !std::is_same_v<T, uint8_t>) return nullptr;
          else return &PENSTOCK_FOR_TARGET(target, rows, kFolds<T, Fold::squares>);
        case Fold::least: return &PENSTOCK_FOR_TARGET(target, rows, kFolds<T, Fold::least>);
        case Fold::greatest: return &PENSTOCK_FOR_TARGET(target, rows, kFolds<T, Fold::greatest>);
        case Fold::integers:
          if constexpr (std::is_integral_v<T>) return &PENSTOCK_FOR_TARGET(target, rows, kFolds<T, Fold::integers>);
          else return nullptr;
      }
    }
    return nullptr;
  });
}

}  // namespace

bool fold_rows(Target target, const View& in, const ReductionPlan& plan, Fold fold, const double* about, void* totals) {
  const ReductionLoops loops(plan);
  const auto& kept = loops.kept;
  const int64_t width = loops.width;
  if (loops.summed.size() != 1 || (width == 1 && plan.count <= 4)) return false;
  const int64_t stride = loops.summed[0].stride;
  const bool lines = width <= kMostNeighbors && stride == width;
  if (!lines && width < kLeastColumns) return false;
  if (!lines && size_of(in.dtype) == 4 && !is_float(in.dtype) && fold == Fold::numbers && plan.count >= kExactInts)
    return false;
  const RowFolds* folds = row_folds(target, in.dtype, fold);
  if (!folds) return false;
  const auto size = static_cast<int64_t>(size_of(in.dtype)),
             total = static_cast<int64_t>(size_of(folded_type(fold, in.dtype)));
  for (int64_t o = 0; o < plan.results / width; ++o) {
    int64_t begin = 0, rest = o;
    for (int k = kept.size() - 1; k >= 0; rest /= kept[k--].extent) begin += rest % kept[k].extent * kept[k].stride;
    const std::byte* const from = in.as<const std::byte>() + begin * size;
    std::byte* const to = static_cast<std::byte*>(totals) + o * width * total;
    const double* const near = about ? about + o * width : nullptr;
    if (lines) folds->lines(from, plan.count, width, near, to);
    else folds->columns(from, plan.count, stride, width, near, to);
  }
  return true;
}

}  // namespace penstock
