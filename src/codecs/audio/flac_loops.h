// SPDX-License-Identifier: Apache-2.0
// The loops of the FLAC decoder that profit from newer instruction sets.
#pragma once
#include <span>

#include "base/target.h"
#include "codecs/audio/flac_bits.h"

namespace penstock {

// A channel of a frame, predicted from its own samples. The first `order` samples are final; the others hold the
// residual, which is added to their predictions.
struct FlacPrediction {
  int32_t* samples = nullptr;
  int length = 0, order = 0, shift = 0;
  int32_t coefficients[32] = {};  // the one of the most recent sample first; zeros after `order`
};
constexpr int kMostFlacPredictions = 8;  // in one call

struct FlacLoops {
  // Takes n Rice codes: a unary part, then k bits. False: a number does not fit in 32 bits.
  bool (*take_rice)(FlacBits& bits, int k, uint32_t* to, int n);
  // 0, 1, 2, 3, 4 become 0, -1, 1, -2, 2.
  void (*unfold)(int32_t* numbers, int n);
  // One to kMostFlacPredictions channels. Their sums need at most 32 bits, or 64; with damaged files they wrap around.
  void (*predict)(std::span<const FlacPrediction> channels);
  void (*predict_wide)(std::span<const FlacPrediction> channels);
};
const FlacLoops& flac_loops(Target target);

}  // namespace penstock
