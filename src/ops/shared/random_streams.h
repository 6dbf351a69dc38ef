// SPDX-License-Identifier: Apache-2.0
// The random streams of the samples of a batch, which usually differ only in the sample.
#pragma once
#include "operator/bound_op.h"
#include "pixel/philox_blocks.h"

namespace penstock {

inline RandomStream stream_of(const SampleContext& s) {
  return random_stream({s.seed ^ s.draws.seed, static_cast<uint32_t>(s.epoch), s.sample, s.draws.node, 0});
}

// A draw as a number in [0, n).
inline int64_t below(uint32_t drawn, int64_t n) {
  return static_cast<int64_t>(uint64_t{drawn} * static_cast<uint64_t>(n) >> 32);
}

// Neighbors with the same key, at most kStreamsTogether: f(number of the first, its stream, std::span of their
// `sample`).
template <class F> void for_streams(std::span<const SampleContext> contexts, F&& f) {
  uint64_t samples[kStreamsTogether];
  for (size_t i = 0; i < contexts.size();) {
    const SampleContext& first = contexts[i];
    size_t n = 0;
    for (; n < kStreamsTogether && i + n < contexts.size(); ++n) {
      const SampleContext& s = contexts[i + n];
      if (s.seed != first.seed || s.epoch != first.epoch || !(s.draws == first.draws)) break;
      samples[n] = s.sample;
    }
    f(i, stream_of(first), std::span<const uint64_t>(samples, n));
    i += n;
  }
}

}  // namespace penstock
