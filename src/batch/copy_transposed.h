// SPDX-License-Identifier: Apache-2.0
// Copies whose rows are contiguous in the source and columns in the target, in blocks that fit caches.
#pragma once
#include <algorithm>
#include <cstring>

#include "batch/copy_plan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace penstock {

#if defined(__SSE2__)
// 16 x 16 bytes: row i of the source becomes column i of the target.
inline void transpose_16_bytes(const char* from, int64_t from_row, char* to, int64_t to_row) {
  __m128i a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_row));
  for (int round = 0; round < 4; ++round) {  // four perfect shuffles of the rows are a transpose
    for (int i = 0; i < 8; ++i) {
      b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
      b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
    }
    std::copy(b, b + 16, a);
  }
  for (int i = 0; i < 16; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_row), a[i]);
}
// 8 x 8 elements of two bytes.
inline void transpose_8_pairs(const char* from, int64_t from_row, char* to, int64_t to_row) {
  __m128i a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_row));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
      b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    std::copy(b, b + 8, a);
  }
  for (int i = 0; i < 8; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_row), a[i]);
}
// 4 x 4 elements of four bytes.
inline void transpose_4_words(const char* from, int64_t from_row, char* to, int64_t to_row) {
  __m128i a[4], b[4];
  for (int i = 0; i < 4; ++i) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_row));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) {
      b[2 * i] = _mm_unpacklo_epi32(a[i], a[i + 2]);
      b[2 * i + 1] = _mm_unpackhi_epi32(a[i], a[i + 2]);
    }
    std::copy(b, b + 4, a);
  }
  for (int i = 0; i < 4; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_row), a[i]);
}
#endif

template <size_t kBytes>
void copy_block(const char* from, char* to, const CopyDim& rows, const CopyDim& columns, int64_t r, int64_t r_end,
                int64_t c, int64_t c_end) {
  for (int64_t i = r; i < r_end; ++i) {
    const char* f = from + i * rows.from;
    char* t = to + i * rows.to;
    for (int64_t k = c; k < c_end; ++k) std::memcpy(t + k * columns.to, f + k * columns.from, kBytes);
  }
}

// Blocks of a transpose. Small elements: what fits into the L1 cache. Pixels of three channels: few rows of the
// target, so that each is written as a stream; where a source's row is a power of two, long columns would meet in few
// of its sets.
template <size_t kBytes> struct TransposedBlock {
  static constexpr bool kPixels = kBytes % 3 == 0;
  static constexpr int64_t kRows = kPixels ? 16 : kBytes == 1 ? 64 : 32;
  static constexpr int64_t kColumns = kBytes == 6 ? 4096 : kPixels ? 256 : kRows;
};

// Rows are contiguous in the source, columns in the target.
template <size_t kBytes> void copy_transposed(const CopyPlan& p, const char* from, char* to) {
  using Block = TransposedBlock<kBytes>;
  const CopyDim rows = p.next(), columns = p.last();
  for (int64_t c = 0; c < columns.extent; c += Block::kColumns)
    for (int64_t r = 0; r < rows.extent; r += Block::kRows) {
      const int64_t r_end = std::min(rows.extent, r + Block::kRows);
      const int64_t c_end = std::min(columns.extent, c + Block::kColumns);
      int64_t r_done = r, c_done = c;
#if defined(__SSE2__)
      const auto place = [&](int64_t i, int64_t k) { return from + i * rows.from + k * columns.from; };
      const auto target = [&](int64_t i, int64_t k) { return to + i * rows.to + k * columns.to; };
      if constexpr (kBytes == 1 || kBytes == 2 || kBytes == 4) {
        constexpr auto n = static_cast<int64_t>(16 / kBytes);
        r_done = r + (r_end - r) / n * n, c_done = c + (c_end - c) / n * n;
        for (int64_t i = r; i < r_done; i += n)
          for (int64_t k = c; k < c_done; k += n) {
            if constexpr (kBytes == 1) transpose_16_bytes(place(i, k), columns.from, target(i, k), rows.to);
            else if constexpr (kBytes == 2) transpose_8_pairs(place(i, k), columns.from, target(i, k), rows.to);
            else transpose_4_words(place(i, k), columns.from, target(i, k), rows.to);
          }
      }
#endif
      copy_block<kBytes>(from, to, rows, columns, r, r_done, c_done, c_end);
      copy_block<kBytes>(from, to, rows, columns, r_done, r_end, c, c_end);
    }
}
// Elements of three bytes, four rows of the target at a time. Each step reads and writes four bytes after what it
// moves.
template <> inline void copy_transposed<3>(const CopyPlan& p, const char* from, char* to) {
  const CopyDim rows = p.next(), columns = p.last();
  int64_t r = 0;
  for (; r + 4 <= rows.extent - 2; r += 4) {
    const char* const f = from + r * rows.from;
    char* const t = to + r * rows.to;
    const int64_t done = p.rows->transpose_threes(f, columns.from, t, rows.to, columns.extent - 2);
    if (done <= 0) break;
    copy_block<3>(f, t, rows, columns, 0, 4, done, columns.extent);
  }
  for (; r < rows.extent; r += 16)
    for (int64_t c = 0; c < columns.extent; c += 256)
      copy_block<3>(from, to, rows, columns, r, std::min(rows.extent, r + 16), c, std::min(columns.extent, c + 256));
}

}  // namespace penstock
