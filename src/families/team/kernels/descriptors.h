// SPDX-License-Identifier: Apache-2.0
// Teams that compare rows of numbers, which describe points of images.
#pragma once
#include "families/team/kernels/team.h"

namespace penstock {

enum DescriptorNorm : int32_t { kNormL1, kNormL2, kNormHamming };
constexpr int kRowsTogether = 4;  // of the source, which are compared with a row of the target at once

struct MatchCoef {
  int64_t sources, targets;  // rows
  int64_t numbers;           // of a row
  int64_t count;             // matches of a source
  int32_t norm;
  int32_t bytes;  // numbers are uint8, else float32
};

// Sums of at most 2^15 bytes, or of their squares, fit 32 bits.
constexpr int64_t kMostDescriptorNumbers = 32768;

// A distance as an integer that rises with it. What is not a number counts as infinite.
PENSTOCK_HD inline int32_t distance_bits(float sum, int32_t norm) {
  const float distance = norm == kNormL2 ? sqrt(sum) : sum;
  return std::bit_cast<int32_t>(distance == distance ? distance : std::bit_cast<float>(0x7F800000));
}
PENSTOCK_HD inline int32_t differing_bits(uint32_t a, uint32_t b) {
  uint32_t v = a ^ b;
  v = v - (v >> 1 & 0x55555555u);
  v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
  v = (v + (v >> 4)) & 0x0F0F0F0Fu;
  return static_cast<int32_t>(v * 0x01010101u >> 24);
}

// Distances of kRowsTogether rows from one. Sums of float32 have the order of the numbers.
PENSTOCK_HD inline void byte_distances(const uint8_t* const* rows, const uint8_t* to, const MatchCoef& c,
                                       int32_t* bits) {
  int32_t sum[kRowsTogether] = {};
  for (int64_t d = 0; d < c.numbers; ++d) {
    const int32_t other = to[d];
    for (int r = 0; r < kRowsTogether; ++r) {
      const int32_t apart = rows[r][d] - other;
      sum[r] += c.norm == kNormHamming ? differing_bits(rows[r][d], to[d])
                : c.norm == kNormL2    ? apart * apart
                : apart < 0            ? -apart
                                       : apart;
    }
  }
  for (int r = 0; r < kRowsTogether; ++r) bits[r] = distance_bits(static_cast<float>(sum[r]), c.norm);
}
PENSTOCK_HD inline void float_distances(const float* const* rows, const float* to, const MatchCoef& c, int32_t* bits) {
  float sum[kRowsTogether] = {};
  for (int64_t d = 0; d < c.numbers; ++d) {
    const float other = to[d];
    for (int r = 0; r < kRowsTogether; ++r) {
      const float apart = rows[r][d] - other;
      sum[r] += c.norm == kNormL2 ? apart * apart : abs(apart);
    }
  }
  for (int r = 0; r < kRowsTogether; ++r) bits[r] = distance_bits(sum[r], c.norm);
}

}  // namespace penstock
