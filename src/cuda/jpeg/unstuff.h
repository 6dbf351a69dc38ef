// SPDX-License-Identifier: Apache-2.0
// Removes stuffed zeros and restart markers from the files and finds the marker that ends the data.
#pragma once
#include "cuda/jpeg/huffman_lookup.h"

namespace penstock::jpeg_gpu {

// 0x80 where a byte is zero; such flags as four bits.
PENSTOCK_DEVICE uint32_t zero_bytes(uint32_t v) {
  const uint32_t t = (v & 0x7F7F7F7F) + 0x7F7F7F7F;
  return ~(t | v | 0x7F7F7F7F);
}
PENSTOCK_DEVICE uint32_t nibble(uint32_t flags) { return (flags >> 7) * 0x01020408u >> 24 & 15; }
PENSTOCK_DEVICE uint32_t zero_bits(const uint32_t* w, uint32_t differ, uint32_t mask) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < 4; ++i) bits |= nibble(zero_bytes((w[i] ^ differ) & mask)) << (4 * i);
  return bits;
}

// The 16 bytes of a thread, one bit each.
struct Chunk {
  uint32_t w[4];
  uint32_t keep;      // bytes of the coded data
  uint32_t restarts;  // second bytes of restart markers
  uint32_t marker;    // position of the first other marker
};
PENSTOCK_DEVICE Chunk read_chunk(const uint8_t* files, uint32_t at, uint32_t begin, uint32_t end, bool restarts) {
  Chunk c{{0, 0, 0, 0}, 0, 0, kNoMarker};
  if (at >= end) return c;
  const Words4 v = load_as<Words4>(files + at);
  c.w[0] = v.x, c.w[1] = v.y, c.w[2] = v.z, c.w[3] = v.w;
  const uint32_t head = begin > at ? umin(begin - at, 16) : 0, tail = umin(end - at, 16);
  const uint32_t inside = (0xFFFFu << head) & ((1u << tail) - 1) & 0xFFFF;
  const uint32_t full = zero_bits(c.w, 0xFFFFFFFF, 0xFFFFFFFF) & inside;
  const uint32_t follow = (full << 1 | (at > begin ? files[at - 1] == 255 : 0)) & inside;
  c.keep = inside;
  if (follow) {
    const uint32_t zeros = zero_bits(c.w, 0, 0xFFFFFFFF);
    uint32_t markers = follow & ~zeros;
    c.keep &= ~(follow & zeros);
    if (restarts) {
      c.restarts = markers & zero_bits(c.w, 0xD0D0D0D0, 0xF8F8F8F8);
      markers &= ~c.restarts;
      c.keep &= ~(c.restarts | c.restarts >> 1);
    }
    if (markers) c.marker = at + static_cast<uint32_t>(__ffs(static_cast<int>(markers))) - 2;
  }
  if (restarts && full >> 15 && at + 16 < end && (files[at + 16] & 0xF8) == 0xD0) c.keep &= ~0x8000u;
  return c;
}
// Bytes after the end marker do not count.
PENSTOCK_DEVICE void cut_chunk(Chunk& c, uint32_t at, uint32_t marker) {
  if (at + 16 <= marker) return;
  const uint32_t before = at >= marker ? 0 : (1u << (marker - at)) - 1;
  c.keep &= before;
  c.restarts &= before;
}

// The first blocks make tables; each of the others counts what a tile keeps.
PENSTOCK_DEVICE void count_kept(const BatchTable& b) {
  __shared__ uint32_t scratch[kThreads / 32], marker;
  if (blockIdx.x < b.table_sets) return build_tables(b, blockIdx.x);
  const Item item = b.tile[blockIdx.x - b.table_sets];
  const Picture& p = b.picture[item.picture];
  const uint32_t at = (p.scan_begin & ~15u) + item.index * kTile + threadIdx.x * 16;
  if (threadIdx.x == 0) marker = kNoMarker;
  __syncthreads();
  Chunk c = read_chunk(b.files, at, p.scan_begin, p.scan_end, p.segments > 1);
  if (c.marker != kNoMarker) {
    atomicMin(&marker, c.marker);
    atomicMin(b.marker + item.picture, c.marker);
  }
  __syncthreads();
  cut_chunk(c, at, marker);
  const uint32_t kept = sum_all(__popc(c.keep), scratch);
  const uint32_t restarts = p.segments > 1 ? sum_all(__popc(c.restarts), scratch) : 0;
  if (threadIdx.x == 0) {
    b.tile_kept[p.tile_base + item.index] = kept;
    b.tile_restarts[p.tile_base + item.index] = restarts;
  }
}

// The number of bytes that the tiles before this one keep.
PENSTOCK_DEVICE uint32_t before_tile(const uint32_t* of_tiles, uint32_t tile, uint32_t* scratch) {
  uint32_t part = 0;
  for (uint32_t t = threadIdx.x; t < tile; t += kThreads) part += of_tiles[t];
  return sum_all(part, scratch);
}

PENSTOCK_DEVICE void write_words(const BatchTable& b) {
  __shared__ uint32_t scratch[kThreads / 32];
  alignas(16) __shared__ uint8_t bytes[kTile + 16];
  const Item item = b.tile[blockIdx.x];
  const Picture& p = b.picture[item.picture];
  const uint32_t marker = b.marker[item.picture], end = umin(marker, p.scan_end);
  const uint32_t tile = (p.scan_begin & ~15u) + item.index * kTile, at = tile + threadIdx.x * 16;
  if (p.segments > 1 || (tile >= end && item.index > 0)) return;
  const uint32_t base = before_tile(b.tile_kept + p.tile_base, item.index, scratch);
  const Chunk c = read_chunk(b.files, at, p.scan_begin, end, false);
  uint32_t total;
  const uint32_t before = sum_before(__popc(c.keep), scratch, total);
  uint32_t to = (base & 3) + before;
  PENSTOCK_UNROLL
  for (uint32_t i = 0; i < 16; ++i)
    if (c.keep >> i & 1) bytes[to++ ^ 3] = static_cast<uint8_t>(c.w[i >> 2] >> (8 * (i & 3)));  // ^ 3: big-endian words
  __syncthreads();
  uint32_t* target = b.words + p.word_base + (base >> 2);
  const uint32_t low = base & 3, high = low + total, first = (low + 3) >> 2, behind = high >> 2;
  for (uint32_t w = first + threadIdx.x; w < behind; w += kThreads) target[w] = load_as<uint32_t>(bytes + 4 * w);
  auto* target8 = reinterpret_cast<uint8_t*>(target);  // words that two tiles share
  if (threadIdx.x < 4) {
    const uint32_t k = threadIdx.x;
    if (k >= low && k < high && k < 4 * first) target8[k ^ 3] = bytes[k ^ 3];
  } else if (threadIdx.x < 8) {
    const uint32_t k = 4 * behind + threadIdx.x - 4;
    if (k < high && k >= 4 * first) target8[k ^ 3] = bytes[k ^ 3];
  }
  if (tile + kTile < end) return;
  // The last tile: writes zeros up to the end of the last subsequence and of what is read ahead there.
  const uint32_t bits = 8 * (base + total), rounded = (bits + b.sub_bits - 1) / b.sub_bits * b.sub_bits;
  const uint32_t zeros_to = rounded / 32 + kSlackWords, size = base + total;
  if (threadIdx.x < 4 && (size & 3) && threadIdx.x >= (size & 3))
    reinterpret_cast<uint8_t*>(b.words + p.word_base + (size >> 2))[threadIdx.x ^ 3] = 0;
  for (uint32_t w = (size + 3) / 4 + threadIdx.x; w < zeros_to; w += kThreads) b.words[p.word_base + w] = 0;
  if (threadIdx.x == 0) {
    b.bits[item.picture] = bits;
    // A fill byte before the marker is left to the CPU, like all rare cases.
    if (marker == kNoMarker || b.files[marker + 1] == 255) atomicOr(b.flags + item.picture, kNoEnd);
  }
}

}  // namespace penstock::jpeg_gpu
