// SPDX-License-Identifier: Apache-2.0
// The square of outputs that a block makes of an affine map where what they read comes to shared memory.
#pragma once
#include "cuda/kernels/stage_block.h"
#include "cuda/kernels/stage_loops.h"
#include "cuda/kernels/warp_shape.h"
#include "pixel/affine.h"

namespace penstock {

struct alignas(16) BoxStart {
  int64_t x, y;
};

// A block's outputs, and the image that they read.
template <class Stage, int side> struct BoxTile {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;
  typedef typename Stage::template In<0> In;
  static constexpr int kX = Stage::kWarpX, kY = Stage::kWarpY;

  const char* table;
  const BoxRow& map;
  const int64_t step_x, step_y;
  const int width, height;  // of the image
  Index row_in;             // elements from row to row of the image
  const In* image;
  Out* out;            // of this image
  Index out_x, out_y;  // strides
  Index end_x, end_y;  // the outputs of an image
  int left, top;       // the first output
  int wide, tall;      // 32 columns are a tile that is wide enough

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
    row_in = loops.in[0][kY], out_x = loops.out[kX], out_y = loops.out[kY];
    end_x = loops.extent[kX], end_y = loops.extent[kY];
    const int tiles_x = (end_x + side - 1) / side, tiles_y = (end_y + side - 1) / side;
    const int down = part(b.begin, map.tiles_across), outer = part(down, map.tiles_down);
    left = (b.begin - down * tiles_x) * side, top = (down - outer * tiles_y) * side;
    wide = end_x - left > 32 ? side : 32, tall = end_y - top < side ? end_y - top : side;
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
    constexpr int64_t more = Stage::kSourceStaysBytes && !Stage::kNearest ? kAffineByteHalf : 0;
    const int past = side % kAffineRun == 0 ? 0 : left % kAffineRun;  // runs begin at multiples of their length
    PENSTOCK_ROLLED
    for (int r = static_cast<int>(threadIdx.x); r < tall; r += hop) {
      start[r].x = affine_begin<int>(map.m, 2, 0, left, top + r, 0, shift, 0.0) + past * step_x + more;
      start[r].y = affine_begin<int>(map.m, 2, 1, left, top + r, 0, shift, 0.0) + past * step_y + more;
    }
    __syncthreads();
  }

 private:
  PENSTOCK_HD static inline int part(int i, float inverse) {
    return static_cast<int>((static_cast<float>(i) + 0.5f) * inverse);
  }
};

// The least and the largest sample of two rows that go `across` from a and b on.
PENSTOCK_HD inline int lowest_sample(int64_t a, int64_t b, int64_t across) {
  const int64_t c = a < b ? a : b;
  return affine_at(across < 0 ? c + across : c);
}
PENSTOCK_HD inline int highest_sample(int64_t a, int64_t b, int64_t across) {
  const int64_t c = a < b ? b : a;
  return affine_at(across < 0 ? c : c + across);
}

}  // namespace penstock
