// SPDX-License-Identifier: Apache-2.0
// Colors of a sensor's mosaic on a GPU. A thread makes some pixels of two rows, from words that have several elements:
// averages of these need no instructions for each.
#pragma once
#include <cstdint>

#include "launch/entry.h"

namespace penstock::window {

using namespace whole;

// Images of one element a pixel. The edge takes the values of the inner pixels; images without any are zeros.
struct Mosaic {
  enum Algorithm : int32_t { bilinear, by_edges, gray };
  int64_t images, height, width;  // these are even
  int32_t blue_y, blue_x;         // of the blue pixels, modulo 2
  int32_t algorithm, unused = 0;
};
constexpr int kRedInGray = 4899, kGreenInGray = 9617, kBlueInGray = 1868;  // of 2^14

struct MosaicRow {
  const void* in;
  void* out;
  Mosaic mosaic;
};
static_assert(sizeof(MosaicRow) == 56);

// Elements in a word.
template <class T> struct InWord {
  static constexpr int kBits = 8 * static_cast<int>(sizeof(T)), kEach = 4 / static_cast<int>(sizeof(T));
  static constexpr uint32_t kLowest = sizeof(T) == 1 ? 0x01010101u : 0x00010001u;  // bits
  static constexpr uint32_t kFirst = sizeof(T) == 1 ? 0xFFu : 0xFFFFu;             // element
  static constexpr int kWords = 2, kPixels = kWords * kEach;                       // of a row, for a thread
  // Rounded up.
  PENSTOCK_HD static uint32_t average(uint32_t a, uint32_t b) { return (a | b) - (((a ^ b) & ~kLowest) >> 1); }
  // (a + b + c + d + 2) >> 2 of the averages of a and b, c and d. `odd`: the lowest bits where a + b or c + d is odd.
  PENSTOCK_HD static uint32_t average_of_four(uint32_t first, uint32_t second, uint32_t odd) {
    return average(first, second) - (odd & (first ^ second) & kLowest);
  }
};

// Units of work.
template <class T> int64_t mosaic_units(const Mosaic& m) {
  return m.images * (m.height / 2) * ((m.width + InWord<T>::kPixels - 1) / InWord<T>::kPixels);
}

// Elements of a row, and one beside them at each end.
template <class T> struct MosaicSpan {
  using W = InWord<T>;
  uint32_t at[W::kWords], left, right;
  PENSTOCK_HD uint32_t before(int k) const { return at[k] << W::kBits | (k ? at[k - 1] >> (32 - W::kBits) : left); }
  PENSTOCK_HD uint32_t after(int k) const {
    return at[k] >> W::kBits | (k + 1 < W::kWords ? at[k + 1] : right) << (32 - W::kBits);
  }
  PENSTOCK_HD uint32_t element(int i) const {
    if (i < 0) return left;
    if (i >= W::kPixels) return right;
    return at[i / W::kEach] >> (i % W::kEach * W::kBits) & W::kFirst;
  }
};

template <int bytes> struct alignas(bytes < 16 ? bytes : 16) MosaicWords {
  uint32_t v[bytes / 4];
};

template <class T> PENSTOCK_KERNEL MosaicSpan<T> load_mosaic(const T* row, int64_t x, int64_t width, bool whole) {
  using W = InWord<T>;
  MosaicSpan<T> s;
  const int64_t end = x + W::kPixels;
  s.left = row[x > 0 ? x - 1 : 0], s.right = row[end < width ? end : width - 1];
  if (whole) {
    const auto words = *reinterpret_cast<const MosaicWords<4 * W::kWords>*>(row + x);
    PENSTOCK_UNROLL
    for (int k = 0; k < W::kWords; ++k) s.at[k] = words.v[k];
  } else {
    PENSTOCK_UNROLL
    for (int k = 0; k < W::kWords; ++k) {
      s.at[k] = 0;
      PENSTOCK_UNROLL
      for (int q = 0; q < W::kEach; ++q) {
        const int64_t i = x + k * W::kEach + q;
        s.at[k] |= static_cast<uint32_t>(row[i < width ? i : width - 1]) << (q * W::kBits);
      }
    }
  }
  return s;
}

// Bytes of two words, by the four lowest digits of `places`.
PENSTOCK_HD inline uint32_t bytes_of(uint32_t a, uint32_t b, uint32_t places) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, places);
#else
  const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
  uint32_t word = 0;
  for (int k = 0; k < 4; ++k) word |= static_cast<uint32_t>(both >> (places >> (4 * k) & 7) * 8 & 0xFF) << (8 * k);
  return word;
#endif
}

// Where the difference of the first pair is greater, at the elements that are not green: those from bit `shift` on.
template <class T> PENSTOCK_HD inline uint32_t steeper(uint32_t a, uint32_t b, uint32_t c, uint32_t d, int shift) {
  using W = InWord<T>;
  uint32_t mask = 0;
  PENSTOCK_UNROLL
  for (int q = 0; q < W::kEach; q += 2) {
    const int at = shift + q * W::kBits;
    const auto number = [at](uint32_t v) { return static_cast<int32_t>(v >> at & W::kFirst); };
    const int32_t first = number(a) - number(b), second = number(c) - number(d);
    if ((first < 0 ? -first : first) > (second < 0 ? -second : second)) mask |= W::kFirst << at;
  }
  return mask;
}

// Which pixels of a row are not green: all bits of them, the first one's place, and whether they are blue.
struct MosaicPhase {
  uint32_t mask;
  int shift;
  bool blue;
};

// The red, green and blue elements of a row.
template <class T, bool by_edges>
PENSTOCK_HD inline void mosaic_colors(const MosaicSpan<T>& s, const MosaicSpan<T>& up, const MosaicSpan<T>& down,
                                      const MosaicPhase& phase, uint32_t (&colors)[3][InWord<T>::kWords]) {
  using W = InWord<T>;
  MosaicSpan<T> along, odd;
  along.left = W::average(up.left, down.left), along.right = W::average(up.right, down.right);
  odd.left = up.left ^ down.left, odd.right = up.right ^ down.right;
  PENSTOCK_UNROLL
  for (int k = 0; k < W::kWords; ++k) along.at[k] = W::average(up.at[k], down.at[k]), odd.at[k] = up.at[k] ^ down.at[k];
  PENSTOCK_UNROLL
  for (int k = 0; k < W::kWords; ++k) {
    const uint32_t left = s.before(k), right = s.after(k), across = W::average(left, right), m = phase.mask;
    uint32_t middle;
    if constexpr (by_edges) {
      const uint32_t level = steeper<T>(left, right, up.at[k], down.at[k], phase.shift);
      middle = (along.at[k] & level) | (across & ~level);
    } else {
      middle = W::average_of_four(across, along.at[k], (left ^ right) | odd.at[k]);
    }
    const uint32_t corners = W::average_of_four(along.before(k), along.after(k), odd.before(k) | odd.after(k));
    const uint32_t own = (s.at[k] & m) | (across & ~m), other = (corners & m) | (along.at[k] & ~m);
    colors[0][k] = phase.blue ? other : own;
    colors[1][k] = (middle & m) | (s.at[k] & ~m);
    colors[2][k] = phase.blue ? own : other;
  }
}

template <class T> PENSTOCK_HD inline void mosaic_gray(const MosaicSpan<T>& s, const MosaicSpan<T>& up,
                                                       const MosaicSpan<T>& down, const MosaicPhase& phase,
                                                       uint32_t (&words)[1][InWord<T>::kWords]) {
  using W = InWord<T>;
  const uint32_t own = phase.blue ? kBlueInGray : kRedInGray, other = phase.blue ? kRedInGray : kBlueInGray;
  uint32_t along[W::kPixels + 2];
  PENSTOCK_UNROLL
  for (int i = 0; i < W::kPixels + 2; ++i) along[i] = up.element(i - 1) + down.element(i - 1);
  PENSTOCK_UNROLL
  for (int k = 0; k < W::kWords; ++k) words[0][k] = 0;
  PENSTOCK_UNROLL
  for (int i = 0; i < W::kPixels; ++i) {
    const uint32_t center = s.element(i), beside = s.element(i - 1) + s.element(i + 1);
    const bool green = (i & 1) != (phase.shift != 0);
    // At most 65,535 * 2^16, so that 32 bits are enough.
    const uint32_t sum = (green ? 2 * beside : 4 * center) * own +
                         (green ? 2 * along[i + 1] : along[i] + along[i + 2]) * other +
                         (green ? 4 * center : beside + along[i + 1]) * static_cast<uint32_t>(kGreenInGray);
    words[0][i / W::kEach] |= ((sum + 32768) >> 16) << (i % W::kEach * W::kBits);
  }
}

// Writes the pixels from x on; the last of a row is the one before it, and the first one the next.
template <class T, int channels>
PENSTOCK_KERNEL void store_mosaic(T* row, int64_t x, int64_t width, bool whole,
                                  uint32_t (&colors)[channels][InWord<T>::kWords]) {
  using W = InWord<T>;
  constexpr int kBits = W::kBits, kWords = W::kWords;
  constexpr uint32_t kLast = W::kFirst << (32 - kBits);
  PENSTOCK_UNROLL
  for (int c = 0; c < channels; ++c) {
    uint32_t &first = colors[c][0], &last = colors[c][kWords - 1];
    if (x == 0) first = (first & ~W::kFirst) | (first >> kBits & W::kFirst);
    if (x + W::kPixels == width) last = (last & ~kLast) | (last << kBits & kLast);
  }
  if (!whole) {
    PENSTOCK_UNROLL
    for (int i = 0; i < W::kPixels; ++i) {
      if (x + i >= width) continue;
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) {
        const auto element = [&](int k) { return colors[c][k / W::kEach] >> (k % W::kEach * kBits) & W::kFirst; };
        row[(x + i) * channels + c] = static_cast<T>(i > 0 && x + i == width - 1 ? element(i - 1) : element(i));
      }
    }
    return;
  }
  MosaicWords<4 * kWords> part[channels];
  const auto word = [&](int i) -> uint32_t& { return part[i / kWords].v[i % kWords]; };
  PENSTOCK_UNROLL
  for (int k = 0; k < kWords; ++k) {
    if constexpr (channels == 1) {
      word(k) = colors[0][k];
    } else {
      const uint32_t r = colors[0][k], g = colors[1][k], b = colors[2][k];
      if constexpr (sizeof(T) == 1) {
        word(3 * k) = bytes_of(bytes_of(r, g, 0x1040), b, 0x3410);
        word(3 * k + 1) = bytes_of(bytes_of(g, b, 0x2051), r, 0x3610);
        word(3 * k + 2) = bytes_of(bytes_of(b, r, 0x3072), g, 0x3710);
      } else {
        word(3 * k) = bytes_of(r, g, 0x5410);
        word(3 * k + 1) = bytes_of(b, r, 0x7610);
        word(3 * k + 2) = bytes_of(g, b, 0x7632);
      }
    }
  }
  auto* const to = reinterpret_cast<MosaicWords<4 * kWords>*>(row + x * channels);
  PENSTOCK_UNROLL
  for (int c = 0; c < channels; ++c) to[c] = part[c];
}

// Units of work are some pixels of two rows.
template <class T, int algorithm> PENSTOCK_KERNEL void mosaic(const Entry<MosaicRow>& e) {
  using W = InWord<T>;
  constexpr int kChannels = algorithm == Mosaic::gray ? 1 : 3;
  const Mosaic& m = e.row.mosaic;
  const int64_t width = m.width, height = m.height;
  const auto groups = static_cast<uint32_t>((width + W::kPixels - 1) / W::kPixels);
  const bool aligned = ((reinterpret_cast<uint64_t>(e.row.in) | reinterpret_cast<uint64_t>(e.row.out)) &
                        (alignof(MosaicWords<4 * W::kWords>) - 1)) == 0 &&
                       width % W::kPixels == 0;
  for (int64_t unit = e.begin + thread(); unit < e.end; unit += threads()) {
    // Pairs of rows of all images count on: heights are even.
    const int64_t pair = unit >> 32 ? unit / groups : static_cast<uint32_t>(unit) / groups;
    const int64_t x = (unit - pair * groups) * W::kPixels, half = height / 2;
    const int64_t image = pair >> 32 ? pair / half : static_cast<uint32_t>(pair) / static_cast<uint32_t>(half);
    const int64_t y = 2 * (pair - image * half);
    const T* const in = static_cast<const T*>(e.row.in) + image * height * width;
    T* const out = static_cast<T*>(e.row.out) + (image * height + y) * width * kChannels;
    if (width < 3 || height < 3) {
      for (int64_t i = x; i < width && i < x + W::kPixels; ++i)
        for (int c = 0; c < kChannels; ++c) out[i * kChannels + c] = out[(width + i) * kChannels + c] = 0;
      continue;
    }
    // At the edges both rows are the same one.
    const bool edge = y == 0 || y + 2 == height;
    const int64_t first = y == 0 ? 1 : y + 2 == height ? height - 2 : y;
    MosaicSpan<T> rows[4];
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k)
      if (k < 3 || !edge) rows[k] = load_mosaic<T>(in + (first - 1 + k) * width, x, width, aligned);
    uint32_t colors[kChannels][W::kWords];
    PENSTOCK_UNROLL
    for (int k = 0; k < 2; ++k) {
      if (k == 0 || !edge) {
        const bool blue = ((first + k) & 1) == m.blue_y;
        const int shift = blue == (m.blue_x == 0) ? 0 : W::kBits;
        const MosaicPhase phase{W::kFirst * (sizeof(T) == 1 ? 0x00010001u : 1u) << shift, shift, blue};
        if constexpr (algorithm == Mosaic::gray) mosaic_gray<T>(rows[k + 1], rows[k], rows[k + 2], phase, colors);
        else mosaic_colors<T, algorithm == Mosaic::by_edges>(rows[k + 1], rows[k], rows[k + 2], phase, colors);
      }
      store_mosaic<T, kChannels>(out + k * width * kChannels, x, width, aligned, colors);
    }
  }
}

}  // namespace penstock::window
