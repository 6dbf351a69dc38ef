// SPDX-License-Identifier: Apache-2.0
// Copies between memories of different strides: transposes above all.
#include <algorithm>
#include <cstring>

#include "batch/batch.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace penstock {
namespace {

struct CopyDim {
  int64_t extent, from, to;  // strides in bytes
};

#if defined(__SSE2__)
// 16 x 16 bytes: row i of the source becomes column i of the target.
void transpose_16_bytes(const char* from, int64_t from_row, char* to, int64_t to_row) {
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
void transpose_8_pairs(const char* from, int64_t from_row, char* to, int64_t to_row) {
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
void transpose_4_words(const char* from, int64_t from_row, char* to, int64_t to_row) {
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

// Few rows, such as channels: one pass over the columns with all rows in it.
template <size_t kBytes, int kRows>
void copy_thin(const char* __restrict from, char* __restrict to, const CopyDim& rows, const CopyDim& columns) {
  for (int64_t k = 0; k < columns.extent; ++k)
    for (int i = 0; i < kRows; ++i)
      std::memcpy(to + k * columns.to + i * rows.to, from + k * columns.from + i * rows.from, kBytes);
}

// A plane of rows and columns; in blocks that fit into the first cache where neither memory is read in order.
template <size_t kBytes>
void copy_plane(const char* from, char* to, const CopyDim& rows, const CopyDim& columns) {
  constexpr auto e = static_cast<int64_t>(kBytes);
  if (rows.extent == 2) return copy_thin<kBytes, 2>(from, to, rows, columns);
  if (rows.extent == 3) return copy_thin<kBytes, 3>(from, to, rows, columns);
  if (rows.extent == 4) return copy_thin<kBytes, 4>(from, to, rows, columns);
  if (columns.extent == 3) return copy_thin<kBytes, 3>(from, to, columns, rows);
  if (columns.extent == 4) return copy_thin<kBytes, 4>(from, to, columns, rows);
  constexpr int64_t kBlock = 64;
  for (int64_t r = 0; r < rows.extent; r += kBlock)
    for (int64_t c = 0; c < columns.extent; c += kBlock) {
      const int64_t r_end = std::min(rows.extent, r + kBlock), c_end = std::min(columns.extent, c + kBlock);
      int64_t r_done = r, c_done = c;
#if defined(__SSE2__)
      // The usual transpose: rows are contiguous in the source, columns in the target.
      if constexpr (kBytes == 1 || kBytes == 2 || kBytes == 4) {
        constexpr int64_t n = 16 / e;
        if (rows.from == e && columns.to == e) {
          r_done = r + (r_end - r) / n * n, c_done = c + (c_end - c) / n * n;
          for (int64_t i = r; i < r_done; i += n)
            for (int64_t k = c; k < c_done; k += n) {
              const char* f = from + i * rows.from + k * columns.from;
              char* t = to + i * rows.to + k * columns.to;
              if constexpr (kBytes == 1) transpose_16_bytes(f, columns.from, t, rows.to);
              else if constexpr (kBytes == 2) transpose_8_pairs(f, columns.from, t, rows.to);
              else transpose_4_words(f, columns.from, t, rows.to);
            }
          copy_block<kBytes>(from, to, rows, columns, r, r_done, c_done, c_end);
        }
      }
#endif
      copy_block<kBytes>(from, to, rows, columns, r_done, r_end, c, c_end);
    }
}

template <size_t kBytes>
void copy_dims(const char* from, char* to, const CopyDim* dims, int n) {
  constexpr auto kElement = static_cast<int64_t>(kBytes);
  if (n == 1 && dims[0].from == kElement && dims[0].to == kElement) {
    std::memcpy(to, from, static_cast<size_t>(dims[0].extent) * kBytes);
  } else if (n == 1) {
    for (int64_t i = 0; i < dims[0].extent; ++i) std::memcpy(to + i * dims[0].to, from + i * dims[0].from, kBytes);
  } else if (n == 2 && !(dims[1].from == kElement && dims[1].to == kElement)) {
    copy_plane<kBytes>(from, to, dims[0], dims[1]);
  } else {
    for (int64_t i = 0; i < dims[0].extent; ++i)
      copy_dims<kBytes>(from + i * dims[0].from, to + i * dims[0].to, dims + 1, n - 1);
  }
}

// Dimensions of more than one element, neighbors merged where both memories allow; then the one that is contiguous
// in the source stands before the one that is contiguous in the target, so that copy_plane blocks exactly these two.
// A short run at the end, such as the channels of a pixel, becomes one wide element.
int copy_plan(const View& from, const View& to, CopyDim* dims, int64_t& e) {
  int n = 0;
  for (int d = 0; d < from.shape.size(); ++d) {
    if (from.shape[d] == 1) continue;
    const CopyDim next{from.shape[d], from.strides[d] * e, to.strides[d] * e};
    if (n > 0 && dims[n - 1].from == next.from * next.extent && dims[n - 1].to == next.to * next.extent)
      dims[n - 1] = {dims[n - 1].extent * next.extent, next.from, next.to};
    else dims[n++] = next;
  }
  if (n == 0) dims[n++] = {1, e, e};
  if (const CopyDim& last = dims[n - 1]; n > 1 && last.from == e && last.to == e) {
    const int64_t wide = last.extent * e;
    if (wide == 2 || wide == 3 || wide == 4 || wide == 6 || wide == 8 || wide == 12 || wide == 16) e = wide, --n;
  }
  for (int d = 0; d + 2 < n; ++d)
    if (dims[d].from == e && dims[n - 1].from != e) std::rotate(dims + d, dims + d + 1, dims + n - 1);
  return n;
}

}  // namespace

void copy_strided(const View& from, const View& to) {
  if (!(from.shape == to.shape))
    fail(ErrorKind::internal, "copy between shapes {} and {}", from.shape.text(), to.shape.text());
  if (from.volume() == 0) return;
  CopyDim dims[Shape::kMaxDims];
  auto bytes = static_cast<int64_t>(size_of(from.dtype));
  const int n = copy_plan(from, to, dims, bytes);
  const auto* f = static_cast<const char*>(from.data);
  auto* t = static_cast<char*>(to.data);
  switch (bytes) {
    case 1: return copy_dims<1>(f, t, dims, n);
    case 2: return copy_dims<2>(f, t, dims, n);
    case 3: return copy_dims<3>(f, t, dims, n);
    case 4: return copy_dims<4>(f, t, dims, n);
    case 6: return copy_dims<6>(f, t, dims, n);
    case 8: return copy_dims<8>(f, t, dims, n);
    case 12: return copy_dims<12>(f, t, dims, n);
    default: return copy_dims<16>(f, t, dims, n);
  }
}

}  // namespace penstock
