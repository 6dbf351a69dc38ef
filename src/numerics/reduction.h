// SPDX-License-Identifier: Apache-2.0
// Sums over axes in float64 in a fixed order, so that the result does not depend on threads, the target or the device:
// the elements of a result, in row-major order, are cut into chunks of 4,096. In a chunk element j goes to partial sum
// j % 128; chunk c goes to partial sum c % 32 of chunks; partial sums are folded in halves (i takes i + n / 2).
#pragma once
#include <span>
#include <vector>

#include "base/fixed_vector.h"
#include "batch/batch.h"
#include "numerics/folds.h"

namespace penstock {

struct ReductionPlan {
  Shape in;  // extents of the sample
  bool reduced[Shape::kMaxDims] = {};
  int64_t count = 1;  // elements per result
  int64_t results = 1;

  ReductionPlan(const Shape& in, std::span<const int> axes);
  // For each element of the sample, row-major, the strides of its result: 0 on reduced axes.
  Shape result_strides() const;
};

// The loops of a plan over a dense sample, with neighbors of the same kind merged. Result o * width + k starts at
// element offset(o) + k: `width` results are contiguous.
struct ReductionLoops {
  struct Loop {
    int64_t extent, stride;
  };
  FixedVector<Loop, Shape::kMaxDims> kept, summed;  // outermost first
  int64_t width = 1;
  explicit ReductionLoops(const ReductionPlan& plan);
};

// sums[r] = sum of v; 64-bit integers are added in float64 too. `squares_about`: sum of (v - about[r])^2 instead.
// Accumulates into `sums`, which has plan.results entries.
void reduce(const View& in, const ReductionPlan& plan, const double* squares_about, double* sums);

// The type of the results of a fold over elements of this type, before they are finished.
DType folded_type(Fold fold, DType element);
// The same for the folds that need no numbers: results of folded_type, initialized here.
void fold_elements(const View& in, const ReductionPlan& plan, Fold fold, void* results);

struct ReductionRule {
  Statistic statistic = Statistic::mean;
  int ddof = 0;
  View about;  // of variance and std_dev: float32 or float64, one for all results or one for each
};
Fold fold_of(Statistic statistic, DType element);
// The sum of a fold in float64 as the statistic; sums of integers, least and greatest values are only converted.
double finished(Statistic statistic, double sum, int64_t count, int ddof);

}  // namespace penstock
