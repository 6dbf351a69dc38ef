// SPDX-License-Identifier: Apache-2.0
// What an affine map of an image reads for a thread's outputs. Positions are integers (pixel/affine.h); outputs whose
// taps are all inside read without asking, pixels of bytes as aligned words. Bytes that become bytes again are blended
// in integers.
#pragma once
#include "cuda/kernels/byte_pairs.h"
#include "cuda/kernels/stage_group.h"
#include "cuda/kernels/stage_loops.h"
#include "cuda/kernels/warp_shape.h"
#include "launch/word_runs.h"

namespace penstock {

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
  static constexpr bool kNearest = Stage::kNearest, kInIntegers = Stage::kSourceStaysBytes,
                        kBytePixels = std::is_same_v<In, uint8_t> && kPlanes == 3,
                        kWordPixels = sizeof(In) == 4 && kPlanes == 3 && !kNearest;

  double m[6];
  int last_x, last_y;   // the source's last sample
  Index sx, sy, plane;  // its strides
  float outside;
  bool border_fill, near;
  bool beside;  // pixels are contiguous; of words, rows are not closer than what read_words() has beside them
  int64_t step_x, step_y;

  __device__ inline ImageWarp(const StageBlock<Stage>& b, const StageLoops<Stage>& loops)
      : sx(loops.in[0][Stage::kWarpX]), sy(loops.in[0][Stage::kWarpY]), plane(loops.plane_in[0]) {
    for (int k = 0; k < 6; ++k) m[k] = b.row.warp().m[k];
    const WarpSource& read = b.row.warp().source;
    last_x = static_cast<int>(read.extent[0]) - 1, last_y = static_cast<int>(read.extent[1]) - 1;
    outside = *reinterpret_cast<const float*>(b.table + read.fill);
    border_fill = read.border_fill != 0, near = read.near != 0;
    beside = plane == 1 && sx == kPlanes && (!kWordPixels || sy >= kPlanes || -sy >= kPlanes);
    step_x = affine_step(m[0]), step_y = affine_step(m[3]);
  }

  // The source's values at the outputs from (x, y) on, kWarpAcross apart; `image` is its first element.
  __device__ inline void values(const In* image, Index x, Index y, Group& g) const {
    const int past = static_cast<int>(x % kAffineRun);
    constexpr double shift = kNearest ? 0.0 : 0.5;
    int64_t px, py;
    if (near) {
      px = affine_begin<Index>(m, 2, 0, x, y, 0, shift, 0.0), py = affine_begin<Index>(m, 2, 1, x, y, 0, shift, 0.0);
    } else {
      px = affine_begin<Index>(m, 2, 0, x, y, 0, shift), py = affine_begin<Index>(m, 2, 1, x, y, 0, shift);
    }
    px += past * step_x, py += past * step_y;
    if constexpr (kInIntegers && !kNearest) px += kAffineByteHalf, py += kAffineByteHalf;
    // The last samples that may be the first of an output's taps; -1: none. Of words the first row and the last one are
    // left to border().
    const int ux = last_x - !kNearest, uy = last_y - !kNearest - kWordPixels;
    if (inside(px, step_x, 0, ux) && inside(py, step_y, kWordPixels, uy)) {
      if (beside) inner<true>(image, px, py, g);
      else inner<false>(image, px, py, g);
    } else {
      border(image, px, py, g);
    }
  }

 private:
  static constexpr int kHop = kWarpAcross;

  PENSTOCK_HD static inline float number(In v) { return number_of<In, float>(v); }
  // Whether all outputs that begin at a position have samples [first, last].
  PENSTOCK_HD static inline bool inside(int64_t position, int64_t step, int first, int last) {
    const int a = affine_at(position), b = affine_at(position + (kWarpGroup - 1) * kHop * step);
    return (a >= first) & (a <= last) & (b >= first) & (b <= last);
  }
  // The position of the next output. The one after the last is not used, and may wrap.
  PENSTOCK_HD static inline int64_t next(int64_t position, int64_t step) {
    return static_cast<int64_t>(static_cast<uint64_t>(position) + static_cast<uint64_t>(kHop * step));
  }
  // All taps are samples of the source.
  template <bool packed> __device__ inline void inner(const In* image, int64_t px, int64_t py, Group& g) const {
    const Index hop = packed ? Index(kPlanes) : sx, apart = packed ? Index(1) : plane;
    PENSTOCK_UNROLL
    for (int j = 0; j < kWarpGroup; ++j, px = next(px, step_x), py = next(py, step_y)) {
      const In* corner = image + (affine_at(px) * hop + affine_at(py) * sy);
      if constexpr (kNearest) {
        for (int p = 0; p < kPlanes; ++p) g[j][p] = number(corner[p * apart]);
      } else if constexpr (kBytePixels && packed) {
        byte_pixel(corner, Blend(px, py), g[j]);
      } else if constexpr (kWordPixels && packed) {
        word_pixel(corner, Blend(px, py), g[j]);
      } else {
        const Blend blend(px, py);
        for (int p = 0; p < kPlanes; ++p) {
          const In* at = corner + p * apart;
          g[j][p] = blend(number(at[0]), number(at[hop]), number(at[sy]), number(at[sy + hop]));
        }
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
  __device__ inline void word_pixel(const In* corner, const Blend& blend, float (&to)[kPlanes]) const {
    uint32_t upper[2 * kPlanes], lower[2 * kPlanes];
    read_words(corner, upper), read_words(corner + sy, lower);
    const auto at = [](uint32_t word) { return number(std::bit_cast<In>(word)); };
    for (int p = 0; p < kPlanes; ++p)
      to[p] = blend(at(upper[p]), at(upper[p + kPlanes]), at(lower[p]), at(lower[p + kPlanes]));
  }
  // Some are not.
  __device__ inline void border(const In* image, int64_t px, int64_t py, Group& g) const {
    for (int j = 0; j < kWarpGroup; ++j, px = next(px, step_x), py = next(py, step_y)) {
      const int at_x = affine_at(px), at_y = affine_at(py);
      const int xa = clamp(at_x, 0, last_x), ya = clamp(at_y, 0, last_y);
      const bool fill_xa = border_fill && xa != at_x, fill_ya = border_fill && ya != at_y;
      const int xb = clamp(at_x + 1, 0, last_x), yb = clamp(at_y + 1, 0, last_y);
      const bool fill_xb = border_fill && xb != at_x + 1, fill_yb = border_fill && yb != at_y + 1;
      const auto tap = [&](bool fills, int x, int y, int p) {
        return fills ? outside : number(image[x * sx + y * sy + p * plane]);
      };
      if constexpr (kNearest) {
        for (int p = 0; p < kPlanes; ++p) g[j][p] = tap(fill_xa || fill_ya, xa, ya, p);
      } else if ((fill_xa && fill_xb) || (fill_ya && fill_yb)) {
        for (int p = 0; p < kPlanes; ++p) g[j][p] = outside;
      } else if (border_fill && !(outside - outside == 0)) {  // see affine_cover.h
        const bool covers = fill_xa || fill_ya || (fill_xb && affine_weight<float>(px) != 0) ||
                            (fill_yb && affine_weight<float>(py) != 0);
        const Blend blend(px, py);
        for (int p = 0; p < kPlanes; ++p)
          g[j][p] = covers ? outside
                           : blend(tap(false, xa, ya, p), tap(false, xb, ya, p), tap(false, xa, yb, p),
                                   tap(false, xb, yb, p));
      } else {
        const Blend blend(px, py);
        for (int p = 0; p < kPlanes; ++p)
          g[j][p] = blend(tap(fill_xa || fill_ya, xa, ya, p), tap(fill_xb || fill_ya, xb, ya, p),
                          tap(fill_xa || fill_yb, xa, yb, p), tap(fill_xb || fill_yb, xb, yb, p));
      }
    }
  }
};

}  // namespace penstock
