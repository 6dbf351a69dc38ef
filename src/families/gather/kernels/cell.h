// SPDX-License-Identifier: Apache-2.0
// The pixels around a position, all of them inside: how the kernel finds, reads and blends them. It gives what the twin
// gives.
#pragma once
#include "families/gather/kernels/tiles.h"
#include "families/gather/kernels/twin.h"
#include "launch/word_runs.h"

namespace penstock::gather {

// ---- Where.

constexpr float kWhole = 12582912.0f;  // numbers beside it are whole, and their last bits count
constexpr uint32_t kWholeBits = 0x4B400000;
// floor(v) + kWhole, if v is near 0.
PENSTOCK_KERNEL float lowered(float v) {
#ifdef __CUDA_ARCH__
  return __fadd_rd(v, kWhole);
#else
  const float near = v + kWhole;
  return near - kWhole > v ? near - 1.0f : near;
#endif
}
// neighbor() without conversions, which are slow. What is not near 0, or no number, gives an element that as an
// unsigned integer is beyond kNear (contract.h).
PENSTOCK_KERNEL Neighbor<float> near_neighbor(float v, float rest) {
  const float whole = lowered(v), part = (v - (whole - kWhole)) + rest, carry = lowered(part);
  const uint32_t at = std::bit_cast<uint32_t>(whole) + std::bit_cast<uint32_t>(carry) - 2 * kWholeBits;
  return {static_cast<int32_t>(at), part - (carry - kWhole)};
}
PENSTOCK_KERNEL Neighbor<double> near_neighbor(double v, double rest) { return neighbor(v, rest); }

template <int filter> constexpr int kTaps = filter == kCubic ? 4 : filter == kLinear ? 2 : 1;

// ---- What.

// The lower word of two, moved down by the last five bits of `by`.
PENSTOCK_KERNEL uint32_t shifted(uint32_t low, uint32_t high, uint32_t by) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, by);
#else
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> (by & 31));
#endif
}
// Byte i of `word` as the lowest one of `rest`.
PENSTOCK_KERNEL float byte_beside(uint32_t word, int i, uint32_t rest) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(__byte_perm(word, rest, 0x7650 | i));
#else
  return std::bit_cast<float>((word >> (8 * i) & 255) | (rest & ~255u));
#endif
}
// Rows of floats that come by vectors: for each line of the first cache that an instruction of a warp reads the cache
// takes its time, which bounds cubic cells. Rows beside the cell's hold what a vector reads before and after them.
template <class T, int n> constexpr bool kByVectors = std::is_same_v<T, float> && n == 12;
// n contiguous elements, at an offset from an address that is a multiple of 4.
template <class T, int n> struct Line {
  T of[n];

  PENSTOCK_HD void read(const char* base, uint32_t offset) {
    const T* p = reinterpret_cast<const T*>(base + offset);
    if constexpr (kByVectors<T, n>) {
      uint32_t words[n];
      read_words(p, words);
      PENSTOCK_UNROLL
      for (int i = 0; i < n; ++i) of[i] = std::bit_cast<T>(words[i]);
    } else {
      PENSTOCK_UNROLL
      for (int i = 0; i < n; ++i) of[i] = p[i];
    }
  }
};
// Bytes, by the aligned words that hold one of them.
template <int n> struct Line<uint8_t, n> {
  static constexpr int kWords = (n + 3) / 4;
  uint32_t word[kWords];

  PENSTOCK_HD void read(const char* base, uint32_t offset) {
    const auto* from = reinterpret_cast<const uint32_t*>(base + (offset & ~3u));
    uint32_t all[kWords + 1];
    PENSTOCK_UNROLL
    for (int k = 0; k < kWords; ++k) all[k] = read_only(from + k);
    all[kWords] = (offset & 3) > 4 * kWords - n ? read_only(from + kWords) : 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < kWords; ++k) word[k] = shifted(all[k], all[k + 1], 8 * offset);
  }
  // A byte plus kRaw: a difference of two is exact.
  static constexpr float kRaw = 8388608.0f;
  PENSTOCK_HD float raw(int i) const { return byte_beside(word[i / 4], i % 4, 0x4B000000u); }
  // A byte times 2^-149, without a conversion.
  PENSTOCK_HD float small(int i) const { return byte_beside(word[i / 4], i % 4, 0); }
};

// Bytes of channels, each the lowest one of a word.
template <int n> PENSTOCK_KERNEL uint32_t packed(const uint32_t (&v)[n]) {
#ifdef __CUDA_ARCH__
  if constexpr (n == 1) return v[0] & 255;
  const uint32_t two = __byte_perm(v[0], v[n > 1 ? 1 : 0], 0x0040);
  if constexpr (n == 3) return __byte_perm(two, v[n - 1], 0x0410);
  return __byte_perm(two, __byte_perm(v[n > 2 ? 2 : 0], v[n - 1], 0x0040), 0x5410);
#else
  uint32_t all = 0;
  for (int i = 0; i < n; ++i) all |= (v[i] & 255) << (8 * i);
  return all;
#endif
}
// A number between two bytes, rounded half to even: the lowest byte.
PENSTOCK_KERNEL uint32_t byte_of(float v) { return std::bit_cast<uint32_t>(v + 8388608.0f); }

// ---- Cells.

template <class T, int channels, int filter, class V> struct Cell {
  static constexpr int taps = kTaps<filter>, kPixelBytes = channels * static_cast<int>(sizeof(T));
  static constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  struct Lines {
    Line<T, taps * channels> of[taps];
  };
  uint32_t offset;  // of the first pixel, from the word in which the image begins
  V wy, wx;

  // Whether all of them are inside; else the cell is the image's first one. Without branches, so that the positions of
  // several pixels are read at once.
  PENSTOCK_HD bool place(const Position<V>& p, const Plane& plane) {
    const Neighbor<V> at_y = near_neighbor(p.y, p.rest_y), at_x = near_neighbor(p.x, p.rest_x);
    uint32_t y, x;
    if constexpr (filter == kNearest) {
      y = static_cast<uint32_t>(nearest(at_y)), x = static_cast<uint32_t>(nearest(at_x));
    } else {
      y = static_cast<uint32_t>(at_y.at - (filter == kCubic)), x = static_cast<uint32_t>(at_x.at - (filter == kCubic));
      wy = at_y.weight, wx = at_x.weight;
      if constexpr (!kBytes) wy += V(0), wx += V(0);  // no zeros with a sign: it would be seen in a product
    }
    constexpr uint32_t kAway = kByVectors<T, taps * channels> ? 1 : 0;  // rows that are left to sample_anywhere()
    const uint32_t end_y = plane.end_y > 2 * kAway ? plane.end_y - 2 * kAway : 0;
    const bool inside = (y - kAway < end_y) & (x < plane.end_x);
    offset = plane.low + (inside ? y * plane.stride + x * kPixelBytes : 0);
    return inside;
  }
  // `image` is where it begins.
  PENSTOCK_HD void read(const void* image, const Plane& plane, Lines& lines) const {
    const char* base = static_cast<const char*>(image) - plane.low;
    PENSTOCK_UNROLL
    for (int r = 0; r < taps; ++r) lines.of[r].read(base, offset + r * plane.stride);
  }

  PENSTOCK_HD uint32_t bytes(const Lines& lines) const {
    if constexpr (filter == kNearest) return lines.of[0].word[0];
    uint32_t v[channels];
    if constexpr (filter == kLinear) {
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c)
        v[c] = byte_of(blended(raw_across(lines.of[0], c), raw_across(lines.of[1], c), wy));
    } else {
      // The numbers are bytes times 2^-149; factors that are powers of two change no rounding.
      const CubicWeights<float> by_x = scaled(cubic_weights(wx), 0x1p120f), by_y = scaled(cubic_weights(wy), 0x1p29f);
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) {
        const auto small = [&](int r, int i) { return lines.of[r].small(c + i * channels); };
        v[c] = byte_of(clamp(weighted_cell(small, by_x, by_y), 0.0f, 255.0f));
      }
    }
    return packed(v);
  }
  PENSTOCK_HD void write(const Lines& lines, T* to) const {
    if constexpr (filter == kNearest) {
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) to[c] = lines.of[0].of[c];
    } else if constexpr (filter == kLinear) {
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) {
        V rows[2];
        PENSTOCK_UNROLL
        for (int r = 0; r < 2; ++r) rows[r] = blended(number(lines.of[r], c), number(lines.of[r], c + channels), wx);
        to[c] = from_lane<V, T>(blended(rows[0], rows[1], wy));
      }
    } else {
      const CubicWeights<V> by_x = cubic_weights(wx), by_y = cubic_weights(wy);
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) {
        const auto at = [&](int r, int i) { return number(lines.of[r], c + i * channels); };
        to[c] = from_lane<V, T>(weighted_cell(at, by_x, by_y));
      }
    }
  }

 private:
  using OneLine = Line<T, taps * channels>;
  PENSTOCK_HD static V number(const OneLine& line, int i) { return to_lane<T, V>(line.of[i]); }
  PENSTOCK_HD float raw_across(const OneLine& line, int c) const {
    const float raw = line.raw(c);
    return fma(line.raw(c + channels) - raw, wx, raw - line.kRaw);
  }
  template <class At>
  PENSTOCK_HD static V weighted_cell(const At& at, const CubicWeights<V>& by_x, const CubicWeights<V>& by_y) {
    V rows[taps];
    PENSTOCK_UNROLL
    for (int r = 0; r < taps; ++r) {
      V v[taps];
      PENSTOCK_UNROLL
      for (int i = 0; i < taps; ++i) v[i] = at(r, i);
      rows[r] = weighted(v, by_x);
    }
    return weighted(rows, by_y);
  }
  PENSTOCK_HD static CubicWeights<float> scaled(CubicWeights<float> w, float by) {
    PENSTOCK_UNROLL
    for (int i = 0; i < 4; ++i) w.of[i] *= by;
    return w;
  }
};

}  // namespace penstock::gather
