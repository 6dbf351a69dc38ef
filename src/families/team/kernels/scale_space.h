// SPDX-License-Identifier: Apache-2.0
// Teams that make a scale space, as ops/shared/scale_space.h on the CPU: the same sums in the same order.
#pragma once
#include "families/team/kernels/team.h"

namespace penstock {

struct PlaneCoef {
  int64_t height, width;  // of the result
  int64_t radius;         // of a window; for the first plane: whether it is expanded; else not read
};
// Where an octave is in the memory of a scale space, in numbers: layers + 3 planes.
struct OctavePlace {
  int64_t first;
  int32_t height, width;
  PENSTOCK_HD const float* plane(const void* memory, int32_t layer) const {
    return static_cast<const float*>(memory) + first + static_cast<int64_t>(layer) * height * width;
  }
};
struct SmallOctavesCoef {
  int64_t first, end;  // octaves
  int64_t places;      // bytes of the table before the windows
  int32_t layers;
  int32_t radii[21];  // of the window that makes layer k
};
constexpr int32_t kSumsTogether = 8;  // numbers that a thread computes from one window
PENSTOCK_HD constexpr int32_t padded_place(int32_t k) { return k + k / kSumsTogether; }  // no two lanes read one bank

constexpr int32_t kTileRow = padded_place(whole::kThreads);
constexpr int32_t kTileRadius = 64;  // the most of a window that is computed by tiles
// Tiles of kSumsTogether rows in which, with the columns beside them, each thread has a column.
struct BlurTiles {
  int32_t wide;    // columns of a tile
  int32_t across;  // tiles
  int32_t down;
  PENSTOCK_HD explicit BlurTiles(const PlaneCoef& c) {
    constexpr int32_t n = kSumsTogether;
    const int32_t width = static_cast<int32_t>(c.width);
    const int32_t most = (whole::kThreads - 2 * static_cast<int32_t>(c.radius)) / n * n;
    across = (width + most - 1) / most;
    wide = ((width + across - 1) / across + n - 1) / n * n;
    down = (static_cast<int32_t>(c.height) + n - 1) / n;
  }
};

}  // namespace penstock

namespace penstock::whole {

// The place in [0, n) that mirroring without the edge shows at any place.
PENSTOCK_KERNEL int32_t mirrored_at(int32_t at, int32_t n) {
  if (at >= 0 && at < n) return at;
  if (n == 1) return 0;
  const int32_t period = 2 * (n - 1), r = (at % period + period) % period;
  return r < n ? r : period - r;
}

// Units are pixels. Twice the size: a pixel is 3/4 of the nearest one and 1/4 of the next one, along both axes.
template <class Team>
PENSTOCK_KERNEL void floats_of_bytes(const uint8_t* from, float* to, const PlaneCoef& c, const Team& team) {
  const bool expanded = c.radius != 0;
  const int32_t wide = static_cast<int32_t>(c.width), height = static_cast<int32_t>(expanded ? c.height / 2 : c.height);
  const int32_t width = expanded ? wide / 2 : wide;
  for (int32_t i = static_cast<int32_t>(team.begin) + team.index; i < team.end; i += team.count) {
    if (!expanded) {
      to[i] = from[i];
      continue;
    }
    const int32_t y = i / wide, x = i - y * wide, column = x / 2;
    const uint8_t* const near = from + y / 2 * width;
    const uint8_t* const next = from + clamp(y / 2 + (y % 2 ? 1 : -1), 0, height - 1) * width;
    const int32_t beside = clamp(column + (x % 2 ? 1 : -1), 0, width - 1);
    const float own = static_cast<float>(near[column]) * 0.75f + static_cast<float>(next[column]) * 0.25f;
    const float other = static_cast<float>(near[beside]) * 0.75f + static_cast<float>(next[beside]) * 0.25f;
    to[i] = own * 0.75f + other * 0.25f;
  }
}
template <class Team>
PENSTOCK_KERNEL void half_size(const float* from, int64_t from_width, float* to, const PlaneCoef& c, const Team& team) {
  const int32_t width = static_cast<int32_t>(c.width), stride = static_cast<int32_t>(from_width);
  for (int32_t i = static_cast<int32_t>(team.begin) + team.index; i < team.end; i += team.count) {
    const int32_t y = i / width, x = i - y * width;
    to[i] = from[2 * y * stride + 2 * x];
  }
}

// kSumsTogether sums of a symmetric window, each from the middle on. at(j) is the number at place j; 0 is that of the
// first sum. So many steps are written one after the other.
template <int times, class At>
PENSTOCK_KERNEL void sum_together(const At& at, const float* taps, int32_t radius, float (&sum)[kSumsTogether]) {
  float before[kSumsTogether], after[kSumsTogether];
  PENSTOCK_UNROLL
  for (int32_t j = 0; j < kSumsTogether; ++j) {
    before[j] = at(j);
    after[j] = before[j];
    sum[j] = before[j] * taps[0];
  }
  PENSTOCK_UNROLL_BY(times)
  for (int32_t k = 1; k <= radius; ++k) {
    const float tap = taps[k];
    PENSTOCK_UNROLL
    for (int32_t j = kSumsTogether - 1; j > 0; --j) before[j] = before[j - 1];
    before[0] = at(-k);
    PENSTOCK_UNROLL
    for (int32_t j = 0; j < kSumsTogether - 1; ++j) after[j] = after[j + 1];
    after[kSumsTogether - 1] = at(kSumsTogether - 1 + k);
    PENSTOCK_UNROLL
    for (int32_t j = 0; j < kSumsTogether; ++j) sum[j] += (before[j] + after[j]) * tap;
  }
}
// Those of a column, of rows from y on.
PENSTOCK_KERNEL void sum_column(const float* column, int32_t y, int32_t height, int32_t width, const float* taps,
                                int32_t radius, float (&sum)[kSumsTogether]) {
  const float* const own = column + y * width;
  if (y >= radius && y + kSumsTogether + radius <= height)
    sum_together<4>([&](int32_t j) { return own[j * width]; }, taps, radius, sum);
  else sum_together<1>([&](int32_t j) { return column[mirrored_at(y + j, height) * width]; }, taps, radius, sum);
}
// Units are columns of kSumsTogether rows.
template <class Team>
PENSTOCK_KERNEL void blur_down(const float* from, float* to, const float* taps, const PlaneCoef& c, const Team& team) {
  const int32_t width = static_cast<int32_t>(c.width), height = static_cast<int32_t>(c.height);
  const int32_t radius = static_cast<int32_t>(c.radius);
  for (int32_t u = static_cast<int32_t>(team.begin) + team.index; u < team.end; u += team.count) {
    const int32_t group = u / width, x = u - group * width, y = group * kSumsTogether;
    float sum[kSumsTogether];
    sum_column(from + x, y, height, width, taps, radius, sum);
    PENSTOCK_UNROLL
    for (int32_t j = 0; j < kSumsTogether; ++j) {
      if (y + j < height) to[(y + j) * width + x] = sum[j];
    }
  }
}
// Units are parts of rows of kSumsTogether numbers.
template <class Team>
PENSTOCK_KERNEL void blur_parts(const float* from, float* to, const float* taps, const PlaneCoef& c, const Team& team) {
  const int32_t width = static_cast<int32_t>(c.width), radius = static_cast<int32_t>(c.radius);
  const int32_t parts = (width + kSumsTogether - 1) / kSumsTogether;
  for (int32_t u = static_cast<int32_t>(team.begin) + team.index; u < team.end; u += team.count) {
    const int32_t y = u / parts, x = (u - y * parts) * kSumsTogether;
    float sum[kSumsTogether];
    const float* const row = from + y * width;
    sum_together<1>([&](int32_t j) { return row[mirrored_at(x + j, width)]; }, taps, radius, sum);
    PENSTOCK_UNROLL
    for (int32_t j = 0; j < kSumsTogether; ++j) {
      if (x + j < width) to[y * width + x + j] = sum[j];
    }
  }
}
// Units are tiles of kSumsTogether rows, one under the other, for a whole team each: down into shared memory, then
// across.
template <class Team>
PENSTOCK_KERNEL void blur_tiles(const float* from, float* to, const float* taps, const PlaneCoef& c, const Team& team) {
  const int32_t width = static_cast<int32_t>(c.width), height = static_cast<int32_t>(c.height);
  const int32_t radius = static_cast<int32_t>(c.radius);
  const BlurTiles tiles(c);
  constexpr int32_t kLanes = kThreads / kSumsTogether;  // that share a row
  float* const tile = reinterpret_cast<float*>(team.memory());
  float* const made = tile + kSumsTogether * kTileRow;
  for (int32_t u = static_cast<int32_t>(team.begin); u < team.end; ++u) {
    const int32_t column = u / tiles.down, y = (u - column * tiles.down) * kSumsTogether, first = column * tiles.wide;
    const int32_t count = min(tiles.wide, width - first);
    float sum[kSumsTogether];
    for (int32_t k = team.index; k < tiles.wide + 2 * radius; k += team.count) {
      sum_column(from + mirrored_at(first - radius + k, width), y, height, width, taps, radius, sum);
      PENSTOCK_UNROLL
      for (int32_t j = 0; j < kSumsTogether; ++j) tile[j * kTileRow + padded_place(k)] = sum[j];
    }
    team.sync();
    for (int32_t p = team.index; p < kThreads; p += team.count) {
      const int32_t part = p % kLanes * kSumsTogether, row = p / kLanes * kTileRow + padded_place(part);
      if (part >= count) continue;
      sum_together<4>([&](int32_t j) { return tile[row + padded_place(radius + j)]; }, taps, radius, sum);
      PENSTOCK_UNROLL
      for (int32_t j = 0; j < kSumsTogether; ++j) made[row + j] = sum[j];
    }
    team.sync();
    for (int32_t k = team.index; k < kSumsTogether * kThreads; k += team.count) {
      const int32_t v = k / kThreads, x = k % kThreads;
      if (x < count && y + v < height) to[(y + v) * width + first + x] = made[v * kTileRow + padded_place(x)];
    }
  }
}

// One team: octaves [first, end) from the one before, plane by plane. The table has the windows, one after the other.
template <class Team>
PENSTOCK_KERNEL void smooth_small_octaves(void* planes, float* through, const OctavePlace* places, const float* table,
                                          const SmallOctavesCoef& c, const Team& team) {
  Team all = team;
  all.begin = 0;
  for (int64_t o = c.first; o < c.end; ++o) {
    const OctavePlace place = places[o], before = places[o - 1];
    PlaneCoef plane{place.height, place.width, 0};
    const auto layer = [&](int32_t k) { return const_cast<float*>(place.plane(planes, k)); };
    all.end = plane.height * plane.width;
    half_size(before.plane(planes, c.layers), before.width, layer(0), plane, all);
    team.sync();
    const float* taps = table;
    for (int32_t k = 1; k < c.layers + 3; ++k) {
      plane.radius = c.radii[k];
      all.end = (plane.height + kSumsTogether - 1) / kSumsTogether * plane.width;
      blur_down(layer(k - 1), through, taps, plane, all);
      team.sync();
      all.end = (plane.width + kSumsTogether - 1) / kSumsTogether * plane.height;
      blur_parts(through, layer(k), taps, plane, all);
      team.sync();
      taps += plane.radius + 1;
    }
  }
}

}  // namespace penstock::whole
