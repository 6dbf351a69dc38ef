// SPDX-License-Identifier: Apache-2.0
// Folds of bytes over any rectangle. A block folds a tile of the output, down and then across, in shared memory, whose
// rows are those of the output with all columns that their windows see. Down: van Herk, for each column by blocks of as
// many rows as a window has. Across: a warp joins windows of 1, 3, 9, ... pixels of a row, 16 bytes a lane.
#pragma once
#include "families/window/kernels/byte_columns.h"
#include "families/window/kernels/fold.h"

namespace penstock::window {

PENSTOCK_HD inline int whole_vectors(int bytes) { return (bytes + kVectorBytes - 1) / kVectorBytes * kVectorBytes; }
// The tile's row: columns before it, of the output, and after it. `left` and `right` are bytes that windows reach.
PENSTOCK_HD inline int folded_columns(int left, int width, int right) {
  return whole_vectors(left) + whole_vectors(width + right);
}

template <class Rule> PENSTOCK_KERNEL uint32_t joined_bytes(uint32_t a, uint32_t b) {
  return leading_bytes(Rule::combine_pairs(a, b), Rule::combine_pairs(a << 8, b << 8));
}
// What a column is folded by: words, or where a row is seen beside its ends, one byte.
template <class T, int words, bool aligned, class Rule> struct WordsLane {
  using Value = Words<words>;
  static PENSTOCK_KERNEL Value load(const uint8_t* from) { return load_words<T, words, aligned>(from); }
  static PENSTOCK_KERNEL Value join(const Value& a, const Value& b) {
    Value r;
    PENSTOCK_UNROLL
    for (int k = 0; k < words; ++k) r.word[k] = joined_bytes<Rule>(a.word[k], b.word[k]);
    return r;
  }
  static PENSTOCK_KERNEL Value identity() {
    Value r;
    PENSTOCK_UNROLL
    for (int k = 0; k < words; ++k) r.word[k] = 0x01010101u * Rule::template identity<uint8_t>();
    return r;
  }
};
template <class T, class Rule> struct ByteLane {
  using Value = uint8_t;
  static PENSTOCK_KERNEL Value load(const uint8_t* from) {
    return static_cast<uint8_t>(*from ^ static_cast<uint8_t>(kByteSigns<T>));
  }
  static PENSTOCK_KERNEL Value join(Value a, Value b) { return Rule::combine(a, b); }
  static PENSTOCK_KERNEL Value identity() { return Rule::template identity<uint8_t>(); }
};

// Folds a column of a tile: rows [begin, end) of the image, of which row `begin` goes to `to`; at most as many as a
// window has. `in`: the column's first row. `inside`: all rows that are seen are in the image.
template <class Lane, bool inside, class Rule> PENSTOCK_KERNEL void fold_down(uint8_t* to, int stride,
                                                                              const uint8_t* in, const FoldRow& r,
                                                                              int begin, int end) {
  using Value = typename Lane::Value;
  const int height = static_cast<int>(r.height), window = r.window_height, first = begin - r.above, count = end - begin;
  const int64_t length = r.width * r.channels;
  const auto load = [&](int k) {
    int y = first + k;
    if (!inside && static_cast<uint32_t>(y) >= static_cast<uint32_t>(height))
      y = bordered_place<Rule>(y, height, r.border);
    return !inside && y < 0 ? Lane::identity() : Lane::load(in + y * length);
  };
  const auto at = [&](int k) { return reinterpret_cast<Value*>(to + k * stride); };
  constexpr int kTogether = inside ? 4 : 1;  // are read before the first is written
  Value folded = Lane::identity(), read[kTogether];
  PENSTOCK_UNROLL_BY(1)
  for (int k = window - 1; k >= 0; k -= kTogether) {
    PENSTOCK_UNROLL
    for (int i = 0; i < kTogether; ++i) read[i] = k >= i ? load(k - i) : Lane::identity();
    PENSTOCK_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      folded = Lane::join(read[i], folded);
      if (k >= i && k - i < count) *at(k - i) = folded;
    }
  }
  folded = Lane::identity();
  PENSTOCK_UNROLL_BY(1)
  for (int k = 1; k < count; k += kTogether) {
    PENSTOCK_UNROLL
    for (int i = 0; i < kTogether; ++i) read[i] = k + i < count ? load(window + k + i - 1) : Lane::identity();
    PENSTOCK_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      folded = Lane::join(folded, read[i]);
      if (k + i < count) *at(k + i) = Lane::join(*at(k + i), folded);
    }
  }
}

// Where a tile lies, and what it has in shared memory.
struct FoldedTile {
  int x, y, width, height;  // of the output: columns are bytes
  int left, right;          // bytes that windows reach
  int pad, stride;          // columns before the output, and of a row

  int64_t image;  // where the image begins, in elements

  PENSTOCK_KERNEL FoldedTile(const FoldRow& r, uint32_t tile) {
    const uint32_t across = static_cast<uint32_t>(r.tiles_across), down = static_cast<uint32_t>(r.tiles_down);
    const uint32_t row = tile / across, number = row / down;
    x = static_cast<int>(tile - row * across) * r.tile_width, y = static_cast<int>(row - number * down) * r.tile_height;
    image = number * r.height * r.width * r.channels;
    const int length = static_cast<int>(r.width * r.channels), channels = static_cast<int>(r.channels);
    width = length - x < r.tile_width ? length - x : r.tile_width;
    height = static_cast<int>(r.height) - y < r.tile_height ? static_cast<int>(r.height) - y : r.tile_height;
    left = r.left * channels, right = (r.window_width - 1 - r.left) * channels;
    pad = whole_vectors(left), stride = folded_columns(left, r.tile_width, right);
  }
};

// All columns that the windows of a tile see, folded down.
template <class T, int words, bool aligned, class Rule> PENSTOCK_KERNEL void fold_columns(uint8_t* tile,
                                                                                          const uint8_t* in,
                                                                                          const FoldRow& r,
                                                                                          const FoldedTile& t) {
  const int length = static_cast<int>(r.width * r.channels), channels = static_cast<int>(r.channels);
  const int begin = t.x - t.pad;  // of the tile's row, in that of the image
  const int end = t.pad + t.width + t.right, inside = length - begin < end ? length - begin : end;
  // Words that are all in the image; the columns beside them are folded one by one.
  constexpr int kBytes = 4 * words;
  const int first = begin < 0 ? -begin / kBytes : 0, last = inside / kBytes;
  const int vectors = last > first ? last - first : 0;
  const int before = vectors ? first * kBytes - (t.pad - t.left) : end - (t.pad - t.left);
  const int left = before > 0 ? before : 0, right = vectors ? end - last * kBytes : 0;
  const int items = vectors + left + right, blocks = (t.height + r.window_height - 1) / r.window_height;
  PENSTOCK_UNROLL_BY(1)
  for (int item = thread(); item < items * blocks; item += threads()) {
    const int block = item / items, i = item - block * items, row = block * r.window_height;
    const int end_row = row + r.window_height < t.height ? row + r.window_height : t.height;
    uint8_t* const to = tile + row * t.stride;
    if (i < vectors) {
      const int column = (first + i) * kBytes;
      using Lane = WordsLane<T, words, aligned, Rule>;
      const uint8_t* const from = in + begin + column;
      if (t.y + row >= r.above && t.y + end_row - 1 - r.above + r.window_height <= r.height)
        fold_down<Lane, true, Rule>(to + column, t.stride, from, r, t.y + row, t.y + end_row);
      else fold_down<Lane, false, Rule>(to + column, t.stride, from, r, t.y + row, t.y + end_row);
      continue;
    }
    const int k = i - vectors, column = k < left ? t.pad - t.left + k : last * kBytes + (k - left);
    // As many pixels as a window reaches to the left keep the division positive.
    const int x = begin + column, pixel = (x + t.left) / channels - r.left;
    const int from = bordered_place<Rule>(pixel, length / channels, r.border);
    if (from < 0) {
      for (int y = row; y < end_row; ++y) tile[y * t.stride + column] = Rule::template identity<uint8_t>();
    } else {
      fold_down<ByteLane<T, Rule>, false, Rule>(to + column, t.stride, in + (x + (from - pixel) * channels), r,
                                                t.y + row, t.y + end_row);
    }
  }
}

// 16 bytes of shared memory, from any byte on; `from` is aligned.
PENSTOCK_KERNEL Vector shared_vector(const uint8_t* from, int at) {
  const Vector a = *reinterpret_cast<const Vector*>(from + (at & ~15));
  if ((at & 15) == 0) return a;
  const Vector b = *reinterpret_cast<const Vector*>(from + (at & ~15) + kVectorBytes);
  const uint32_t words[8] = {a.word[0], a.word[1], a.word[2], a.word[3], b.word[0], b.word[1], b.word[2], b.word[3]};
  Vector v{};
  PENSTOCK_UNROLL
  for (int skip = 0; skip < 4; ++skip) {  // all lanes have the same one
    if ((at >> 2 & 3) != skip) continue;
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k)
      v.word[k] = skip + k == 7 ? words[7] >> 8 * (at & 3) : bytes_from(words[skip + k], words[skip + k + 1], at & 3);
  }
  return v;
}

// Folds a row across: windows of `window` pixels that begin at `from` + `before`. The first `count` bytes of the result
// go to `out`, or where it is null to `from`. A warp takes a row. It writes what it reads: each lane reads before any
// lane writes, and what lies to the right is still as it was.
template <class T, class Rule> PENSTOCK_KERNEL void fold_across(uint8_t* from, uint8_t* out, int before, int window,
                                                                int channels, int count) {
  const int lanes = threads() < 32 ? static_cast<int>(threads()) : 32, lane = static_cast<int>(thread()) % lanes;
  for (int w = 1;;) {
    const int next = 3 * w < window ? 3 * w : window, third = (next - w) * channels;
    const int second = (next - w) / 2 * channels, places = next == w ? 0 : next <= 2 * w ? 1 : 2;
    const int left = window - next;  // pixels that are yet to be joined
    const int vectors = (count + left * channels + kVectorBytes - 1) / kVectorBytes;
    PENSTOCK_UNROLL_BY(1)
    for (int base = 0; base < vectors; base += lanes) {
      const int v = base + lane, at = v * kVectorBytes + before;
      Vector read[3] = {};
      if (v < vectors) {
        PENSTOCK_UNROLL
        for (int place = 0; place < 3; ++place)
          if (place <= places)
            read[place] = shared_vector(from, at + (place == 0 ? 0 : place == places ? third : second));
      }
      uint32_t odd[4], even[4];
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k) {
        odd[k] = read[0].word[k], even[k] = read[0].word[k] << 8;
        PENSTOCK_UNROLL
        for (int place = 1; place < 3; ++place) {
          if (place > places) continue;
          odd[k] = Rule::combine_pairs(odd[k], read[place].word[k]);
          even[k] = Rule::combine_pairs(even[k], read[place].word[k] << 8);
        }
      }
      wait_for_warp();
      if (v < vectors) {
        Vector folded;
        PENSTOCK_UNROLL
        for (int k = 0; k < 4; ++k)
          folded.word[k] = leading_bytes(odd[k], even[k]) ^ (left == 0 && out ? kByteSigns<T> : 0);
        if (left == 0 && out) store_once(reinterpret_cast<Vector*>(out) + v, folded);
        else *reinterpret_cast<Vector*>(from + v * kVectorBytes) = folded;
      }
      wait_for_warp();
    }
    before = 0;
    w = next;
    if (w >= window) break;
  }
}

// Units of work are tiles. `aligned`: rows of the image begin at multiples of 16 bytes. `words`: as many as a thread
// folds down at once. Rule: bordered() of ImageRule,
// identity(), combine() and combine_pairs().
template <class T, int aligned, int words, class Rule> PENSTOCK_KERNEL void fold_bytes(const Entry<FoldRow>& e) {
  const FoldRow& r = e.row;
  const int channels = static_cast<int>(r.channels), warps = threads() < 32 ? 1 : static_cast<int>(threads()) / 32;
  const int64_t length = r.width * r.channels;
  uint8_t* const tile = shared_memory<uint8_t>();
  for (int64_t i = e.begin; i < e.end; ++i) {
    const FoldedTile t(r, static_cast<uint32_t>(i));
    fold_columns<T, words, aligned != 0, Rule>(tile, static_cast<const uint8_t*>(r.in) + t.image, r, t);
    wait_for_block();
    PENSTOCK_UNROLL_BY(1)
    for (int row = warps == 1 ? 0 : static_cast<int>(thread()) / 32; row < t.height; row += warps) {
      uint8_t* const from = tile + row * t.stride;
      uint8_t* const out = static_cast<uint8_t*>(r.out) + t.image + (t.y + row) * length + t.x;
      fold_across<T, Rule>(from, aligned ? out : nullptr, t.pad - t.left, r.window_width, channels, t.width);
      if (!aligned) store_row<T>(out, from, t.width);
    }
    wait_for_block();
  }
}

}  // namespace penstock::window
