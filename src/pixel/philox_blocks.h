// SPDX-License-Identifier: Apache-2.0
// Philox blocks of many streams at once, with vector instructions: the same words as RandomStream::block.
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

}  // namespace penstock
