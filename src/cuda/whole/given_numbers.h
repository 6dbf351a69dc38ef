// SPDX-License-Identifier: Apache-2.0
// Numbers that the caller passed for a reduction's results: those on the device are converted to float64 there.
#pragma once
#include "cuda/whole/sums.h"
#include "operator/sample_work.h"

namespace penstock {

inline whole::ArgumentType argument_type(DType t) { return static_cast<whole::ArgumentType>(t); }
static_assert(static_cast<int64_t>(whole::ArgumentType::boolean) == static_cast<int64_t>(DType::bool_));
static_assert(static_cast<int64_t>(whole::ArgumentType::bfloat16) == static_cast<int64_t>(DType::bfloat16));

class GivenNumbers {
 public:
  // As factors: scale / sqrt(v^2 + epsilon), 0 for a deviation of 0 unless that divides.
  struct AsFactor {
    bool wanted = false, zero_divides = false;
    double epsilon = 0, scale = 1;
  };
  ResultNumbers numbers(const SampleNumbers& given, int64_t results, const AsFactor& factor, Launches& to);
  void enqueue(Launches& to);

 private:
  EntryTable<whole::GivenRow> entries_;
};

}  // namespace penstock
