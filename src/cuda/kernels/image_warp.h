// SPDX-License-Identifier: Apache-2.0
// Affine maps of images in float32. A thread takes several neighbors of a row, a warp's threads a small rectangle:
// rotated, it still lies in few lines of memory. Positions are integers (pixel/affine.h); groups whose taps are all
// inside read without asking, pixels of bytes as aligned words. Bytes that become bytes again are blended in integers.
#pragma once
#include "cuda/kernels/byte_pairs.h"
#include "cuda/kernels/stage_group.h"
#include "cuda/kernels/stage_loops.h"
#include "cuda/kernels/warp_shape.h"

namespace penstock {

// Where groups are whose numbers grow: 32 of them make a rectangle, and rectangles follow along x, then y, then the
// outer dimensions.
template <class Index> struct WarpTiles {
  Index across, down;         // rectangles of an image
  Index tile, tx, ty, outer;  // of the last group: its number and its place

  PENSTOCK_HD inline WarpTiles(Index width, Index height, Index group)
      : across((width + kWarpAcross * kWarpGroup - 1) / (kWarpAcross * kWarpGroup)),
        down((height + kWarpDown - 1) / kWarpDown),
        tile(group >> 5),
        tx(tile % across),
        ty(tile / across % down),
        outer(tile / across / down) {}
  // The first position of this group.
  PENSTOCK_HD inline void place(Index group, Index& x, Index& y) {
    tx += (group >> 5) - tile, tile = group >> 5;
    while (tx >= across) {
      tx -= across;
      if (++ty == down) ty = 0, ++outer;
    }
    x = (tx * kWarpAcross + (group & (kWarpAcross - 1))) * kWarpGroup;
    y = ty * kWarpDown + (group & 31) / kWarpAcross;
  }
};

// The blend of four neighbors: a and b of the lower row, c and d of the upper one.
template <bool in_integers> struct NeighborBlend {
  float wx, wy;
  PENSTOCK_HD inline NeighborBlend(int64_t px, int64_t py)
      : wx(affine_weight<float>(px)), wy(affine_weight<float>(py)) {}
  PENSTOCK_HD inline float operator()(float a, float b, float c, float d) const { return rows(a, b - a, c, d - c); }
  PENSTOCK_HD inline float rows(float a, float more_a, float c, float more_c) const {
    const float top = fma(more_a, wx, a), bottom = fma(more_c, wx, c);
    return fma(bottom - top, wy, top);
  }
};
template <> struct NeighborBlend<true> {
  AffineByteWeights w;
  PENSTOCK_HD inline NeighborBlend(int64_t px, int64_t py)
      : w(affine_byte_weights(affine_byte_fraction(px), affine_byte_fraction(py))) {}
  PENSTOCK_HD inline float operator()(float a, float b, float c, float d) const {
    return static_cast<float>(affine_byte(w, static_cast<uint32_t>(a), static_cast<uint32_t>(b),
                                          static_cast<uint32_t>(c), static_cast<uint32_t>(d)));
  }
};

// A row's map and what it reads, in registers.
template <class Stage> struct ImageWarp {
  typedef typename Stage::Index Index;
  typedef typename Stage::template In<0> In;
  typedef float Group[kWarpGroup][Stage::kPlanes];
  typedef NeighborBlend<Stage::kSourceStaysBytes> Blend;
  static constexpr int kPlanes = Stage::kPlanes;
  static constexpr bool kInIntegers = Stage::kSourceStaysBytes,
                        kBytePixels = std::is_same_v<In, uint8_t> && kPlanes == 3;

  double m[6];
  int last_x, last_y;   // the source's last sample
  Index sx, sy, plane;  // its strides
  float outside;
  bool nearest, border_fill, near;
  bool beside;  // pixels of bytes are contiguous
  double shift;
  int64_t step_x, step_y;

  __device__ inline ImageWarp(const StageBlock<Stage>& b, const StageLoops<Stage>& loops)
      : sx(loops.in[0][Stage::kWarpX]), sy(loops.in[0][Stage::kWarpY]), plane(loops.plane_in[0]) {
    for (int k = 0; k < 6; ++k) m[k] = b.row.warp().m[k];
    const WarpSource& read = b.row.warp().source;
    last_x = static_cast<int>(read.extent[0]) - 1, last_y = static_cast<int>(read.extent[1]) - 1;
    outside = *reinterpret_cast<const float*>(b.table + read.fill);
    nearest = read.nearest != 0, border_fill = read.border_fill != 0, near = read.near != 0;
    shift = nearest ? 0.0 : 0.5, beside = kBytePixels && plane == 1 && sx == 3;
    step_x = affine_step(m[0]), step_y = affine_step(m[3]);
  }

  // The source's values at the group from (x, y) on; `image` is its first element.
  __device__ inline void values(const In* image, Index x, Index y, Group& g) const {
    const int past = static_cast<int>(x % kAffineRun);
    int64_t px, py;
    if (near) {
      px = affine_begin<Index>(m, 2, 0, x, y, 0, shift, 0.0), py = affine_begin<Index>(m, 2, 1, x, y, 0, shift, 0.0);
    } else {
      px = affine_begin<Index>(m, 2, 0, x, y, 0, shift), py = affine_begin<Index>(m, 2, 1, x, y, 0, shift);
    }
    px += past * step_x, py += past * step_y;
    if constexpr (kInIntegers)
      if (!nearest) px += kAffineByteHalf, py += kAffineByteHalf;
    const uint32_t ax = affine_at(px), bx = affine_at(px + (kWarpGroup - 1) * step_x), ux = last_x;
    const uint32_t ay = affine_at(py), by = affine_at(py + (kWarpGroup - 1) * step_y), uy = last_y;
    if (!nearest && last_x > 0 && last_y > 0 && ax < ux && bx < ux && ay < uy && by < uy) inner(image, px, py, g);
    else border(image, px, py, g);
  }

 private:
  PENSTOCK_HD static inline float number(In v) { return number_of<In, float>(v); }

  // All taps are samples of the source.
  __device__ inline void inner(const In* image, int64_t px, int64_t py, Group& g) const {
    if constexpr (kBytePixels) {
      if (beside) {
        PENSTOCK_UNROLL
        for (int j = 0; j < kWarpGroup; ++j, px += step_x, py += step_y)
          byte_pixel(image + (affine_at(px) * Index(3) + affine_at(py) * sy), Blend(px, py), g[j]);
        return;
      }
    }
    PENSTOCK_UNROLL
    for (int j = 0; j < kWarpGroup; ++j, px += step_x, py += step_y) {
      const Blend blend(px, py);
      const In* corner = image + (affine_at(px) * sx + affine_at(py) * sy);
      for (int p = 0; p < kPlanes; ++p) {
        const In* at = corner + p * plane;
        g[j][p] = blend(number(at[0]), number(at[sx]), number(at[sy]), number(at[sx + sy]));
      }
    }
  }
  // The three planes of pixels of bytes that are contiguous.
  __device__ inline void byte_pixel(const uint8_t* corner, const Blend& blend, float (&to)[kPlanes]) const {
    if constexpr (kInIntegers) {
      blend_pairs(corner, corner + sy, blend.w, to);
    } else {
      const TwoWords upper = six_bytes_at(corner), lower = six_bytes_at(corner + sy);
      for (int p = 0; p < 3; ++p) {
        const float a = raw_byte(upper, p), b = raw_byte(upper, p + 3), c = raw_byte(lower, p),
                    d = raw_byte(lower, p + 3);
        to[p] = blend.rows(a - kRaw, b - a, c - kRaw, d - c);
      }
    }
  }
  // Some are not, or the nearest sample is taken.
  __device__ inline void border(const In* image, int64_t px, int64_t py, Group& g) const {
    for (int j = 0; j < kWarpGroup; ++j, px += step_x, py += step_y) {
      const int at_x = affine_at(px), at_y = affine_at(py);
      const int xa = clamp(at_x, 0, last_x), ya = clamp(at_y, 0, last_y);
      const bool fill_xa = border_fill && xa != at_x, fill_ya = border_fill && ya != at_y;
      const int xb = clamp(at_x + 1, 0, last_x), yb = clamp(at_y + 1, 0, last_y);
      const bool fill_xb = border_fill && xb != at_x + 1, fill_yb = border_fill && yb != at_y + 1;
      const auto tap = [&](bool fills, int x, int y, int p) {
        return fills ? outside : number(image[x * sx + y * sy + p * plane]);
      };
      if (nearest) {
        for (int p = 0; p < kPlanes; ++p) g[j][p] = tap(fill_xa || fill_ya, xa, ya, p);
      } else if ((fill_xa && fill_xb) || (fill_ya && fill_yb)) {
        for (int p = 0; p < kPlanes; ++p) g[j][p] = outside;
      } else {
        const Blend blend(px, py);
        for (int p = 0; p < kPlanes; ++p)
          g[j][p] = blend(tap(fill_xa || fill_ya, xa, ya, p), tap(fill_xb || fill_ya, xb, ya, p),
                          tap(fill_xa || fill_yb, xa, yb, p), tap(fill_xb || fill_yb, xb, yb, p));
      }
    }
  }
};

template <class Stage> __device__ inline void image_warp(const char* table) {
  using Index = typename Stage::Index;
  using Out = typename Stage::Out;
  constexpr int q = kWarpGroup, kX = Stage::kWarpX, kY = Stage::kWarpY;
  constexpr bool kFills = Stage::kRow.fills;
  const StageBlock<Stage> b(table);
  const typename Stage::Coefs coefs(b.coefs + b.row.head().coefs);
  const StageLoops<Stage> loops(b.row);
  const ImageWarp<Stage> warp(b, loops);
  const StageStore<Stage> store(b, kX);
  const Index width = loops.extent[kX], height = loops.extent[kY], lo = loops.lo[kX], hi = loops.hi[kX];
  WarpTiles<Index> tiles(width, height, b.begin + static_cast<Index>(threadIdx.x));
  for (Index i = b.begin + static_cast<Index>(threadIdx.x); i < b.end; i += static_cast<Index>(blockDim.x)) {
    Index x, y;
    tiles.place(i, x, y);
    if (x >= width || y >= height) continue;
    const typename Stage::template In<0>* image = b.in.own;
    Out* to = b.out + (y * loops.out[kY] + x * loops.out[kX]);
    bool row = !kFills || (y >= loops.lo[kY] && y < loops.hi[kY]);
    Index rest = tiles.outer;
    PENSTOCK_UNROLL
    for (int d = kY - 1; d >= 0; --d) {
      const Index place = d > 0 ? rest % loops.extent[d] : rest;
      rest /= loops.extent[d];
      image += place * loops.in[0][d], to += place * loops.out[d];
      if constexpr (kFills) row = row && place >= loops.lo[d] && place < loops.hi[d];
    }
    const int count = width - x < q ? static_cast<int>(width - x) : q;
    const auto reads = [&](int j) { return kFills ? row && x + j >= lo && x + j < hi : j < count; };
    typename ImageWarp<Stage>::Group g;
    warp.values(image, x, y, g);
    Out results[q][Stage::kOutPlanes];
    sampled_results<Stage, q>(
        coefs, b.fault,
        [&](int j, auto& source) {
          for (int p = 0; p < Stage::kPlanes; ++p) source[p] = g[j][p];
        },
        reads, results);
    const bool full = count == q && (!kFills || (row && x >= lo && x + q <= hi));
    store.group(to, count, full, [&](int j) { return !reads(j); }, results);
  }
}

}  // namespace penstock
