// SPDX-License-Identifier: Apache-2.0
// The family's kernel: neighboring threads make neighboring pixels with all channels. It gives what the twin gives.
#pragma once
#include "families/gather/kernels/cell.h"
#include "launch/global_memory.h"

namespace penstock::gather {

// ---- Any pixel.

// The element that stands for one at `at`: bordered(), without its division where one period is enough.
PENSTOCK_KERNEL int32_t soon_bordered(int32_t at, int32_t n, Border border) {
  const bool low = at < 0;
  // In unsigned integers, which may wrap: what is not an element is none of [0, n) then either.
  const auto one = static_cast<uint32_t>(at), all = static_cast<uint32_t>(n);
  const uint32_t turned = border == kReflect ? (low ? ~0u : 2 * all - 1) - one : (low ? 0u : 2 * all - 2) - one;
  const uint32_t moved = border == kWrap ? (low ? one + all : one - all) : turned;
  const uint32_t near = one < all ? one : border == kReplicate ? (low ? 0u : all - 1) : moved;
  if (border == kConstant) return one < all ? at : -1;
  return near < all ? static_cast<int32_t>(near) : beyond(at, n, border);
}
// The blend of neighbors along an axis.
template <int filter, class V> struct Across {
  V weight;
  CubicWeights<V> cubic;

  PENSTOCK_HD explicit Across(V w) : weight(w) {
    if constexpr (filter == kCubic) cubic = cubic_weights(w);
  }
  PENSTOCK_HD V operator()(const V (&of)[kTaps<filter>]) const {
    if constexpr (filter == kNearest) return of[0];
    else if constexpr (filter == kLinear) return blended(of[0], of[1], weight);
    else return weighted(of, cubic);
  }
};
// A number that a loop computes with anew: compilers else compute sixteen addresses ahead, which registers do not hold.
PENSTOCK_KERNEL int32_t within_loop(int32_t v) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(v));
#endif
  return v;
}
// One whose neighbors may be outside, of each of several samples, at offsets of bytes; `channels` 0: as many as the
// source has. Where the neighbors are is found once.
template <class T, int channels, int filter, int samples, class V>
PENSTOCK_KERNEL __attribute__((always_inline)) void sample_anywhere(const RowHead& there, Neighbor<V> y, Neighbor<V> x,
                                                                    int64_t from, int64_t to) {
  constexpr int taps = kTaps<filter>, before = filter == kCubic, kTurn = channels ? channels : 1;
  const Source s = there.source;
  const int32_t count = channels ? channels : s.channels;
  int32_t v[taps], u[taps];
  bool any_v = false, any_u = false, below[taps], beside[taps];
  PENSTOCK_UNROLL
  for (int k = 0; k < taps; ++k) {
    v[k] = soon_bordered(filter == kNearest ? nearest(y) : y.at - before + k, s.height, s.border);
    u[k] = soon_bordered(filter == kNearest ? nearest(x) : x.at - before + k, s.width, s.border);
    below[k] = v[k] < 0, beside[k] = u[k] < 0;
    any_v = any_v || !below[k], any_u = any_u || !beside[k];
  }
  const Across<filter, V> by_x(x.weight), by_y(y.weight);
  const bool covered = filter != kNearest && covers(s);
  const V outside = covered ? V(0) : static_cast<V>(s.fill);
  V row[taps], column[taps];
  PENSTOCK_UNROLL
  for (int k = 0; k < taps; ++k) row[k] = outside;
  const V outside_row = by_x(row);
  PENSTOCK_UNROLL
  for (int k = 0; k < taps; ++k) column[k] = outside_row;
  // A blend of equal numbers is that number, but for sums of cubic weights.
  const auto of_filter = static_cast<Filter>(filter);
  const bool fills = covered && (reads_beyond(y, s.height, of_filter) || reads_beyond(x, s.width, of_filter));
  const T alone = fills || filter != kCubic ? from_lane<float, T>(s.fill) : from_lane<V, T>(by_y(column));
  const bool none = fills || !(any_v && any_u);
  const int64_t line = int64_t{s.width} * count;
  PENSTOCK_UNROLL_BY(1)
  for (int k = 0; k < samples; ++k) {
    const T* image = whole::in_global_memory(reinterpret_cast<const T*>(static_cast<const char*>(there.in[k]) + from));
    T* made = whole::in_global_memory(reinterpret_cast<T*>(static_cast<char*>(there.out[k]) + to));
    PENSTOCK_UNROLL_BY(1)
    for (int32_t c = 0; c < count; c += kTurn) {
      T of[kTurn];
      PENSTOCK_UNROLL
      for (int p = 0; p < kTurn; ++p) of[p] = alone;
      if (!none) {
        V rows[kTurn][taps];
        PENSTOCK_UNROLL
        for (int j = 0; j < taps; ++j) {
          const T* own = image + (below[j] ? 0 : v[j] * line);
          V number[kTurn][taps];
          PENSTOCK_UNROLL
          for (int i = 0; i < taps; ++i) {
            const T* at = own + (int64_t{within_loop(beside[i] ? 0 : u[i])} * count + c);
            PENSTOCK_UNROLL
            for (int p = 0; p < kTurn; ++p) {
              if constexpr (filter == kNearest) of[p] = at[p];
              else number[p][i] = beside[i] ? outside : to_lane<T, V>(at[p]);
            }
          }
          if constexpr (filter != kNearest) {
            PENSTOCK_UNROLL
            for (int p = 0; p < kTurn; ++p) rows[p][j] = below[j] ? outside_row : by_x(number[p]);
          }
        }
        if constexpr (filter != kNearest) {
          PENSTOCK_UNROLL
          for (int p = 0; p < kTurn; ++p) of[p] = from_lane<V, T>(by_y(rows[p]));
        }
      }
      PENSTOCK_UNROLL
      for (int p = 0; p < kTurn; ++p) made[c + p] = of[p];
    }
  }
}

// Pixels of one row of a tile, by a thread: x, x + kAcross and so on.
template <class T, int channels, int filter, int samples, class Rule> struct Pixels {
  using V = PositionNumber<T, filter>;
  using C = Cell<T, channels ? channels : 1, filter, V>;
  static constexpr int kInFlight = pixels_in_flight(sizeof(T), channels, filter);
  static constexpr int kPixels = pixels_of_thread(sizeof(T), channels, filter, samples);
  static constexpr bool kBytes = C::kBytes;

  const RowHead& head;
  const typename Rule::Coef& coef;
  const bool words;  // pixels of three bytes are written by words

  PENSTOCK_HD Pixels(const RowHead& row, const typename Rule::Coef& c)
      : head(row), coef(c), words(row.width % 4 == 0 && (reinterpret_cast<uint64_t>(row.out[0]) & 3) == 0) {}

  // Where they read: asked for before others are made, since the answer may be in memory.
  struct Positions {
    Position<V> of[kPixels];
  };
  PENSTOCK_HD Positions positions(int32_t image, int32_t y, int32_t x) const {
    Positions all;
    const int32_t width = y < head.height ? head.width : 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < kPixels; ++k)
      all.of[k] =
          position<Rule, V, filter>(image, width > 0 ? y : 0, x + kAcross * k < width ? x + kAcross * k : 0, coef);
    return all;
  }
  PENSTOCK_HD void make(const RowHead& there, const Positions& at, int32_t image, int32_t y, int32_t x) const {
    // All lanes of a warp come here, with rows that are not there too.
    const int32_t width = y < head.height ? head.width : 0;
    const int64_t from = image * head.in_bytes;
    Plane plane = head.plane;
    plane.low = static_cast<uint32_t>(plane.low + from) & 3;  // of this image
    C cells[kPixels];
    uint32_t outside = 0, all = 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < kPixels; ++k) {
      const int32_t here = x + kAcross * k;
      const bool given = here < width;
      const bool inside = cells[k].place(at.of[k], plane) && channels != 0;
      all |= given ? 1u << k : 0, outside |= given & !inside ? 1u << k : 0;
    }
    const int64_t pixel = static_cast<int64_t>(sizeof(T)) * (channels ? channels : head.source.channels);
    const int64_t to = image * head.out_bytes + (static_cast<int64_t>(y) * head.width + x) * pixel;
    if constexpr (channels != 0)
      if (any_lane(outside != all)) write_inside(there, cells, plane, width - x, from, to);
    if (any_lane(outside != 0)) {
      wait_for_lanes();  // words have bytes of pixels that are outside
      PENSTOCK_UNROLL_BY(1)
      for (int k = 0; k < kPixels; ++k)
        if (outside >> k & 1) write_outside(there, image, y, x + kAcross * k, from, to + kAcross * k * pixel);
    }
  }

 private:
  // Offsets are bytes. `right`: pixels of the row from here on.
  PENSTOCK_HD void write_inside(const RowHead& there, const C* cells, const Plane& plane, int32_t right, int64_t from,
                                int64_t to) const {
    constexpr int kTurns = samples > 1 ? samples / kInFlight : 1;
    PENSTOCK_UNROLL_BY(filter == kCubic ? 1 : kTurns)
    for (int turn = 0; turn < kTurns; ++turn) {
      typename C::Lines lines[kInFlight];
      PENSTOCK_UNROLL
      for (int k = 0; k < kInFlight; ++k)
        cell(cells, k).read(in(there, samples > 1 ? turn * kInFlight + k : 0) + from, plane, lines[k]);
      PENSTOCK_UNROLL
      for (int k = 0; k < kInFlight; ++k) {
        const int across = samples > 1 ? 0 : kAcross * k;
        char* made = out(there, samples > 1 ? turn * kInFlight + k : 0) + to + across * C::kPixelBytes;
        put(cell(cells, k), lines[k], reinterpret_cast<T*>(made), right - across);
      }
    }
  }
  PENSTOCK_HD static const C& cell(const C* cells, int k) { return cells[samples > 1 ? 0 : k]; }
  // `there` is in memory: a number that is not known when a kernel is compiled finds a sample there.
  PENSTOCK_HD const char* in(const RowHead& there, int sample) const {
    return static_cast<const char*>(whole::in_global_memory(filter == kCubic ? there.in[sample] : head.in[sample]));
  }
  PENSTOCK_HD char* out(const RowHead& there, int sample) const {
    return static_cast<char*>(whole::in_global_memory(filter == kCubic ? there.out[sample] : head.out[sample]));
  }
  PENSTOCK_HD void put(const C& cell, const typename C::Lines& lines, T* to, int32_t right) const {
    if constexpr (kBytes) {
      const uint32_t bytes = cell.bytes(lines);
      if (channels != 3 || !write_word(bytes, reinterpret_cast<uint8_t*>(to), right > 0))
        if (right > 0) {
          PENSTOCK_UNROLL
          for (int c = 0; c < channels; ++c) to[c] = static_cast<uint8_t>(bytes >> (8 * c));
        }
    } else if constexpr (sizeof(T) == 4 && channels == 3) {
      T made[3];
      cell.write(lines, made);
      write_turned(made, to, right);
    } else if (right > 0) {
      cell.write(lines, to);
    }
  }
  // Three elements of each thread of a warp: neighboring threads write neighboring elements.
  PENSTOCK_HD static void write_turned(const T (&made)[3], T* to, [[maybe_unused]] int32_t right) {
#ifdef __CUDA_ARCH__
    const int lane = static_cast<int>(whole::thread() & 31), m = lane % 3;
    T got[3];
    PENSTOCK_UNROLL
    for (int r = 0; r < 3; ++r) got[r] = __shfl_sync(~0u, made[r], (32 * ((2 * r + m) % 3) + lane) / 3);
    const T turned[3] = {m == 0   ? got[0]
                         : m == 1 ? got[1]
                                  : got[2],
                         m == 0   ? got[2]
                         : m == 1 ? got[0]
                                  : got[1],
                         m == 0   ? got[1]
                         : m == 1 ? got[2]
                                  : got[0]};
    T* row = to - 3 * lane;
    PENSTOCK_UNROLL
    for (int k = 0; k < 3; ++k)
      if (32 * k + lane < 3 * (right + lane)) row[32 * k + lane] = turned[k];
#else
    for (int c = 0; c < 3 && right > 0; ++c) to[c] = made[c];
#endif
  }
  // Of four pixels of three bytes the first three threads write a word each. False: the row does not consist of words.
  PENSTOCK_HD bool write_word([[maybe_unused]] uint32_t bytes, [[maybe_unused]] uint8_t* to,
                              [[maybe_unused]] bool given) const {
#ifdef __CUDA_ARCH__
    if (!words) return false;
    const uint32_t next = __shfl_down_sync(~0u, bytes, 1), place = whole::thread() & 3;
    const uint32_t word = __byte_perm(bytes, next, place == 0 ? 0x4210 : place == 1 ? 0x5421 : 0x6542);
    if ((place != 3) & given) *reinterpret_cast<uint32_t*>(to + place) = word;
    return true;
#else
    return false;
#endif
  }
  PENSTOCK_HD void write_outside(const RowHead& there, int32_t image, int32_t y, int32_t x, int64_t from,
                                 int64_t to) const {
    Neighbor<V> at_y, at_x;
    neighbors<Rule, filter>(image, y, x, coef, at_y, at_x);
    sample_anywhere<T, channels, filter, samples>(there, at_y, at_x, from, to);
  }
};

// Units of work are threads of tiles.
template <class T, int channels, int filter, int samples, class Rule>
PENSTOCK_KERNEL void sample_pixels(const whole::Entry<Row<typename Rule::Coef>>& e) {
  const RowHead head = e.row.head;  // copies: what a kernel writes might be its row
  const typename Rule::Coef coef = e.row.coef;
  constexpr int kPixels = pixels_of_thread(sizeof(T), channels, filter, samples);
  const Tiles tiles(head.height, head.width, kPixels);
  const Pixels<T, channels, filter, samples, Rule> pixels(head, coef);
  for (unsigned t = whole::thread(); t < whole::kThreads; t += whole::threads()) {
    const auto row = static_cast<int32_t>(t / kAcross), column = static_cast<int32_t>(t % kAcross);
    const auto positions = [&](const Place& p) {
      return pixels.positions(p.image, p.down * kTileRows + row, p.across * (kAcross * kPixels) + column);
    };
    // A thread of one sample makes several pixels, whose positions take registers.
    constexpr bool kAhead = samples > 1;
    Place p = place_of(e.begin / whole::kThreads, tiles);
    auto next = kAhead ? positions(p) : decltype(positions(p)){};
    for (auto left = static_cast<int32_t>((e.end - e.begin) / whole::kThreads); left > 0; --left) {
      const Place own = p;
      if constexpr (!kAhead) next = positions(own);
      const auto at = next;
      p = after(p, tiles);
      if (kAhead && left > 1) next = positions(p);
      const int32_t y = own.down * kTileRows + row;
      if (y - row % kDown < head.height)
        pixels.make(e.row.head, at, own.image, y, own.across * (kAcross * kPixels) + column);
    }
  }
}

}  // namespace penstock::gather
