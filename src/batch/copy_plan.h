// SPDX-License-Identifier: Apache-2.0
// A copy that copy_boxes() has prepared, and the loops over rows that its kernels call.
#pragma once
#include "base/target.h"
#include "batch/copy_boxes.h"

namespace penstock {

// The bytes of a piece of a row in another order: byte i comes from byte from[i]. A piece is as many pixels of `pixel`
// bytes as a vector of 16 holds; it is at the end of the vector if pieces come in the reverse order, else at its begin.
struct ByteOrder {
  int64_t piece = 0;  // bytes; 0: a pixel is larger
  alignas(16) uint8_t from[16] = {};
  // The same for 192 bytes, a multiple of all pixels, in pairs of bytes: pair i of vector k is pair at[k][i] of the
  // first two vectors, then by[k][i] of that and the third; 32 and more are in the second one.
  bool wide = false;  // pixels have an even number of bytes
  alignas(64) uint16_t at[3][32] = {}, by[3][32] = {};
  // And for 48 bytes, as another multiple of these pixels: byte i of vector k is byte part[k][r][i] of vector r, where
  // that is less than 16.
  alignas(16) uint8_t part[3][3][16] = {};
};
// from(i, piece): the byte of a piece that becomes its byte i.
template <class From> inline ByteOrder order_of(int pixel, bool even, bool backward, From from) {
  ByteOrder order;
  order.piece = 16 / pixel * pixel;
  const int begin = backward ? 16 - static_cast<int>(order.piece) : 0;
  for (int i = 0; i < order.piece; ++i)
    order.from[begin + i] = static_cast<uint8_t>(from(i, static_cast<int>(order.piece)));
  if (!even) return order;
  order.wide = true;
  for (int i = 0; i < 96; ++i) {
    const int pair = from(2 * i, 192) / 2;
    order.at[i / 32][i % 32] = static_cast<uint16_t>(pair < 64 ? pair : 0);
    order.by[i / 32][i % 32] = static_cast<uint16_t>(pair < 64 ? i % 32 : pair - 32);
  }
  for (int i = 0; i < 48; ++i)
    for (int r = 0; r < 3; ++r)
      order.part[i / 16][r][i % 16] = static_cast<uint8_t>(from(i, 48) / 16 == r ? from(i, 48) % 16 : 0x80);
  return order;
}

struct CopyRows {
  int64_t (*shuffle_row)(const char* in, char* out, int64_t n, bool backward, const ByteOrder& order, bool past_caches);
  int64_t (*split_threes)(const char* in, char* const* planes, int64_t n);
  int64_t (*join_threes)(const char* const* planes, char* out, int64_t n);
  int64_t (*transpose_threes)(const char* from, int64_t from_row, char* to, int64_t to_row, int64_t n);
  void (*repeat)(const char* pattern, char* to, int64_t patterns, bool past_caches);
  void (*copy_past_caches)(const char* from, char* to, int64_t n, int64_t ahead);
};

const CopyRows& copy_rows(Target t);

// What is copied, and how its innermost dimensions are.
struct CopyPlan {
  CopyDim dims[kMostCopyDims];
  int n = 0;      // dimensions
  int inner = 0;  // those that the kernel takes
  int64_t e;      // bytes of an element
  void (*kernel)(const CopyPlan&, const char* from, char* to) = nullptr;
  const CopyRows* rows = nullptr;
  ByteOrder order;     // of shuffled rows
  bool large = false;  // too large to be read again soon
  const CopyDim& last() const { return dims[n - 1]; }
  const CopyDim& next() const { return dims[n - 2]; }
};

}  // namespace penstock
