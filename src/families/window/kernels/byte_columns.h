// SPDX-License-Identifier: Apache-2.0
// Small windows over rows of bytes: a thread makes 16 bytes of kStripRows rows, one below the other, and reads them as
// words with those beside them.
#pragma once
#include <cstdint>
#include <type_traits>

#include "families/window/kernels/pairs.h"
#include "launch/entry.h"

namespace penstock::window {

using namespace whole;

constexpr int kStripRows = 12;
constexpr int kLeastBytes = 32;  // of a row: no thread has both of its ends

struct ByteRows {
  const void* in;
  void* out;
  int64_t height, length;   // rows, and the bytes of a row
  int32_t vectors, strips;  // of a row, whose last ones may overlap, and of an image
  int64_t border;
};
static_assert(sizeof(ByteRows) == 48);

// Where rows begin: at multiples of 4 bytes, at multiples of 16, or anywhere. Then a row has a multiple of 32 vectors,
// and a warp writes its part of a row together, from shared memory.
enum RowPlaces { kAtWords, kAtVectors, kAnywhere };
constexpr int kStagedBytes = 32 * 16 + 16;  // of a warp: store_row() reads a word more
constexpr int kStagedBlock = kThreads / 32 * kStagedBytes;

// What makes unsigned bytes of elements, four at once, and elements of them.
template <class T> constexpr uint32_t kByteSigns = std::is_signed_v<T> ? 0x80808080u : 0;

// Not inlined: few are outside, and a compiler takes long for the divisions of borders.
template <class Rule> __attribute__((noinline)) PENSTOCK_HD int bordered_place(int at, int n, int border) {
  return static_cast<int>(Rule::bordered(at, n, border));
}

// Words at any address as unsigned bytes.
template <class T, int words> PENSTOCK_KERNEL void load_anywhere(const uint8_t* from, uint32_t (&to)[words]) {
  const int shift = static_cast<int>(reinterpret_cast<uint64_t>(from) & 3);
  const uint32_t* const at = reinterpret_cast<const uint32_t*>(from - shift);
  uint32_t next = at[0];
  PENSTOCK_UNROLL
  for (int k = 0; k < words; ++k) {
    const uint32_t word = next;
    if (k + 1 < words || shift) next = at[k + 1];
    to[k] = bytes_from(word, next, shift) ^ kByteSigns<T>;
  }
}
// The same, or at a multiple of their size.
template <class T, int words, bool aligned> PENSTOCK_KERNEL Words<words> load_words(const uint8_t* from) {
  Words<words> v;
  if constexpr (!aligned) {
    load_anywhere<T>(from, v.word);
  } else {
    v = *reinterpret_cast<const Words<words>*>(from);
    PENSTOCK_UNROLL
    for (int k = 0; k < words; ++k) v.word[k] ^= kByteSigns<T>;
  }
  return v;
}

// Writes bytes that were made unsigned from aligned shared memory to any address, by words where they are whole. The
// lanes of a warp share them.
template <class T> PENSTOCK_KERNEL void store_row(uint8_t* out, const uint8_t* from, int count) {
  const int lanes = threads() < 32 ? static_cast<int>(threads()) : 32, lane = static_cast<int>(thread()) % lanes;
  const int low = static_cast<int>(-reinterpret_cast<uint64_t>(out) & 3), head = low < count ? low : count;
  const int words = (count - head) / 4;
  const uint32_t* const source = reinterpret_cast<const uint32_t*>(from);
  PENSTOCK_UNROLL_BY(1)
  for (int k = lane; k < words; k += lanes)
    reinterpret_cast<uint32_t*>(out + head)[k] = bytes_from(source[k], head ? source[k + 1] : 0, head) ^ kByteSigns<T>;
  for (int k = lane; k < head; k += lanes) out[k] = from[k] ^ (kByteSigns<T> & 255);
  for (int k = head + 4 * words + lane; k < count; k += lanes) out[k] = from[k] ^ (kByteSigns<T> & 255);
}

// The words of rows that a thread sees: 4, and as many on each side as `reach` pixels take. `places`: RowPlaces. Rule:
// bordered() of ImageRule.
template <class T, int channels, int reach, int places, class Rule> struct ByteColumns {
  static constexpr int kSide = (reach * channels + 3) / 4, kWords = 4 + 2 * kSide, kNowhere = -0x7FFFFFFF;

  const uint8_t* in;
  uint8_t* out;
  int length, height, x, border;
  int first;           // the first byte of the warp's part of a row, from x on
  int begin, end;      // the rows to make
  uint32_t fill;       // the words outside of a constant border
  int outside[reach];  // where the pixels are that are seen beside a row, from x on

  PENSTOCK_KERNEL ByteColumns(const ByteRows& r, uint32_t item, uint32_t fill_words)
      : length(static_cast<int>(r.length)),
        height(static_cast<int>(r.height)),
        border(static_cast<int>(r.border)),
        fill(fill_words) {
    const uint32_t vectors = static_cast<uint32_t>(r.vectors), strips = static_cast<uint32_t>(r.strips);
    const uint32_t strip = item / vectors, image = strip / strips;
    x = static_cast<int>(item - strip * vectors) * kVectorBytes;
    first = x - x % (32 * kVectorBytes);
    if (x > length - kVectorBytes) x = length - kVectorBytes;
    first = (first < length - kVectorBytes ? first : length - kVectorBytes) - x;
    begin = static_cast<int>(strip - image * strips) * kStripRows;
    end = begin + kStripRows < height ? begin + kStripRows : height;
    const int64_t offset = static_cast<int64_t>(image) * r.height * r.length + x;
    in = static_cast<const uint8_t*>(r.in) + offset, out = static_cast<uint8_t*>(r.out) + offset;
    if (x > 0 && x + kVectorBytes + 4 * kSide <= length) return;
    const int width = length / channels;
    PENSTOCK_UNROLL
    for (int p = 0; p < reach; ++p) {
      const int pixel = bordered_place<Rule>(x > 0 ? width + p : -1 - p, width, border);
      outside[p] = pixel < 0 ? kNowhere : pixel * channels - x;
    }
  }

  static PENSTOCK_KERNEL uint32_t word(const uint8_t* from) {
    return load_words<T, 1, places != kAnywhere>(from).word[0];
  }
  // Bytes [at, at + 4) after the end of a row, or before its begin, where `at` is below 0.
  PENSTOCK_KERNEL uint32_t beside(const uint8_t* row, int at) const {
    uint32_t bytes = 0;
    PENSTOCK_UNROLL
    for (int b = 0; b < 4; ++b) {
      const int distance = at < 0 ? -1 - (at + b) : at + b, pixel = distance / channels;
      if (pixel >= reach) continue;
      const int channel = at < 0 ? channels - 1 - distance % channels : distance % channels;
      const uint32_t byte =
          outside[pixel] == kNowhere ? fill & 255 : row[outside[pixel] + channel] ^ (kByteSigns<T> & 255);
      bytes |= byte << 8 * b;
    }
    return bytes;
  }

  // Bytes [at, at + 4) after the vector, of which the row has `inside` more.
  PENSTOCK_KERNEL uint32_t after(const uint8_t* row, int at, int inside) const {
    uint32_t bytes = 0;
    PENSTOCK_UNROLL_BY(1)
    for (int b = 0; b < 4; ++b) {
      const int place = at + b;
      const uint32_t byte =
          place < inside ? row[kVectorBytes + place] ^ (kByteSigns<T> & 255) : beside(row, place - inside) & 255;
      bytes |= byte << 8 * b;
    }
    return bytes;
  }

  PENSTOCK_KERNEL void load(int y, uint32_t (&words)[kWords]) const {
    if (static_cast<uint32_t>(y) >= static_cast<uint32_t>(height)) y = bordered_place<Rule>(y, height, border);
    if (y < 0) {
      PENSTOCK_UNROLL
      for (int k = 0; k < kWords; ++k) words[k] = fill;
      return;
    }
    const uint8_t* const row = in + static_cast<int64_t>(y) * length;
    const int inside = length - x - kVectorBytes;  // bytes on the right
    if (places == kAnywhere && x > 0 && inside >= 4 * kSide) {
      load_anywhere<T>(row - 4 * kSide, words);
      return;
    }
    if constexpr (places == kAtVectors) {
      const Vector v = *reinterpret_cast<const Vector*>(row);
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k) words[kSide + k] = v.word[k] ^ kByteSigns<T>;
    } else {
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k) words[kSide + k] = word(row + 4 * k);
    }
    PENSTOCK_UNROLL
    for (int k = 0; k < kSide; ++k) words[k] = x > 0 ? word(row + 4 * (k - kSide)) : beside(row, 4 * (k - kSide));
    if constexpr (places == kAnywhere) {
      PENSTOCK_UNROLL
      for (int k = 0; k < kSide; ++k) words[kSide + 4 + k] = after(row, 4 * k, inside);
      return;
    }
    if (inside >= 4 * kSide) {
      PENSTOCK_UNROLL
      for (int k = 0; k < kSide; ++k) words[kSide + 4 + k] = word(row + kVectorBytes + 4 * k);
      return;
    }
    PENSTOCK_UNROLL
    for (int first = 0; first < kSide; ++first) {  // word that is outside: arrays need places that a compiler knows
      if (inside != 4 * first) continue;
      PENSTOCK_UNROLL
      for (int k = 0; k < kSide; ++k)
        words[kSide + 4 + k] = k < first ? word(row + kVectorBytes + 4 * k) : beside(row, 4 * (k - first));
    }
  }

  PENSTOCK_KERNEL void store(int y, const uint32_t (&words)[4]) const {
    uint8_t* const row = out + static_cast<int64_t>(y) * length;
    if constexpr (places == kAnywhere) {
#ifndef __CUDA_ARCH__
      if (threads() < 32) return store_alone(row, words);
#endif
      return store_together(row, words);
    }
    Vector v;
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k) v.word[k] = words[k] ^ kByteSigns<T>;
    if constexpr (places == kAtVectors) {
      store_once(reinterpret_cast<Vector*>(row), v);
    } else {
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k) reinterpret_cast<uint32_t*>(row)[k] = v.word[k];
    }
  }
  // For a block of one thread, as the host has.
  PENSTOCK_KERNEL void store_alone(uint8_t* row, const uint32_t (&words)[4]) const {
    for (int k = 0; k < kVectorBytes; ++k)
      row[k] = static_cast<uint8_t>(words[k / 4] >> k % 4 * 8) ^ static_cast<uint8_t>(kByteSigns<T>);
  }
  // All lanes of a warp have the same row.
  PENSTOCK_KERNEL void store_together(uint8_t* row, const uint32_t (&words)[4]) const {
    uint8_t* const staged = shared_memory<uint8_t>() + static_cast<int>(thread()) / 32 * kStagedBytes;
    wait_for_warp();
    uint8_t* const own = staged - first;
    if (first % kVectorBytes == 0) {
      *reinterpret_cast<Vector*>(own) = {{words[0], words[1], words[2], words[3]}};
    } else {  // the last vector, which overlaps the one before: both write the same bytes
      PENSTOCK_UNROLL
      for (int k = 0; k < kVectorBytes; ++k) own[k] = static_cast<uint8_t>(words[k / 4] >> k % 4 * 8);
    }
    wait_for_warp();
    const int count = length - x - first < 32 * kVectorBytes ? length - x - first : 32 * kVectorBytes;
    store_row<T>(row + first, staged, count);
  }
};

// Words as pairs of bytes to compare.
template <int n> PENSTOCK_KERNEL Pairs<n> compared(const uint32_t (&words)[n]) {
  Pairs<n> p;
  PENSTOCK_UNROLL
  for (int k = 0; k < n; ++k) p.odd[k] = words[k], p.even[k] = words[k] << 8;
  return p;
}

}  // namespace penstock::window
