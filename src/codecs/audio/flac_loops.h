// SPDX-License-Identifier: Apache-2.0
// The loops of FLAC's decoding that are worth a processor's instruction set.
#pragma once
#include <span>

#include "base/target.h"
#include "codecs/audio/flac_bits.h"

namespace penstock {

// A channel of a frame that is predicted from its own samples. The first `order` of them are there; the others hold
// what is to be added to their predictions.
struct FlacPrediction {
  int32_t* samples = nullptr;
  int length = 0, order = 0, shift = 0;
  int32_t coefficients[32] = {};  // of the sample before first; zeros behind `order`
};
constexpr int kMostFlacPredictions = 8;  // at a time

struct FlacLoops {
  // n numbers of Rice codes with k bits behind those in unary. False: one that 32 bits do not hold.
  bool (*take_rice)(FlacBits& bits, int k, uint32_t* to, int n);
  // 0, 1, 2, 3, 4 become 0, -1, 1, -2, 2.
  void (*unfold)(int32_t* numbers, int n);
  // One to kMostFlacPredictions channels. What is added up needs at most 32 bits, or 64; damaged files wrap around.
  void (*predict)(std::span<const FlacPrediction> channels);
  void (*predict_wide)(std::span<const FlacPrediction> channels);
};
const FlacLoops& flac_loops(Target target);

}  // namespace penstock
