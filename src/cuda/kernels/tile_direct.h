// SPDX-License-Identifier: Apache-2.0
// Tiles after at most two taps each way: every output reads its samples from the source itself.
#pragma once
#include "cuda/kernels/pixel_words.h"
#include "cuda/kernels/tile_sizes.h"
#include "cuda/kernels/tiles.h"

namespace penstock {

// Any such tile.
template <class Stage> struct DirectTaps {
  typedef typename Stage::Index Index;
  typedef typename Stage::template In<0> In;
  typedef StageTile<Stage> Tile;
  static constexpr int kPlanes = Stage::kPlanes;

  const Tile& t;
  const TapsOfTile<Stage>& taps;

  // The source's value of one output of the tile, in all planes.
  __device__ inline void filter(int x, int y, int j, typename Stage::SourceNumber (&source)[kPlanes]) const {
    int tap_x, tap_y;
    if (!t.tap_place(x, y, j, tap_x, tap_y)) {
      for (int p = 0; p < kPlanes; ++p) source[p] = 0;
      return;
    }
    const Index corner =
        static_cast<Index>(taps.first_y[tap_y]) * t.step_y + static_cast<Index>(taps.first_x[tap_x]) * t.step_x;
    const float wy0 = taps.weight_y[tap_y], wy1 = t.ty.taps.taps > 1 ? taps.weight_y[t.ny + tap_y] : 0.0f;
    const float wx0 = taps.weight_x[tap_x], wx1 = t.tx.taps.taps > 1 ? taps.weight_x[t.nx + tap_x] : 0.0f;
    if constexpr (Tile::kBytes && kPlanes == 3 && !Stage::kRow.picks_planes) {
      if (t.beside() && t.tx.taps.taps > 1) {
        pixels(corner, wx0, wx1, wy0, wy1, source);
        return;
      }
    }
    if constexpr (Tile::kFrames && !Stage::kRow.picks_planes) {
      if (t.reads_pixels()) return frame_pixels(corner, wx0, wx1, rows_of(wy0, wy1), source);
    }
    // All samples are requested before one is used.
    const Rows rows = rows_of(wy0, wy1);
    float left[kPlanes], right[kPlanes];
    const bool pairs = t.tx.taps.taps > 1;
    PENSTOCK_UNROLL
    for (int p = 0; p < kPlanes; ++p) {
      const Index q = corner + t.plane(p);
      left[p] = column(q, rows);
      right[p] = pairs ? column(q + t.step_x, rows) : 0.0f;
    }
    PENSTOCK_UNROLL
    for (int p = 0; p < kPlanes; ++p) Tile::set(source[p], pairs ? fma(wx1, right[p], wx0 * left[p]) : wx0 * left[p]);
  }

 private:
  // Two neighbors of two rows, three bytes each.
  __device__ inline void pixels(Index corner, float wx0, float wx1, float wy0, float wy1,
                                typename Stage::SourceNumber (&source)[kPlanes]) const {
    // Of one tap down the second row is the first again, with the weight 0.
    const uint8_t* low = t.in + corner + (t.step_x < 0 ? t.step_x : 0);
    float a[3], b[3], c[3], d[3];
    pixels_at(low, a, b);
    pixels_at(low + (t.ty.taps.taps > 1 ? t.step_y : 0), c, d);
    PENSTOCK_UNROLL
    for (int p = 0; p < 3; ++p) {
      const float left = fma(wy1, c[p], wy0 * a[p]), right = fma(wy1, d[p], wy0 * b[p]);
      const float first = t.step_x < 0 ? right : left, second = t.step_x < 0 ? left : right;
      Tile::set(source[p], fma(wx1, second, wx0 * first));
    }
  }
  // Where a sample and the one below it are, and their weights. `single`: there is one of them, both offsets are its.
  struct Rows {
    Index first, second;
    float w0, w1;
    bool single;
  };
  __device__ inline Rows rows_of(float wy0, float wy1) const {
    const bool two = t.ty.taps.taps > 1;
    if constexpr (std::is_floating_point_v<In> || kStoresFloat<In>) {
      // A tap of weight zero is left out, as the CPU leaves it out: it may be no number.
      const bool upper = !two || wy1 == 0, lower = !upper && wy0 == 0;
      return {lower ? t.step_y : 0, upper ? 0 : t.step_y, lower ? wy1 : wy0, wy1, upper || lower};
    }
    return {0, two ? t.step_y : 0, wy0, wy1, !two};
  }
  // Up to two neighbors of two rows, each converted once for all its channels.
  __device__ inline void frame_pixels(Index corner, float wx0, float wx1, const Rows& rows,
                                      typename Stage::SourceNumber (&source)[kPlanes]) const {
    float left[kPlanes], right[kPlanes] = {};
    const bool pairs = t.tx.taps.taps > 1;
    frame_column(corner, rows, left);
    if (pairs) frame_column(corner + t.step_x, rows, right);
    PENSTOCK_UNROLL
    for (int p = 0; p < kPlanes; ++p) Tile::set(source[p], pairs ? fma(wx1, right[p], wx0 * left[p]) : wx0 * left[p]);
  }
  __device__ inline void frame_column(Index at, const Rows& rows, float (&to)[kPlanes]) const {
    float second[kPlanes];
    t.in.pixel(at + rows.first, to);
    PENSTOCK_UNROLL
    for (int p = 0; p < kPlanes; ++p) to[p] *= rows.w0;
    if (rows.single) return;
    t.in.pixel(at + rows.second, second);
    PENSTOCK_UNROLL
    for (int p = 0; p < kPlanes; ++p) to[p] = fma(rows.w1, second[p], to[p]);
  }
  __device__ inline float column(Index at, const Rows& rows) const {
    const float first = rows.w0 * Tile::number(t.in[at + rows.first]), second = Tile::number(t.in[at + rows.second]);
    return rows.single ? first : fma(rows.w1, second, first);
  }
};

// Two taps each way of pixels of bytes, as random crops have them. A thread makes the same neighboring columns of
// several rows: their taps stay in registers, and all words of a group are requested before one is used.
template <class Stage> struct PixelPairs {
  typedef typename Stage::Index Index;
  typedef StageTile<Stage> Tile;
  static constexpr int kLinear = static_cast<int>(FilterKind::linear);
  static constexpr bool kPossible = Tile::kBytes && Stage::kPlanes == 3 && !Stage::kRow.picks_planes && !Tile::kFills &&
                                    sizeof(Index) == 4 && Stage::kFilterX == kLinear && Stage::kFilterY == kLinear;
  static constexpr int kGroup = 4, kMost = kDirectWidth / kGroup;

  const Tile& t;
  const TapsOfTile<Stage>& taps;
  uint32_t lead;        // bytes from an aligned address to the source
  const uint8_t* base;  // that address
  int whole;            // how full groups are stored
  // The columns of a group: offsets of bytes from that address, weights.
  struct Columns {
    uint32_t at[kGroup];
    float wx0[kGroup], wx1[kGroup];
  };

  __device__ inline PixelPairs(const Tile& tile, const TapsOfTile<Stage>& of_tile)
      : t(tile),
        taps(of_tile),
        lead(static_cast<uint32_t>(reinterpret_cast<uint64_t>(t.in) & 3)),
        base(t.in - lead),
        whole(t.store.template whole<kGroup>(t.out, t.row_out)) {}

  __device__ inline void make() const {
    // Tiles at the right may be narrow: their threads take more rows.
    const int across = blockDim.x < kMost ? 1 : kMost >> (t.nx <= kDirectWidth / 2 ? 1 : 0), down = blockDim.x / across;
    for (int x = threadIdx.x % across * kGroup; x < t.nx; x += across * kGroup) {
      const int count = t.nx - x < kGroup ? t.nx - x : kGroup;
      Columns of;
      PENSTOCK_UNROLL
      for (int j = 0; j < kGroup; ++j) {
        const int tap = j < count ? x + j : t.nx - 1;
        of.at[j] = lead + static_cast<uint32_t>(taps.first_x[tap] * 3);
        of.wx0[j] = taps.weight_x[tap] * kReduce, of.wx1[j] = taps.weight_x[t.nx + tap] * kReduce;
      }
      for (int y = threadIdx.x / across; y < t.ny; y += down) group(x, y, count, of);
    }
  }

 private:
  __device__ inline void group(int x, int y, int count, const Columns& of) const {
    const uint32_t upper = static_cast<uint32_t>(taps.first_y[y] * t.step_y),
                   lower = upper + static_cast<uint32_t>(t.step_y);
    PixelWords words[kGroup];
    PENSTOCK_UNROLL
    for (int j = 0; j < kGroup; ++j) words[j] = pixel_words(base, upper + of.at[j], lower + of.at[j]);
    const float wy0 = taps.weight_y[y] * kEnlarge, wy1 = taps.weight_y[t.ny + y] * kEnlarge;
    typename Stage::Out* to = t.out + ((t.x0 + x) * t.store.x + (t.y0 + y) * t.row_out);
    typename Stage::Out results[kGroup][Stage::kOutPlanes];
    sampled_results<Stage, kGroup>(
        t.coefs, t.block.fault,
        [&](int j, typename Stage::SourceNumber(&source)[Stage::kPlanes]) {
          const TwoWords u = six_bytes(words[j].upper, upper + of.at[j]),
                         l = six_bytes(words[j].lower, lower + of.at[j]);
          PENSTOCK_UNROLL
          for (int p = 0; p < 3; ++p) {
            const float left = fma(wy1, small_byte(l, p), wy0 * small_byte(u, p));
            const float right = fma(wy1, small_byte(l, p + 3), wy0 * small_byte(u, p + 3));
            Tile::set(source[p], fma(of.wx1[j], right, of.wx0[j] * left));
          }
        },
        [&](int j) { return j < count; }, results, NumbersToHalves());
    const bool full = count == kGroup;
    if (whole && full) store_whole(to, t.store.plane, whole, results);
    else t.store.group(to, count, full, [](int) { return false; }, results);
  }
};

template <class Stage> __device__ inline void tile_direct(const char* table) {
  const StageTile<Stage> t(table);
  const TapsOfTile<Stage> taps(t);
  if constexpr (PixelPairs<Stage>::kPossible) {
    if (t.tx.taps.taps == 2 && t.ty.taps.taps == 2 && t.plane_in == 1 && t.step_x == 3 && t.step_y > 0) {
      PixelPairs<Stage>(t, taps).make();
      return;
    }
  }
  const DirectTaps<Stage> direct{t, taps};
  t.template groups<kReadTogether<Stage>>(0, t.ny,
                                          [&](int x, int y, int j, auto& source) { direct.filter(x, y, j, source); });
}

}  // namespace penstock
