// SPDX-License-Identifier: Apache-2.0
// What the operators that add noise share.
#pragma once
#include "ops/machine/image_work.h"
#include "ops/machine/random_values.h"

namespace penstock {

struct NoiseOperator {
  static constexpr const char* kAbout =
      "\n\nThe numbers are Philox4x32-10 keyed on seed, epoch, sample and, without a seed of its own, operator: the "
      "same on any number of threads and any device. Layouts: any, kept. Types: all, kept; computed in float64, "
      "rounded and saturated.";

  void infer(std::span<const ValueType> in, std::span<ValueType> out) const { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = in[0];
  }
  // Elements in their order, each with a number of its own.
  static ImageRule::Extents elements(const View& v) { return {1, 1, 1, 1, v.volume()}; }
};

}  // namespace penstock
