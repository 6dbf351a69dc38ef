// SPDX-License-Identifier: Apache-2.0
// Affine maps of images of uint8 with three channels side by side to uint8. A block makes 64 x 64 outputs:
// the box of the source that they read comes to shared memory as one word a pixel, what is outside the image too.
// A warp takes 8 x 4 outputs at a time, whose words lie in different banks whatever the angle, and exchanges them
// through shared memory, so that each thread has four neighbors of a row: they are stored as the words they are, or go
// through the rest of the stage. benchmarks/gpu/warp_limit.cu is the same by itself.
#pragma once
#include "cuda/kernels/byte_boxes.h"
#include "cuda/kernels/stage_group.h"
#include "cuda/kernels/stage_loops.h"
#include "cuda/kernels/warp_lanes.h"
#include "cuda/kernels/warp_shape.h"

namespace penstock {

// A block's outputs, and the image that they read.
template <class Stage> struct BoxTile {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;
  static constexpr int kX = Stage::kWarpX, kY = Stage::kWarpY;

  const char* table;
  const BoxRow& map;
  const int64_t step_x, step_y;
  const int width, height;  // of the image
  Index row_bytes;
  const uint8_t* image;
  Out* out;            // of this image
  Index out_x, out_y;  // strides
  Index end_x, end_y;  // the outputs of an image
  int left, top;       // the first output
  int wide, tall;      // half a tile is one that is wide enough

  __device__ inline explicit BoxTile(const StageBlock<Stage>& b)
      : table(b.table),
        map(b.row.box()),
        step_x(map.step_x),
        step_y(map.step_y),
        width(static_cast<int>(map.source.extent[0])),
        height(static_cast<int>(map.source.extent[1])),
        image(b.in.own),
        out(b.out) {
    const StageLoops<Stage> loops(b.row);
    row_bytes = loops.in[0][kY], out_x = loops.out[kX], out_y = loops.out[kY];
    end_x = loops.extent[kX], end_y = loops.extent[kY];
    const int tiles_x = (end_x + kBoxTile - 1) / kBoxTile, tiles_y = (end_y + kBoxTile - 1) / kBoxTile;
    const int down = part(b.begin, map.tiles_across), outer = part(down, map.tiles_down);
    left = (b.begin - down * tiles_x) * kBoxTile, top = (down - outer * tiles_y) * kBoxTile;
    wide = end_x - left > 32 ? 64 : 32, tall = end_y - top < kBoxTile ? end_y - top : kBoxTile;
    Index rest = outer;
    PENSTOCK_UNROLL
    for (int d = kY - 1; d >= 0; --d) {
      const Index place = d > 0 ? rest % loops.extent[d] : rest;
      rest /= loops.extent[d];
      image += place * loops.in[0][d], out += place * loops.out[d];
    }
  }
  // Where the rows of the tile begin to read.
  template <int hop> __device__ inline void begin_rows(BoxStart* start) const {
    constexpr double shift = Stage::kNearest ? 0.0 : 0.5;
    constexpr int64_t more = Stage::kNearest ? 0 : kAffineByteHalf;
    PENSTOCK_ROLLED
    for (int r = static_cast<int>(threadIdx.x); r < tall; r += hop) {
      start[r].x = affine_begin<int>(map.m, 2, 0, left, top + r, 0, shift, 0.0) + more;
      start[r].y = affine_begin<int>(map.m, 2, 1, left, top + r, 0, shift, 0.0) + more;
    }
    __syncthreads();
  }

 private:
  PENSTOCK_HD static inline int part(int i, float inverse) {
    return static_cast<int>((static_cast<float>(i) + 0.5f) * inverse);
  }
};

// The box of the source that a tile reads: its corner, its pixels in units of four, and its rows.
struct SourceBox {
  int x0, y0, units, rows;

  template <class Tile> __device__ inline SourceBox(const Tile& t, const BoxStart* start) {
    const BoxStart first = start[0], last = start[t.tall - 1];
    const int64_t across_x = (t.wide - 1) * t.step_x, across_y = (t.wide - 1) * t.step_y;
    x0 = low(first.x, last.x, across_x) & ~3, y0 = low(first.y, last.y, across_y);
    units = (high(first.x, last.x, across_x) + 5 - x0) >> 2;
    rows = high(first.y, last.y, across_y) + 2 - y0;
  }
  // Brings it to shared memory. One loop for each kind of box: all in one, the kernel takes a quarter longer.
  template <int hop, class Tile> __device__ inline void fill(const Tile& t, uint32_t* box) const {
    const int thread = static_cast<int>(threadIdx.x);
    const uint32_t inverse = inverse_of(units);
    const bool words = ((reinterpret_cast<uint64_t>(t.image) | t.row_bytes) & 3) == 0;
    const bool inside = x0 >= 0 && x0 + units * 4 <= t.width && y0 >= 0 && y0 + rows <= t.height;
    const uint8_t* corner = t.image + (static_cast<int64_t>(y0) * t.row_bytes + x0 * 3);
    if (inside && words) {
      PENSTOCK_UNROLL_TWICE
      for (int u = thread; u < units * rows; u += hop) {
        const int r = static_cast<int>(u * inverse >> 20), c = u - r * units;
        put_words(reinterpret_cast<const uint32_t*>(corner + (r * t.row_bytes + c * 12)), box + r * kBoxPitch + c * 4);
      }
    } else if (inside) {
      PENSTOCK_UNROLL_TWICE
      for (int u = thread; u < units * rows; u += hop) {
        const int r = static_cast<int>(u * inverse >> 20), c = u - r * units;
        put_inner(corner + (r * t.row_bytes + c * 12), box + r * kBoxPitch + c * 4);
      }
    } else {
      const WarpSource& source = t.map.source;
      const bool fills = source.border_fill != 0;
      const float fill = *reinterpret_cast<const float*>(t.table + source.fill);
      const uint32_t outside = element_of<float, uint8_t>(fill) * 0x10101u;
      PENSTOCK_ROLLED
      for (int u = thread; u < units * rows; u += hop) {
        const int r = static_cast<int>(u * inverse >> 20), c = u - r * units, x = x0 + c * 4, y = y0 + r;
        const int own = clamp(y, 0, t.height - 1);
        uint32_t* to = box + r * kBoxPitch + c * 4;
        const uint8_t* row = t.image + static_cast<int64_t>(own) * t.row_bytes;
        if (fills && (y != own || x <= -4 || x >= t.width))
          *reinterpret_cast<FourWords*>(to) = {{outside, outside, outside, outside}};
        else if (x >= 0 && x + 4 <= t.width) put_inner(row + x * 3, to);
        else put_border(row, x, t.width, fills, outside, to);
      }
    }
    __syncthreads();
  }

 private:
  // The least and the largest sample of two rows that go `across` from a and b on.
  PENSTOCK_HD static inline int low(int64_t a, int64_t b, int64_t across) {
    const int64_t c = a < b ? a : b;
    return affine_at(across < 0 ? c + across : c);
  }
  PENSTOCK_HD static inline int high(int64_t a, int64_t b, int64_t across) {
    const int64_t c = a < b ? b : a;
    return affine_at(across < 0 ? c : c + across);
  }
};

// A warp's outputs: lane 8 r + c blends those of row r from column c on, every eighth, then it has four neighbors.
template <class Stage> struct BoxWarp {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;
  static constexpr int q = kWarpGroup;
  static constexpr bool kPacks = std::is_same_v<Out, uint8_t> && Stage::kOutPlanes == 3;
  static constexpr bool kPlain = Stage::kResultWithin && !Stage::kRow.faults;  // the pixels are the results

  const BoxTile<Stage>& tile;
  const StageStore<Stage>& store;
  const typename Stage::Coefs& coefs;
  int32_t* fault;
  int column;  // of the tile
  uint32_t* exchange;
  int64_t from_x[kOwnLanes], from_y[kOwnLanes];

  __device__ inline BoxWarp(const BoxTile<Stage>& t, const StageStore<Stage>& s, const typename Stage::Coefs& c,
                            int32_t* f, const SourceBox& source, uint32_t* box, int warp)
      : tile(t), store(s), coefs(c), fault(f), column((warp & 1) * 32) {
    exchange = box + kBoxPitch * kBoxRows + warp * 4 * kExchangePitch;
    for (int u = 0; u < kOwnLanes; ++u) {
      const int across = column + (lane_of(u) & 7);
      from_x[u] = across * t.step_x - (static_cast<int64_t>(source.x0) << 32);
      from_y[u] = across * t.step_y - (static_cast<int64_t>(source.y0) << 32);
    }
  }
  // Makes four rows of the tile, from row `quad` on.
  __device__ inline void make(int quad, const BoxStart* start, const uint32_t* box) const {
    for (int u = 0; u < kOwnLanes; ++u) blend(u, quad, start, box);
    __syncwarp();
    uint32_t bytes[kOwnLanes][3];  // of four pixels, if they are stored as words of rows
    int beside[kOwnLanes];         // as many pixels of the row there are
    Out* to[kOwnLanes];
    for (int u = 0; u < kOwnLanes; ++u) finish(u, quad, bytes[u], beside[u], to[u]);
    __syncwarp();
    if constexpr (kPacks) {
      uint32_t last[kOwnLanes];
      for (int u = 0; u < kOwnLanes; ++u) last[u] = bytes[u][2];
      for (int u = 0; u < kOwnLanes; ++u) {
        const uint32_t before = of_lane(last, u, -1);
        if (store.interleaved) store_neighbors(to[u], beside[u], lane_of(u) & 7, bytes[u], before);
      }
    }
  }

 private:
  __device__ inline void blend(int u, int quad, const BoxStart* start, const uint32_t* box) const {
    const int lane = lane_of(u), row = quad + (lane >> 3);
    const BoxStart at = start[row < tile.tall ? row : tile.tall - 1];
    int64_t px = at.x + from_x[u], py = at.y + from_y[u];
    uint32_t* to = exchange + (lane >> 3) * kExchangePitch + (lane & 7);
    PENSTOCK_UNROLL
    for (int k = 0; k < q; ++k, px += 8 * tile.step_x, py += 8 * tile.step_y) {
      if constexpr (Stage::kNearest) to[8 * k] = box[affine_at(py) * kBoxPitch + affine_at(px)];
      else to[8 * k] = blended<kBoxPitch>(box, px, py);
    }
  }
  // Stores a lane's neighbors, or has them ready to be stored as words of rows.
  __device__ inline void finish(int u, int quad, uint32_t (&bytes)[3], int& beside, Out*& to) const {
    const int lane = lane_of(u);
    const int x = tile.left + column + (lane & 7) * q, y = tile.top + quad + (lane >> 3);
    const FourWords four =
        *reinterpret_cast<const FourWords*>(exchange + (lane >> 3) * kExchangePitch + (lane & 7) * q);
    beside = y < tile.end_y ? tile.end_x - x : 0, to = tile.out + (y * tile.out_y + x * tile.out_x);
    const int count = clamp(beside, 0, q);
    if constexpr (kPlain) {
      bytes[0] = bytes_by(four.v[0], four.v[1], 0x4210), bytes[1] = bytes_by(four.v[1], four.v[2], 0x5421);
      bytes[2] = bytes_by(four.v[2], four.v[3], 0x6542);
      if (!store.interleaved) PENSTOCK_ROLLED
      for (int k = 0; k < count * 3; ++k)
        to[k / 3 * store.x + k % 3 * store.plane] = static_cast<uint8_t>(bytes[k >> 2] >> (k & 3) * 8);
    } else {
      Out results[q][Stage::kOutPlanes];
      sampled_results<Stage, q>(
          coefs, fault,
          [&](int j, auto& source) {
            for (int p = 0; p < 3; ++p) source[p] = byte_number(four.v[j], p);
          },
          [&](int j) { return j < count; }, results);
      if constexpr (kPacks) pack(results, bytes);
      if (!kPacks || !store.interleaved) store.group(to, count, count == q, [](int) { return false; }, results);
    }
  }
  PENSTOCK_HD static inline void pack(const uint8_t (&pixels)[q][3], uint32_t (&bytes)[3]) {
    for (int k = 0; k < 3; ++k) bytes[k] = 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < 12; ++k) bytes[k >> 2] |= static_cast<uint32_t>(pixels[k / 3][k % 3]) << (k & 3) * 8;
  }
};

template <class Stage, int threads> __device__ inline void image_boxes(const char* table) {
  constexpr int kWarps = threads / 32, hop = threads / (kOwnWarps<kWarps> * kOwnLanes);
  const StageBlock<Stage> b(table);
  const typename Stage::Coefs coefs(b.coefs + b.row.head().coefs);
  const StageStore<Stage> store(b, Stage::kWarpX);
  const BoxTile<Stage> tile(b);
  PENSTOCK_SHARED(BoxStart, start);
  uint32_t* box = reinterpret_cast<uint32_t*>(start + kBoxTile);
  tile.template begin_rows<hop>(start);
  const SourceBox source(tile, start);
  source.fill<hop>(tile, box);
  for (int own = 0; own < kOwnWarps<kWarps>; ++own) {
    const int warp = warp_of(own);
    const BoxWarp<Stage> outputs(tile, store, coefs, b.fault, source, box, warp);
    PENSTOCK_ROLLED
    for (int quad = (warp >> 1) * 4; quad < tile.tall && outputs.column < tile.wide; quad += 4 * kWarps / 2)
      outputs.make(quad, start, box);
  }
}

}  // namespace penstock
