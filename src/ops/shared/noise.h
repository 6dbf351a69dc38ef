// SPDX-License-Identifier: Apache-2.0
// Shared by the operators that add noise.
#pragma once
#include "families/field/field.h"
#include "operator/operator.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct NoiseOperator : WholeOperator {
  static constexpr const char* kAbout =
      "\n\nThe random numbers come from Philox4x32-10, keyed on the seed, the epoch, the sample and, unless the "
      "operator has a seed of its own, the operator: the same on any number of threads and any device. Layouts: any; "
      "the output keeps it. Types: all; the output keeps the type; "
      "rounded and saturated. Sums of 32-bit and 64-bit integers and of float64 are in float64, others in float32.";
  static constexpr const char* kNormal =
      " Normal numbers come from the Box-Muller transform of 32 random bits, so none is further than 6.76 deviations "
      "from the mean.";

  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
};

}  // namespace penstock
