// SPDX-License-Identifier: Apache-2.0
// Sums and other folds in the order of numerics/reduction.h: a warp folds a chunk, then a warp folds the chunks of a
// result.
#pragma once
#include "cuda/whole/kernels/arguments.h"
#include "cuda/whole/launches.h"
#include "numerics/reduction.h"

namespace penstock {

// Numbers on the device, or numbers on the host that are sent along; one for all results if `step` is 0.
struct ResultNumbers {
  const double* there = nullptr;
  std::vector<double> here;
  int64_t step = 1;
  whole::NumbersRow row(EntryData& data) const { return {there, data.add(here.data(), here.size()), step}; }
};

struct SumInput {
  View in;
  const ReductionPlan* plan = nullptr;
  const ResultNumbers* about = nullptr;  // squares of differences from these
};
// What a sum becomes: the element of a reduction, or a number of normalize's.
enum class SumUse { statistic, mean, factor };
struct SumOutput {
  void* out = nullptr;  // dense: elements of the result's type, or float64
  int64_t count = 0;    // elements of the sum
  int64_t ddof = 0;
  double epsilon = 0, scale = 1;
};

// outputs[i] belongs to inputs[i], or outputs[0] to all of them together, added in order. All inputs have the same
// type. `statistic` is that of SumUse::statistic.
void enqueue_sums(std::span<const SumInput> inputs, std::span<const SumOutput> outputs, SumUse use, DType out_type,
                  Launches& to, Statistic statistic = Statistic::mean);

}  // namespace penstock
