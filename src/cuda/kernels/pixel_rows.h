// SPDX-License-Identifier: Apache-2.0
// Rows of pixels of three bytes to pixels of bytes. A warp takes kRowPixels neighbors at a time. They come and go by
// vectors of 16 bytes, of which neighboring lanes have neighboring ones, at any address; in between they are in shared
// memory, where a lane takes four pixels as three words. The next pixels are on their way meanwhile.
#pragma once
#include "cuda/kernels/byte_boxes.h"
#include "cuda/kernels/byte_words.h"
#include "cuda/kernels/pixel_row_sizes.h"
#include "cuda/kernels/stage_group.h"
#include "cuda/kernels/stage_loops.h"
#include "cuda/kernels/warp_lanes.h"

namespace penstock {

// Four pixels of three bytes, as a word with the first bytes, the next, the last.
struct PixelQuad {
  uint32_t a, b, c;
  PENSTOCK_HD inline ByteOfWord place(int i) const { return {i < 4 ? a : i < 8 ? b : c, i & 3}; }
  PENSTOCK_HD inline uint8_t byte(int i) const { return static_cast<uint8_t>(place(i).word >> place(i).at * 8); }
};
// The last pixel first.
__device__ inline PixelQuad in_reverse(const PixelQuad& q) {
  return {bytes_by(q.b, q.c, 0x2765), bytes_by(bytes_by(q.b, q.c, 0x0043), q.a, 0x3710), bytes_by(q.a, q.b, 0x2105)};
}
// The last channel of each pixel first.
__device__ inline PixelQuad with_channels_reversed(const PixelQuad& q) {
  return {bytes_by(q.a, q.b, 0x5012), bytes_by(bytes_by(q.a, q.b, 0x7734), q.c, 0x2410), bytes_by(q.b, q.c, 0x5672)};
}

template <class Stage> struct PixelRows {
  typedef typename Stage::Index Index;
  static constexpr int kPlanes = 3, kMade = Stage::kOutPlanes, kLast = Stage::kRow.dims - 1;
  static_assert(Stage::kPlanes == kPlanes && (kMade == 1 || kMade == kPlanes));

  const StageBlock<Stage> block;
  const typename Stage::Coefs coefs;
  const uint8_t* results;  // shared_results
  const StageLoops<Stage> loops;
  Index across;  // parts of a row
  int lanes, warps;
  uint8_t *pixels, *made;  // of this warp, in shared memory: 16 bytes before what is at an aligned address

  // Neighbors of a row: `count` pixels from the lowest address on, whose results go to `to`.
  struct Part {
    const uint8_t* from;
    uint8_t* to;
    int count;
    bool forward;
  };
  // The vectors of a part that a lane has: each 32nd.
  static constexpr int kLoads = 3;
  struct Vectors {
    FourWords v[kLoads][kOwnLanes];
  };

  __device__ inline explicit PixelRows(const char* table)
      : block(table),
        coefs(block.coefs + block.row.head().coefs),
        results(shared_results(block, coefs)),
        loops(block.row),
        across((loops.extent[kLast] + kRowPixels - 1) / kRowPixels),
        warps(blockDim.x < 32 ? 1 : static_cast<int>(blockDim.x / 32)) {
    PENSTOCK_SHARED(uint8_t, all);
    pixels = all + (Stage::kTable ? 256 * kPlanes : 0) + static_cast<int>(threadIdx.x / 32) * kRowBytes;
    made = pixels + kRowVectors * 16;
  }

  __device__ inline void make() {
    Index i = block.begin + static_cast<Index>(threadIdx.x / 32);
    if (i >= block.end) return;
    Vectors words;
    Index x[Stage::kRow.dims];  // the innermost in pixels
    loops.place(i, across, kRowPixels, x);
    Part next = part(x);
    load(next, words);
    for (;;) {
      const Part own = next;
      PENSTOCK_UNROLL
      for (int k = 0; k < kLoads; ++k)
        for (int u = 0; u < kOwnLanes; ++u)
          *reinterpret_cast<FourWords*>(pixels + 16 + (lane_of(u) + 32 * k) * 16) = words.v[k][u];
      i += warps;
      const bool more = i < block.end;
      if (more) advance(x), next = part(x), load(next, words);
      __syncwarp();
      convert(own);
      __syncwarp();
      store(own.to, own.count * kMade);
      if (!more) return;
    }
  }

 private:
  // To the part that is `warps` after this one: without divisions.
  __device__ inline void advance(Index (&x)[Stage::kRow.dims]) const {
    const Index row = across * kRowPixels;
    x[kLast] += static_cast<Index>(warps) * kRowPixels;
    for (; x[kLast] >= row; x[kLast] -= row)
      if constexpr (kLast > 0) ++x[kLast - 1];
    PENSTOCK_UNROLL
    for (int d = kLast - 1; d > 0; --d)
      for (; x[d] >= loops.extent[d]; x[d] -= loops.extent[d]) ++x[d - 1];
  }
  __device__ inline Part part(const Index (&x)[Stage::kRow.dims]) const {
    const Index left = loops.extent[kLast] - x[kLast];
    Part p;
    p.count = left < kRowPixels ? static_cast<int>(left) : kRowPixels;
    p.forward = loops.in[0][kLast] > 0;
    p.from = block.in.own + loops.offset(x, loops.in[0]) - (p.forward ? 0 : (p.count - 1) * kPlanes);
    p.to = block.out + loops.offset(x, loops.out);
    return p;
  }
  PENSTOCK_HD static inline int past_vector(const uint8_t* p) {
    return static_cast<int>(reinterpret_cast<uint64_t>(p) & 15);
  }
  __device__ inline void load(const Part& p, Vectors& to) const {
    const int past = past_vector(p.from), bytes = p.count * kPlanes;
    if ((past | (bytes & 15)) == 0) {
      PENSTOCK_UNROLL
      for (int k = 0; k < kLoads; ++k)
        for (int u = 0; u < kOwnLanes; ++u)
          if (const int at = (lane_of(u) + 32 * k) * 16; at < bytes)
            to.v[k][u] = *reinterpret_cast<const FourWords*>(p.from + at);
      return;
    }
    PENSTOCK_UNROLL
    for (int k = 0; k < kLoads; ++k)
      for (int u = 0; u < kOwnLanes; ++u) {
        const int at = (lane_of(u) + 32 * k) * 16 - past;
        if (at >= 0 && at + 16 <= bytes) to.v[k][u] = *reinterpret_cast<const FourWords*>(p.from + at);
        else
          for (int w = 0; w < 4; ++w)
            to.v[k][u].v[w] =
                at + 4 * w + 3 >= 0 && at + 4 * w < bytes ? *reinterpret_cast<const uint32_t*>(p.from + at + 4 * w) : 0;
      }
  }
  // Words from byte `at` of this warp's memory on.
  template <int n> __device__ static inline void words_of(const uint8_t* memory, int at, uint32_t (&to)[n]) {
    const uint32_t* from = reinterpret_cast<const uint32_t*>(memory) + (at >> 2);
    const int shift = (at & 3) * 8;
    uint32_t low = from[0];
    PENSTOCK_UNROLL
    for (int k = 0; k < n; ++k) {
      const uint32_t high = from[k + 1];
      to[k] = shifted(low, high, shift), low = high;
    }
  }
  __device__ inline void convert(const Part& p) const {
    if (p.forward && (past_vector(p.from) & 3) == 0) quads<true>(p);
    else quads<false>(p);
  }
  // `plain`: forward, from whole words.
  template <bool plain> __device__ inline void quads(const Part& p) const {
    const int past = past_vector(p.from);
    PENSTOCK_ROLLED
    for (int i = 0; i < kRowPixels / 4; i += 32)
      for (int u = 0; u < kOwnLanes; ++u) {
        const int q = i + lane_of(u);
        if (4 * q >= p.count) continue;
        uint32_t* to = reinterpret_cast<uint32_t*>(made + 16) + q * kMade;
        if constexpr (plain) {
          const uint32_t* w = reinterpret_cast<const uint32_t*>(pixels + 16 + past) + kPlanes * q;
          quad({w[0], w[1], w[2]}, to);
        } else {
          uint32_t w[3];
          words_of<3>(pixels, 16 + past + kPlanes * (p.forward ? 4 * q : p.count - 4 - 4 * q), w);
          const PixelQuad own{w[0], w[1], w[2]};
          quad(p.forward ? own : in_reverse(own), to);
        }
      }
  }
  __device__ inline void quad(const PixelQuad& q, uint32_t* to) const {
    if constexpr (Stage::kCopies) {
      const PixelQuad own = Stage::kReverses ? with_channels_reversed(q) : q;
      to[0] = own.a, to[1] = own.b, to[2] = own.c;
    } else if constexpr (kMakesWords<Stage>) {
      float made[kMade][4];
      PENSTOCK_UNROLL
      for (int j = 0; j < 4; ++j) {
        float numbers[kMade];
        Stage::apply(coefs, [&](auto, int p) { return q.place(j * kPlanes + p); }, numbers, block.fault, true);
        PENSTOCK_UNROLL
        for (int p = 0; p < kMade; ++p) made[(j * kMade + p) / 4][(j * kMade + p) % 4] = numbers[p];
      }
      PENSTOCK_UNROLL
      for (int k = 0; k < kMade; ++k) to[k] = word_of<Stage::kResultWithin>(made[k]);
    } else {
      uint8_t y[4][kMade];
      if constexpr (Stage::kTable) {
        for (int j = 0; j < 4; ++j)
          for (int p = 0; p < kMade; ++p) y[j][p] = results[p * 256 + q.byte(j * kPlanes + p)];
      } else {
        group_results<Stage, 4>(
            [&](int j, typename Stage::Number(&numbers)[kMade]) {
              const auto load = [&](auto, int p) { return q.byte(j * kPlanes + p); };
              Stage::apply(coefs, load, numbers, block.fault, true);
            },
            y);
      }
      PENSTOCK_UNROLL
      for (int k = 0; k < kMade; ++k) {
        uint32_t word = 0;
        for (int b = 0; b < 4; ++b) word |= static_cast<uint32_t>(y[(4 * k + b) / kMade][(4 * k + b) % kMade]) << 8 * b;
        to[k] = word;
      }
    }
  }
  __device__ inline void store(uint8_t* to, int bytes) const {
    constexpr int kStores = kMade == 1 ? 1 : kLoads;
    const int past = past_vector(to);
    if ((past | (bytes & 15)) == 0) {
      PENSTOCK_UNROLL
      for (int k = 0; k < kStores; ++k)
        for (int u = 0; u < kOwnLanes; ++u)
          if (const int at = (lane_of(u) + 32 * k) * 16; at < bytes)
            *reinterpret_cast<FourWords*>(to + at) = *reinterpret_cast<const FourWords*>(made + 16 + at);
      return;
    }
    PENSTOCK_UNROLL
    for (int k = 0; k < kStores; ++k)
      for (int u = 0; u < kOwnLanes; ++u) {
        const int at = (lane_of(u) + 32 * k) * 16 - past;
        if (at >= bytes) continue;
        FourWords own;
        if (past == 0) own = *reinterpret_cast<const FourWords*>(made + 16 + at);
        else words_of<4>(made, 16 + at, own.v);
        if (at >= 0 && at + 16 <= bytes) {
          *reinterpret_cast<FourWords*>(to + at) = own;
        } else {
          PENSTOCK_ROLLED
          for (int b = at < 0 ? -at : 0; b < 16 && at + b < bytes; ++b) to[at + b] = (made + 16)[at + b];
        }
      }
  }
};

template <class Stage> __device__ inline void pixel_rows(const char* table) { PixelRows<Stage>(table).make(); }

}  // namespace penstock
