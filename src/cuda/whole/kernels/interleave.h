// SPDX-License-Identifier: Apache-2.0
// Copies of several sources whose short runs alternate in the target, such as channels that are joined: a block makes a
// dense part of the target in shared memory.
#pragma once
#include <cstdint>

#include "launch/entry.h"
#include "launch/global_memory.h"

namespace penstock::whole {

constexpr int kMostSources = 8;
constexpr int kInterleavedBytes = 16 * 1024;  // that a block has at most

struct InterleaveRow {
  void* to;
  int64_t count;  // runs of each source
  int32_t pitch;  // bytes of a run of all
  int32_t tile;   // runs that a block takes: a multiple of 16
  int64_t sources;
  struct Source {
    const void* from;
    int32_t bytes, at;    // of a run, and where it begins in those of all
    uint32_t reciprocal;  // 2^32 / bytes, rounded up
    uint32_t unused;
  } source[kMostSources];
};
static_assert(sizeof(InterleaveRow) == 32 + 24 * kMostSources);

// Spreads `count` bytes of a source over the part.
PENSTOCK_KERNEL void spread_runs(uint8_t* part, const uint8_t* from, const InterleaveRow::Source& s, int pitch,
                                 int count) {
  const int bytes = s.bytes, skip = pitch - bytes;
  const uint32_t reciprocal = s.reciprocal;
  uint8_t* const to = part + s.at;
  const auto run_of = [&](int i) {
    return bytes == 1 ? i : static_cast<int>(static_cast<uint64_t>(i) * reciprocal >> 32);
  };
  const int words = reinterpret_cast<uint64_t>(from) % 4 == 0 ? count / 4 : 0;
  constexpr int kTogether = 4;  // words are on their way at once
  PENSTOCK_UNROLL_BY(1)
  for (int k = thread(); k < words; k += kTogether * threads()) {
    uint32_t read[kTogether] = {};
    PENSTOCK_UNROLL
    for (int n = 0; n < kTogether; ++n)
      if (const int place = k + n * static_cast<int>(threads()); place < words)
        read[n] = reinterpret_cast<const uint32_t*>(from)[place];
    PENSTOCK_UNROLL
    for (int n = 0; n < kTogether; ++n) {
      const int place = k + n * static_cast<int>(threads());
      if (place >= words) continue;
      const int run = run_of(4 * place);
      int at = 4 * place + run * skip, left = (run + 1) * bytes - 4 * place;  // bytes of this run
      PENSTOCK_UNROLL
      for (int b = 0; b < 4; ++b) {
        to[at++] = static_cast<uint8_t>(read[n] >> 8 * b);
        if (--left == 0) at += skip, left = bytes;
      }
    }
  }
  for (int k = 4 * words + thread(); k < count; k += threads()) to[k + run_of(k) * skip] = from[k];
}

// Units of work are parts of so many runs.
PENSTOCK_KERNEL void interleave(const Entry<InterleaveRow>& e) {
  struct alignas(16) Vector {
    uint32_t word[4];
  };
  const InterleaveRow& r = e.row;
  const int pitch = r.pitch;
  uint8_t* const part = shared_memory<uint8_t>();
  for (int64_t i = e.begin; i < e.end; ++i) {
    const int64_t first = i * r.tile;
    const int runs = static_cast<int>(r.count - first < r.tile ? r.count - first : r.tile);
    PENSTOCK_UNROLL_BY(1)
    for (int k = 0; k < r.sources; ++k) {
      const InterleaveRow::Source& s = r.source[k];
      spread_runs(part, in_global_memory(static_cast<const uint8_t*>(s.from) + first * s.bytes), s, pitch,
                  runs * s.bytes);
    }
    wait_for_block();
    uint8_t* const to = in_global_memory(static_cast<uint8_t*>(r.to) + first * pitch);
    const int count = runs * pitch, vectors = reinterpret_cast<uint64_t>(to) % 16 == 0 ? count / 16 : 0;
    for (int k = thread(); k < vectors; k += threads())
      reinterpret_cast<Vector*>(to)[k] = reinterpret_cast<const Vector*>(part)[k];
    for (int k = 16 * vectors + thread(); k < count; k += threads()) to[k] = part[k];
    wait_for_block();
  }
}

}  // namespace penstock::whole
