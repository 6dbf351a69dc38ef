// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011). A draw is a pure function of its key: threads, ranks, device and order of work do not matter.
//
// From a RandomKey to a draw:
//   1. stream key:  k = philox(counter = (epoch, node, loop, purpose), key = seed), words 0 and 1.
// Equal for all samples of a batch: the host computes it once and passes it to the kernel.
//   2. draws 4b to 4b+3 of a sample:  philox(counter = (sample low, sample high, b low, b high), key = k).
// Step 2 is one-to-one in (sample, b): two draws of a stream never share a block. Two different (epoch, node, loop,
// purpose) share a stream key with probability 2^-64.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"

namespace penstock {

struct PhiloxBlock {
  uint32_t word[4];
};

struct Philox {
  PENSTOCK_HD static constexpr PhiloxBlock generate(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * counter.word[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * counter.word[2];
      counter = {{static_cast<uint32_t>(p1 >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(p1),
                  static_cast<uint32_t>(p0 >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(p0)}};
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    return counter;
  }
};

// A float32 in [0, 1): the upper 24 bits, so every value is exact and 1 is never reached.
PENSTOCK_HD constexpr float uniform01(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

// A float64 in [0, 1) with 53 random bits.
PENSTOCK_HD constexpr double uniform01_wide(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// The purpose of a stream. Streams of different purposes never share numbers, even if the other fields are equal.
enum class RandomPurpose : uint32_t { augmentation = 0, order = 1, replacement = 2 };

struct RandomKey {
  uint64_t seed = 0;
  uint32_t epoch = 0;
  uint64_t sample = 0;  // the sample's position in the global order of its epoch
  uint32_t node = 0;    // the operator's id in the graph
  uint32_t loop = 0;    // trip count of the enclosing loops, folded to 32 bits; 0 outside a loop
};

struct RandomStream {
  uint32_t key0 = 0, key1 = 0;
  uint64_t sample = 0;

  PENSTOCK_HD constexpr PhiloxBlock block(uint64_t b) const {
    return Philox::generate({{static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32),
                              static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32)}},
                            key0, key1);
  }
  PENSTOCK_HD constexpr uint32_t draw(uint64_t i) const { return block(i >> 2).word[i & 3]; }
  // Draws 2i and 2i + 1 as one 64-bit number.
  PENSTOCK_HD constexpr uint64_t draw64(uint64_t i) const {
    const PhiloxBlock b = block(i >> 1);
    const int low = static_cast<int>(i & 1) * 2;
    return b.word[low] | uint64_t{b.word[low + 1]} << 32;
  }
  PENSTOCK_HD constexpr float uniform(uint64_t i) const { return uniform01(draw(i)); }
};

PENSTOCK_HD constexpr RandomStream random_stream(const RandomKey& key,
                                                 RandomPurpose purpose = RandomPurpose::augmentation) {
  const PhiloxBlock k = Philox::generate({{key.epoch, key.node, key.loop, static_cast<uint32_t>(purpose)}},
                                         static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32));
  return {k.word[0], k.word[1], key.sample};
}

}  // namespace penstock
