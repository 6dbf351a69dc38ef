// SPDX-License-Identifier: Apache-2.0
// What sums over axes are, for both devices: the order that numerics/reduction.h describes, in numbers.
#pragma once
#include <cstdint>

namespace penstock {

constexpr int kReductionChunk = 4096, kPartialSums = 128, kPartialChunks = 32;

// How elements are folded.
enum class Fold : uint8_t {
  numbers,   // added in float64
  squares,   // of differences from given numbers, added in float64
  integers,  // added modulo 2^64
  least,     // NaN is ignored; infinity, or the largest integer, for no elements
  greatest
};

// How the axes of an element are treated in one result.
enum class Statistic : uint8_t { sum, mean, mean_square, rms, variance, std_dev, min, max };

}  // namespace penstock
