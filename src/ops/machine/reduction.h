// SPDX-License-Identifier: Apache-2.0
// Sums over axes whose order of summation is fixed: element j of the ones that are summed (row-major) goes to partial
// sum j % 16, and the partial sums are added pairwise. So the result depends neither on threads nor on the target.
#pragma once
#include <span>
#include <vector>

#include "batch/batch.h"

namespace penstock {

struct ReductionPlan {
  Shape in;                          // extents of the sample
  bool reduced[Shape::kMaxDims] = {};
  int64_t count = 1;                 // elements per result
  int64_t results = 1;

  ReductionPlan(const Shape& in, std::span<const int> axes);
  // For each element of the sample, row-major, the strides of its result: 0 on reduced axes.
  Shape result_strides() const;
};

constexpr int kPartialSums = 16;

// sums[r] = sum of v; 64-bit integers are added in float64 too. `squares_about`: sum of (v - about[r])^2 instead.
// Accumulates into `sums`, which has plan.results entries.
void reduce(const View& in, const ReductionPlan& plan, const double* squares_about, double* sums);

}  // namespace penstock
