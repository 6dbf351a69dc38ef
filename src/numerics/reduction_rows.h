// SPDX-License-Identifier: Apache-2.0
// Folds of the usual forms, by vectors of each processor target: adjacent elements, pixels of few channels, and rows
// that are added to each other. They give the bytes of the order in reduction.h: exact folds (of integers, and the
// least and greatest) go in any order, others make the same partial sums in registers.
#pragma once
#include "base/target.h"
#include "numerics/reduction.h"

namespace penstock {

constexpr int64_t kMostNeighbors = 4;  // channels of a pixel

// Of elements of one type. Each gives `w` totals of the fold's type (folded_type), each of n elements.
struct RowFolds {
  // n pixels of w <= kMostNeighbors adjacent elements.
  void (*lines)(const void* v, int64_t n, int64_t w, const double* about, void* totals);
  // n rows of at least kLeastColumns elements, `stride` elements apart.
  void (*columns)(const void* v, int64_t n, int64_t stride, int64_t w, const double* about, void* totals);
};
constexpr int64_t kLeastColumns = 16;

// totals[r] for each result of a plan, whose elements count at least 1; false for forms that these folds do not have.
bool fold_rows(Target target, const View& in, const ReductionPlan& plan, Fold fold, const double* about, void* totals);

}  // namespace penstock
