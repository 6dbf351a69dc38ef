// SPDX-License-Identifier: Apache-2.0
// Many Philox blocks at once, with vector instructions: the same words as RandomStream::block.
#pragma once
#include <cstddef>
#include <span>

#include "pixel/philox.h"

namespace penstock {

constexpr size_t kStreamsTogether = 64;

// word[k][i] is word k of stream i.
struct PhiloxColumns {
  uint32_t word[4][kStreamsTogether];
  PhiloxBlock block(size_t i) const { return {{word[0][i], word[1][i], word[2][i], word[3][i]}}; }
};

// Block `b` of streams that share `stream`'s key and differ in their sample: at most kStreamsTogether of them.
void philox_blocks(const RandomStream& stream, std::span<const uint64_t> samples, uint64_t b, PhiloxColumns& out);
// The blocks of one stream that have these numbers: at most kStreamsTogether.
void philox_blocks_at(const RandomStream& stream, std::span<const uint64_t> numbers, PhiloxColumns& out);
// n consecutive ones.
inline void philox_run(const RandomStream& stream, uint64_t first, size_t n, PhiloxColumns& out) {
  uint64_t numbers[kStreamsTogether];
  for (size_t i = 0; i < kStreamsTogether; ++i) numbers[i] = first + i;
  philox_blocks_at(stream, {numbers, n}, out);
}

}  // namespace penstock
