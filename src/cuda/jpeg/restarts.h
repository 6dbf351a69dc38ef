// SPDX-License-Identifier: Apache-2.0
// Pictures with restart markers: each segment between two of them starts its own subsequence, in a known state.
#pragma once
#include "cuda/jpeg/unstuff.h"

namespace penstock::jpeg_gpu {

// One block per tile: finds where segments end, and checks the order of the markers.
PENSTOCK_DEVICE void find_restarts(const BatchTable& b) {
  __shared__ uint32_t scratch[kThreads / 32];
  const Item item = b.tile[blockIdx.x];
  const Picture& p = b.picture[item.picture];
  const uint32_t marker = b.marker[item.picture], end = umin(marker, p.scan_end);
  const uint32_t tile = (p.scan_begin & ~15u) + item.index * kTile, at = tile + threadIdx.x * 16;
  if (p.segments == 1 || (tile >= end && item.index > 0)) return;
  const uint32_t kept_before = before_tile(b.tile_kept + p.tile_base, item.index, scratch);
  const uint32_t restarts_before = before_tile(b.tile_restarts + p.tile_base, item.index, scratch);
  const Chunk c = read_chunk(b.files, at, p.scan_begin, end, true);
  uint32_t kept, restarts;
  const uint32_t offset = kept_before + sum_before(__popc(c.keep), scratch, kept);
  uint32_t number = restarts_before + sum_before(__popc(c.restarts), scratch, restarts);
  bool wrong = false;
  for (uint32_t left = c.restarts; left; left &= left - 1, ++number) {
    const uint32_t i = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
    const uint32_t byte = c.w[i >> 2] >> (8 * (i & 3)) & 255;
    if (number + 1 >= p.segments || (byte & 7) != (number & 7)) wrong = true;
    else b.segment_end[p.segment_base + number] = offset + __popc(c.keep & ((1u << i) - 1));
  }
  if (threadIdx.x == 0 && tile + kTile >= end) {
    if (restarts_before + restarts + 1 != p.segments) wrong = true;
    b.segment_end[p.segment_base + p.segments - 1] = kept_before + kept;
    if (marker == kNoMarker || b.files[marker + 1] == 255) atomicOr(b.flags + item.picture, kNoEnd);
  }
  if (wrong) atomicOr(b.flags + item.picture, kBadRestart);
}

// One block per picture.
PENSTOCK_DEVICE void lay_out_segments(const BatchTable& b) {
  __shared__ uint32_t scratch[kThreads / 32];
  const Picture& p = b.picture[blockIdx.x];
  if (p.segments == 1 || b.flags[blockIdx.x]) return;  // without a flag all ends are set, and in order
  const uint32_t t = threadIdx.x;
  const uint32_t* const ends = b.segment_end + p.segment_base;
  uint32_t* const first = b.segment_sub + p.segment_base;
  uint32_t subs = 0;
  for (uint32_t s0 = 0; s0 < p.segments; s0 += kThreads) {
    const uint32_t s = s0 + t;
    uint32_t own = 0, total;
    if (s < p.segments) {
      const uint32_t bytes = ends[s] - (s ? ends[s - 1] : 0);
      b.segment_bytes[p.segment_base + s] = bytes;
      own = umax(1, (8 * bytes + b.sub_bits - 1) / b.sub_bits);
    }
    const uint32_t at = subs + sum_before(own, scratch, total);
    if (s < p.segments) first[s] = at;
    subs += total;
  }
  __syncthreads();
  if (subs > p.subs) {
    if (t == 0) atomicOr(b.flags + blockIdx.x, kBadRestart);
    return;
  }
  for (uint32_t sub = t; sub < subs; sub += kThreads) {
    uint32_t low = 0, high = p.segments - 1;
    while (low < high) {
      const uint32_t middle = (low + high + 1) >> 1;
      if (first[middle] <= sub) low = middle;
      else high = middle - 1;
    }
    b.sub_segment[p.sub_base + sub] = low;
  }
  if (t == 0) b.bits[blockIdx.x] = subs * b.sub_bits;
}

// One block per tile. The words are zero before.
PENSTOCK_DEVICE void write_segments(const BatchTable& b) {
  __shared__ uint32_t scratch[kThreads / 32];
  const Item item = b.tile[blockIdx.x];
  const Picture& p = b.picture[item.picture];
  const uint32_t end = umin(b.marker[item.picture], p.scan_end);
  const uint32_t tile = (p.scan_begin & ~15u) + item.index * kTile, at = tile + threadIdx.x * 16;
  if (p.segments == 1 || b.flags[item.picture] || (tile >= end && item.index > 0)) return;
  const uint32_t kept_before = before_tile(b.tile_kept + p.tile_base, item.index, scratch);
  const uint32_t restarts_before = before_tile(b.tile_restarts + p.tile_base, item.index, scratch);
  const Chunk c = read_chunk(b.files, at, p.scan_begin, end, true);
  uint32_t total;
  uint32_t offset = kept_before + sum_before(__popc(c.keep), scratch, total);
  uint32_t segment = restarts_before + sum_before(__popc(c.restarts), scratch, total);
  const uint32_t* const ends = b.segment_end + p.segment_base;
  auto* const to = reinterpret_cast<uint8_t*>(b.words + p.word_base);
  for (uint32_t i = 0; i < 16; ++i) {
    if (c.restarts >> i & 1) ++segment;
    if (!(c.keep >> i & 1)) continue;
    const uint32_t begin = segment ? ends[segment - 1] : 0;
    const uint32_t place = b.segment_sub[p.segment_base + segment] * (b.sub_bits / 8) + (offset++ - begin);
    to[place ^ 3] = static_cast<uint8_t>(c.w[i >> 2] >> (8 * (i & 3)));
  }
}

}  // namespace penstock::jpeg_gpu
