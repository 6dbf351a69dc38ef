// SPDX-License-Identifier: Apache-2.0
// Convolutions of few taps whose results are bytes again. What neighbors are does not matter then: a lane takes kOwn
// bytes of a row, wherever pixels begin. A warp goes down a strip of the image, kRows rows at once: the source's rows
// come to shared memory on their own, some rows ahead, each lane reads back what it asked for, converts each byte once
// for all rows that it belongs to, and filters the sums horizontally with what the lanes beside have, by shuffles. The
// first and the last lane only serve their neighbors. The weights are in registers that a warp's threads share. Rows
// with folded taps have weights of their own; columns with folded taps are made again when all is stored.
#include "cuda/kernels/emit_tiled.h"

namespace penstock {

namespace {
// Where a tile has outputs without folded taps: [left, right) x [top, bottom).
constexpr const char* kPlaces = R"(
  const Index wx = static_cast<Index>(tx.begin) + x0, wy = static_cast<Index>(ty.begin) + y0;
  const int in_x = static_cast<int>(tx.taps.in), in_y = static_cast<int>(ty.taps.in);
  const bool small = in_x < kTapsX || in_y < kTapsY;
  auto inside = [](int n, int in, int taps, Index from, int* low, int* high) {
    const Index begin = taps / 2 - from, end = in - taps / 2 - from;
    *low = in < taps || begin > n ? n : begin > 0 ? static_cast<int>(begin) : 0;
    *high = in < taps || end < *low ? *low : end < n ? static_cast<int>(end) : n;
  };
  int left, right, top, bottom;
  inside(nx, in_x, kTapsX, wx, &left, &right);
  inside(ny, in_y, kTapsY, wy, &top, &bottom);
  const int fx = left + nx - right, fy = top + ny - bottom;
)";

constexpr const char* kStreamed = R"(
  {
  PENSTOCK_SHARED(OwnWords<kOwn>, words_of_all);
  float* weights_of_rows = reinterpret_cast<float*>(words_of_all + kWarps * kSlots * 32);
  float* folded_x = weights_of_rows + kWarps * kTapsY;
  int32_t* first_x = reinterpret_cast<int32_t*>(folded_x + fx * kTapsX);
  if (fx > 0) {
    tile_taps<kFilterX>(tx.taps, wx, 1, left, fx, first_x, folded_x);
    tile_taps<kFilterX>(tx.taps, wx + right, 1, nx - right, fx, first_x + left, folded_x + left);
  }
  float weight_x[kTapsX] = {1.0f}, weight_y[kTapsY] = {1.0f};
  PENSTOCK_UNROLL
  for (int t = 0; t < kTapsX; ++t) weight_x[t] = of_warp((kTapsX > 1 ? tx.taps.window[t] : 1.0f) * kReduce);
  PENSTOCK_UNROLL
  for (int t = 0; t < kTapsY; ++t) weight_y[t] = of_warp((kTapsY > 1 ? ty.taps.window[t] : 1.0f) * kEnlarge);
  // Bytes of the source's row, where in it lane 0 begins, and of the tile's row.
  const int bytes = in_x * kPlanes, origin = static_cast<int>(wx) * kPlanes - kOwn, made = nx * kPlanes;
  const uint8_t* begin = in0 + origin;
  uint8_t* corner = out + (x0 * os_x + y0 * os_y);
  const bool plain = interleaved && ((reinterpret_cast<uint64_t>(begin) | step_y | reinterpret_cast<uint64_t>(corner) |
      os_y | bytes | made) & (kOwn - 1)) == 0;
  auto go = [&](auto known) {
  constexpr bool easy = decltype(known)::value;  // every lane's bytes are an aligned vector, all in the row or none
  // What the lanes have of a row of sums becomes bytes of the output's row y.
  auto finish = [&](const auto& done, uint8_t* row_to) {
    OwnWords<kOwn> words[kOwnLanes];
    for (int u = 0; u < kOwnLanes; ++u) {
      float near[kOwn + 2 * kSide], result[kOwn];
      PENSTOCK_UNROLL
      for (int b = 0; b < kSide; ++b)
        near[b] = of_lane(done[kOwn - kSide + b], u, -1), near[kOwn + kSide + b] = of_lane(done[b], u, 1);
      PENSTOCK_UNROLL
      for (int b = 0; b < kOwn; ++b) near[kSide + b] = done[b][u];
      PENSTOCK_UNROLL
      for (int b = 0; b < kOwn; ++b) {
        float sum = weight_x[0] * near[b];
        PENSTOCK_UNROLL
        for (int t = 1; t < kTapsX; ++t) sum = fma(weight_x[t], near[b + t * kPlanes], sum);
        result[b] = sum + 12582912.0f;
      }
      PENSTOCK_UNROLL
      for (int k = 0; k < kOwn / 4; ++k)
        words[u].v[k] = low_bytes(result[4 * k], result[4 * k + 1], result[4 * k + 2], result[4 * k + 3]);
    }
    if (easy) {
      for (int u = 0; u < kOwnLanes; ++u) {
        const int at = (lane_of(u) - 1) * kOwn;
        if (at >= 0 && at < made && at < 30 * kOwn) *reinterpret_cast<OwnWords<kOwn>*>(row_to + at) = words[u];
      }
      return;
    }
    const int low = left * kPlanes, high = right * kPlanes;
    uint32_t last[kOwnLanes];
    for (int u = 0; u < kOwnLanes; ++u) last[u] = words[u].v[kOwn / 4 - 1];
    for (int u = 0; u < kOwnLanes; ++u) {
      const int at = (lane_of(u) - 1) * kOwn;
      uint32_t word = of_lane(last, u, -1);
      if (at < 0) continue;
      if (interleaved) {  // by aligned words, the first of which may begin in the lane before
        const int by = static_cast<int>(reinterpret_cast<uint64_t>(row_to + at) & 3);
        PENSTOCK_UNROLL
        for (int k = 0; k < kOwn / 4; ++k) {
          const uint32_t next = words[u].v[k], all = by ? shifted(word, next, 32 - 8 * by) : next;
          const int b = at + 4 * k - by;
          word = next;
          if (b >= low && b + 4 <= high) *reinterpret_cast<uint32_t*>(row_to + b) = all;
          else
            for (int c = 0; c < 4; ++c)
              if (b + c >= low && b + c < high) row_to[b + c] = static_cast<uint8_t>(all >> 8 * c);
        }
      } else {
        PENSTOCK_UNROLL
        for (int k = 0; k < kOwn; ++k)
          if (at + k >= low && at + k < high)
            row_to[(at + k) / kPlanes * os_x + (at + k) % kPlanes * pos] =
                static_cast<uint8_t>(words[u].v[k / 4] >> k % 4 * 8);
      }
    }
  };
  // Sums of a row begin with tap t = 0.
  auto add_row = [&](const auto& raw, uint32_t by, auto&& add) {
    for (int u = 0; u < kOwnLanes; ++u) {
      uint32_t words[kOwn / 4];
      const bool turn = !easy && by != 0;
      const uint32_t last = turn ? of_lane(raw[0], u, 1) : 0;
      PENSTOCK_UNROLL
      for (int k = 0; k < kOwn / 4; ++k)
        words[k] = turn ? shifted(raw[k][u], k + 1 < kOwn / 4 ? raw[k + 1 < kOwn / 4 ? k + 1 : k][u] : last, by)
                        : raw[k][u];
      PENSTOCK_UNROLL
      for (int b = 0; b < kOwn; ++b) add(b, u, small_byte(words[b / 4], b % 4));
    }
  };
  const uint32_t step_bits = static_cast<uint32_t>(step_y) * 8;
  for (int strip = of_warp(static_cast<int>(threadIdx.x / 32)); strip * band < ny;
       strip += static_cast<int>(blockDim.x + 31) / 32) {
    const int from = strip * band, to = from + band < ny ? from + band : ny;
    const int y1 = from < top ? (top < to ? top : to) : from, y2 = to < bottom ? to : bottom > y1 ? bottom : y1;
    const int n = y2 - y1 + kTapsY - 1;  // rows of the source
    const uint8_t* first_row = begin + (wy + y1 - kTapsY / 2) * step_y;
    const uint32_t first_bits = static_cast<uint32_t>(reinterpret_cast<uint64_t>(first_row)) * 8;
    OwnWords<kOwn> (*slots)[32] = reinterpret_cast<OwnWords<kOwn> (*)[32]>(words_of_all) + strip % kWarps * kSlots;
    int offset[kOwnLanes];  // lanes beside the row read what is in it: their sums count nowhere
    for (int u = 0; u < kOwnLanes; ++u)
      offset[u] = easy ? clamp(origin + lane_of(u) * kOwn, 0, bytes - kOwn) - origin : lane_of(u) * kOwn;
    auto fetch = [&](int r) {
      const uint8_t* row = first_row + (r < n ? r : n - 1) * step_y;
      for (int u = 0; u < kOwnLanes; ++u) {
        if (easy) fetch_words(&slots[r % kSlots][lane_of(u)], row + offset[u]);
        else fetch_some(&slots[r % kSlots][lane_of(u)], row + offset[u], origin + offset[u], bytes);
      }
    };
    if (y1 < y2) {
      PENSTOCK_UNROLL
      for (int r = 0; r < kSpan; ++r) fetch(r);
      end_fetch();
    }
    for (int r = 0; r < y2 - y1; r += kRows) {
      PENSTOCK_UNROLL
      for (int d = 0; d < kRows; ++d) fetch(r + kSpan + d);
      end_fetch();
      wait_for_fetched<1>();
      float done[kRows][kOwn][kOwnLanes];
      PENSTOCK_UNROLL
      for (int t = 0; t < kSpan; ++t) {
        uint32_t raw[kOwn / 4][kOwnLanes];
        for (int u = 0; u < kOwnLanes; ++u) {
          const OwnWords<kOwn> w = slots[(r + t) % kSlots][lane_of(u)];
          PENSTOCK_UNROLL
          for (int k = 0; k < kOwn / 4; ++k) raw[k][u] = w.v[k];
        }
        add_row(raw, (first_bits + (r + t) * step_bits) & 24, [&](int b, int u, float value) {
          PENSTOCK_UNROLL
          for (int k = 0; k < kRows; ++k) {
            if (t == k) done[k][b][u] = weight_y[0] * value;
            else if (t > k && t - k < kTapsY) done[k][b][u] = fma(weight_y[t - k], value, done[k][b][u]);
          }
        });
      }
      PENSTOCK_UNROLL
      for (int k = 0; k < kRows; ++k)
        if (r + k < y2 - y1) finish(done[k], corner + (y1 + r + k) * os_y);
    }
    for (int y = from; y < to; ++y) {  // rows with folded taps
      if (y >= top && y < bottom) y = bottom;
      if (y >= to) break;
      const Index first = clamp<Index>(wy + y - kTapsY / 2, 0, in_y - kTapsY);
      float* weights = weights_of_rows + strip % kWarps * kTapsY;
      for (int t = threadIdx.x % 32; t < kTapsY; t += blockDim.x < 32 ? 1 : 32)
        weights[t] = folded_weight<kFilterY>(ty.taps, wy + y, t) * kEnlarge;
      __syncwarp();
      float done[kOwn][kOwnLanes];
      for (int t = 0; t < kTapsY; ++t) {
        const uint8_t* row = begin + (first + t) * step_y;
        const float weight = weights[t];
        uint32_t raw[kOwn / 4][kOwnLanes];
        for (int u = 0; u < kOwnLanes; ++u) {
          const int before = origin + lane_of(u) * kOwn;
          row_words(row + lane_of(u) * kOwn, false, before, bytes - before, raw, u);
        }
        add_row(raw, static_cast<uint32_t>(reinterpret_cast<uint64_t>(row)) * 8 & 24, [&](int b, int u, float value) {
          done[b][u] = t == 0 ? weight * value : fma(weight, value, done[b][u]);
        });
      }
      finish(done, corner + y * os_y);
      __syncwarp();
    }
  } };
  if (plain) go(Known<1>());
  else go(Known<0>());
  // Columns with folded taps: all of them read the first samples of a row, or the last.
  if (fx == 0) return;
  __syncthreads();
  for (int i = threadIdx.x; i < 2 * ny; i += blockDim.x) {
    const bool at_left = i < ny;
    const int y = at_left ? i : i - ny, from = at_left ? 0 : right, to = at_left ? left : nx;
    if (from >= to) continue;
    const uint8_t* samples = in0 + (clamp<Index>(wy + y - kTapsY / 2, 0, in_y - kTapsY) * step_y +
        (at_left ? 0 : in_x - kTapsX) * kPlanes);
    float columns[kTapsX * kPlanes];
    PENSTOCK_UNROLL
    for (int t = 0; t < kTapsY; ++t) {
      const float weight = kTapsY == 1 ? 1.0f : y >= top && y < bottom ? ty.taps.window[t]
                                                : folded_weight<kFilterY>(ty.taps, wy + y, t);
      PENSTOCK_UNROLL
      for (int b = 0; b < kTapsX * kPlanes; ++b) {
        const float value = static_cast<float>(samples[t * step_y + b]);
        columns[b] = t == 0 ? weight * value : fma(weight, value, columns[b]);
      }
    }
    for (int x = from; x < to; ++x) {
      const float* weights = folded_x + (at_left ? x : x - right + left);
      PENSTOCK_UNROLL
      for (int p = 0; p < kPlanes; ++p) {
        float sum = weights[0] * columns[p];
        PENSTOCK_UNROLL
        for (int t = 1; t < kTapsX; ++t) sum = fma(weights[t * fx], columns[t * kPlanes + p], sum);
        corner[x * os_x + y * os_y + p * pos] = element_within<uint8_t>(sum);
      }
    }
  }
  }
)";
}  // namespace

void TiledKernel::streaming() {
  w.line("  constexpr int kTapsX = {}, kTapsY = {}, kPlanes = {}, kSide = kTapsX / 2 * kPlanes, kOwn = {};", v.window_x,
         v.window_y, planes(), kStreamBytes);
  w.line("  constexpr int kRows = {}, kSpan = kRows + kTapsY - 1, kSlots = {}, kWarps = {};", kStreamRows, kStreamSlots,
         kStageThreads / 32);
  w.line("  constexpr int kFilterX = {}, kFilterY = {};", v.filter_x, v.filter_y);
  w.text += kPlaces;
  w.line("  if (small) {{");
  edges();
  w.line("  return;");
  w.line("  }}");
  w.text += kStreamed;
}

}  // namespace penstock
