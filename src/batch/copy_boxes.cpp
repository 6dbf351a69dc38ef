// SPDX-License-Identifier: Apache-2.0
#include "batch/copy_boxes.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/intrinsics.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace penstock {
namespace {

// Byte t of register k comes from byte at[k][r][t] of register r, if that is less than 16.
struct ByteMasks {
  alignas(16) uint8_t at[3][3][16];
};
// from(i): the byte of 48 that becomes byte i.
template <class From> constexpr ByteMasks masks_of(From from) {
  ByteMasks m{};
  for (int i = 0; i < 48; ++i)
    for (int r = 0; r < 3; ++r)
      m.at[i / 16][r][i % 16] = from(i) / 16 == r ? static_cast<uint8_t>(from(i) % 16) : uint8_t{0x80};
  return m;
}
// Pixels of three bytes to planes of 16, and back.
[[maybe_unused]] constexpr ByteMasks kToPlanes = masks_of([](int i) { return i % 16 * 3 + i / 16; });
[[maybe_unused]] constexpr ByteMasks kToPixels = masks_of([](int i) { return i % 3 * 16 + i / 3; });

// The bytes of a piece of a row in another order: byte i comes from byte from[i]. A piece is as many pixels of `pixel`
// bytes as a vector of 16 holds; it is at the end of the vector if pieces come in the reverse order, else at its begin.
struct ByteOrder {
  int64_t piece = 0;  // bytes; 0: a pixel is larger
  alignas(16) uint8_t from[16] = {};
  // The same for 192 bytes, a multiple of all pixels, in pairs of bytes: pair i of vector k is pair at[k][i] of the
  // first two vectors, then by[k][i] of that and the third; 32 and more are in the second one.
  bool wide = false;  // pixels have an even number of bytes
  alignas(64) uint16_t at[3][32] = {}, by[3][32] = {};
};
// from(i, piece): the byte of a piece that becomes its byte i.
template <class From> ByteOrder order_of(int pixel, bool even, bool backward, From from) {
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
  return order;
}

struct CopyRows {
  int64_t (*shuffle_row)(const char* in, char* out, int64_t n, bool backward, const ByteOrder& order, bool past_caches);
  int64_t (*split_threes)(const char* in, char* const* planes, int64_t n);
  int64_t (*join_threes)(const char* const* planes, char* out, int64_t n);
  int64_t (*transpose_threes)(const char* from, int64_t from_row, char* to, int64_t to_row, int64_t n);
  void (*repeat)(const char* pattern, char* to, int64_t patterns, bool past_caches);
};

#define PENSTOCK_LOOPS rows
#define PENSTOCK_LOOPS_TEXT "batch/copy_rows.inc.h"
#include "base/foreach_target.h"

const CopyRows& copy_rows(Target t) { return PENSTOCK_FOR_TARGET(t, rows, kRows); }

// A copy of this many bytes leaves the second-level cache before anything reads it.
constexpr int64_t kLargeCopy = int64_t{1} << 20;

// What is copied, and how its innermost dimensions are.
struct Plan {
  CopyDim dims[kMostCopyDims];
  int n = 0;      // dimensions
  int inner = 0;  // those that the kernel takes
  int64_t e;      // bytes of an element
  void (*kernel)(const Plan&, const char* from, char* to) = nullptr;
  const CopyRows* rows = nullptr;
  ByteOrder order;     // of shuffled rows
  bool large = false;  // too large to be read again soon
  const CopyDim& last() const { return dims[n - 1]; }
  const CopyDim& next() const { return dims[n - 2]; }
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

// One dimension. A run that is contiguous in both memories.
void copy_run(const Plan& p, const char* from, char* to) {
  std::memcpy(to, from, static_cast<size_t>(p.last().extent * p.e));
}
template <size_t kBytes> void copy_line(const Plan& p, const char* from, char* to) {
  const CopyDim d = p.last();
  for (int64_t i = 0; i < d.extent; ++i) std::memcpy(to + i * d.to, from + i * d.from, kBytes);
}
// One element again and again. The pattern begins at a cache line; its length is a multiple of all sizes of elements.
constexpr int64_t kPattern = 192, kLongRun = 4096;
void copy_repeated(const Plan& p, const char* from, char* to) {
  const int64_t n = p.last().extent * p.e, head = -reinterpret_cast<intptr_t>(to) & 63;
  alignas(64) char pattern[kPattern];
  for (int64_t i = 0, at = head % p.e; i < kPattern; ++i, at = at + 1 == p.e ? 0 : at + 1) pattern[i] = from[at];
  for (int64_t i = 0; i < head; ++i) to[i] = from[i % p.e];
  const int64_t patterns = (n - head) / kPattern, rest = head + patterns * kPattern;
  p.rows->repeat(pattern, to + head, patterns, p.large);
  std::memcpy(to + rest, pattern, static_cast<size_t>(n - rest));
}
// A mirrored row: element i is at from - i * e.
template <size_t kBytes> void copy_mirrored(const Plan& p, const char* from, char* to) {
  const int64_t n = p.last().extent * p.e;
  const char* low = from + p.e - n;
  for (int64_t i = p.rows->shuffle_row(low, to, n, true, p.order, p.large); i < n; i += p.e)
    std::memcpy(to + n - p.e - i, low + i, kBytes);
}
// Two dimensions: pixels whose elements are in the reverse order.
template <size_t kBytes> void copy_swapped(const Plan& p, const char* from, char* to) {
  const int64_t c = p.last().extent, pixel = c * p.e, n = p.next().extent * pixel;
  const char* low = from + p.e - pixel;
  for (int64_t i = p.rows->shuffle_row(low, to, n, false, p.order, p.large); i < n; i += pixel)
    for (int64_t k = 0; k < c; ++k) std::memcpy(to + i + k * p.e, low + i + (c - 1 - k) * p.e, kBytes);
}

// Few rows, such as channels: one pass over the columns that handles all rows.
template <size_t kBytes, int kRows>
void copy_thin(const char* __restrict from, char* __restrict to, const CopyDim& rows, const CopyDim& columns) {
  for (int64_t k = 0; k < columns.extent; ++k)
    for (int i = 0; i < kRows; ++i)
      std::memcpy(to + k * columns.to + i * rows.to, from + k * columns.from + i * rows.from, kBytes);
}
template <size_t kBytes> void copy_thin(const char* from, char* to, const CopyDim& rows, const CopyDim& columns) {
  if (rows.extent == 2) copy_thin<kBytes, 2>(from, to, rows, columns);
  else if (rows.extent == 3) copy_thin<kBytes, 3>(from, to, rows, columns);
  else copy_thin<kBytes, 4>(from, to, rows, columns);
}
// The last dimension is the columns: pixels become planes.
template <size_t kBytes> void copy_split(const Plan& p, const char* from, char* to) {
  CopyDim rows = p.next(), columns = p.last();
  if (kBytes == 1 && rows.extent == 3 && columns.from == 3) {
    char* const planes[3] = {to, to + rows.to, to + 2 * rows.to};
    const int64_t done = p.rows->split_threes(from, planes, columns.extent);
    from += done * columns.from, to += done * columns.to, columns.extent -= done;
  }
  copy_thin<kBytes>(from, to, rows, columns);
}
// The last dimension is the rows: planes become pixels.
template <size_t kBytes> void copy_joined(const Plan& p, const char* from, char* to) {
  CopyDim rows = p.last(), columns = p.next();
  if (kBytes == 1 && rows.extent == 3 && columns.from == 1 && columns.to == 3) {
    const char* const planes[3] = {from, from + rows.from, from + 2 * rows.from};
    const int64_t done = p.rows->join_threes(planes, to, columns.extent);
    from += done * columns.from, to += done * columns.to, columns.extent -= done;
  }
  copy_thin<kBytes>(from, to, rows, columns);
}

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
template <size_t kBytes> void copy_transposed(const Plan& p, const char* from, char* to) {
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
template <> void copy_transposed<3>(const Plan& p, const char* from, char* to) {
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

void run(const Plan& p, const char* from, char* to, int d) {
  if (d == p.n - p.inner) return p.kernel(p, from, to);
  const CopyDim& dim = p.dims[d];
  for (int64_t i = 0; i < dim.extent; ++i) run(p, from + i * dim.from, to + i * dim.to, d + 1);
}

// Calls f(the size as a constant) for a size that elements have.
template <class F> void with_size(int64_t e, F&& f) {
  switch (e) {
    case 1: return f(std::integral_constant<size_t, 1>());
    case 2: return f(std::integral_constant<size_t, 2>());
    case 3: return f(std::integral_constant<size_t, 3>());
    case 4: return f(std::integral_constant<size_t, 4>());
    case 6: return f(std::integral_constant<size_t, 6>());
    case 8: return f(std::integral_constant<size_t, 8>());
    case 12: return f(std::integral_constant<size_t, 12>());
    case 16: return f(std::integral_constant<size_t, 16>());
    default: fail(ErrorKind::internal, "copy of elements of {} bytes", e);
  }
}

// Dimensions in the order of the target, without those of one element; neighbors are merged where both memories
// allow it.
void set_dims(Plan& p, std::span<const CopyDim> dims, const char*& from, char*& to) {
  CopyDim sorted[kMostCopyDims];
  int n = 0;
  for (CopyDim d : dims) {
    if (d.extent == 1) continue;
    if (d.to < 0) {
      from += (d.extent - 1) * d.from, to += (d.extent - 1) * d.to;
      d.from = -d.from, d.to = -d.to;
    }
    int at = n++;
    for (; at > 0 && sorted[at - 1].to < d.to; --at) sorted[at] = sorted[at - 1];
    sorted[at] = d;
  }
  for (int d = 0; d < n; ++d) {
    const CopyDim& next = sorted[d];
    CopyDim* before = p.n > 0 ? &p.dims[p.n - 1] : nullptr;
    if (before && before->from == next.from * next.extent && before->to == next.to * next.extent)
      *before = {before->extent * next.extent, next.from, next.to};
    else p.dims[p.n++] = next;
  }
  if (p.n == 0) p.dims[p.n++] = {1, p.e, p.e};
  // A short run at the end, such as the channels of a pixel, becomes one wide element.
  if (p.n > 1 && p.last().from == p.e && p.last().to == p.e) {
    const int64_t wide = p.last().extent * p.e;
    if (wide == 2 || wide == 3 || wide == 4 || wide == 6 || wide == 8 || wide == 12 || wide == 16) p.e = wide, --p.n;
  }
}

bool is_few(int64_t n) { return n >= 2 && n <= 4; }

// The dimension, other than the last, that is contiguous in the source, comes next to the last; -1: there is none.
bool set_rows(Plan& p, const char*& from, char*& to) {
  for (int d = p.n - 2; d >= 0; --d) {
    if (p.dims[d].from != p.e && p.dims[d].from != -p.e) continue;
    std::rotate(p.dims + d, p.dims + d + 1, p.dims + p.n - 1);
    CopyDim& rows = p.dims[p.n - 2];
    if (rows.from < 0) {
      from += (rows.extent - 1) * rows.from, to += (rows.extent - 1) * rows.to;
      rows.from = -rows.from, rows.to = -rows.to;
    }
    return true;
  }
  return false;
}

void set_kernel(Plan& p, const char*& from, char*& to) {
  const CopyDim last = p.last();
  p.inner = 1;
  if (last.from == p.e && last.to == p.e) {
    p.kernel = &copy_run;
    return;
  }
  with_size(p.e, [&]<size_t kBytes>(std::integral_constant<size_t, kBytes>) {
    p.kernel = &copy_line<kBytes>;
    if (last.to != p.e) return;
    const CopyDim next = p.n > 1 ? p.next() : CopyDim{};
    const int64_t pixel = last.extent * p.e;
    if (p.n > 1 && last.from == -p.e && next.from == pixel && next.to == pixel && 48 % pixel == 0) {
      p.kernel = &copy_swapped<kBytes>, p.inner = 2;
      const int e = static_cast<int>(p.e), pixel_bytes = static_cast<int>(pixel);
      p.order = order_of(pixel_bytes, e % 2 == 0, false, [=](int i, int) {
        return i / pixel_bytes * pixel_bytes + (pixel_bytes - e - i % pixel_bytes / e * e) + i % e;
      });
    } else if (last.from == -p.e) {
      p.kernel = &copy_mirrored<kBytes>;
      const int e = static_cast<int>(p.e);
      p.order = order_of(e, e % 2 == 0, true, [=](int i, int piece) { return piece - e - i / e * e + i % e; });
    } else if (last.from == 0 && pixel >= kLongRun) {
      p.kernel = &copy_repeated;
    } else if (p.n > 1 && is_few(last.extent) && next.to == pixel) {
      p.kernel = &copy_joined<kBytes>, p.inner = 2;
    } else if (set_rows(p, from, to)) {
      p.inner = 2;
      p.kernel = is_few(p.next().extent) ? &copy_split<kBytes> : &copy_transposed<kBytes>;
    }
  });
}

}  // namespace

void copy_boxes(const void* from, void* to, std::span<const CopyDim> dims, int64_t bytes, Target target) {
  if (dims.size() > kMostCopyDims) fail(ErrorKind::internal, "a copy of {} dimensions", dims.size());
  for (const CopyDim& d : dims)
    if (d.extent <= 0) return;
  Plan p;
  p.e = bytes, p.rows = &copy_rows(target);
  int64_t all = bytes;
  for (const CopyDim& d : dims) all *= d.extent;
  p.large = all >= kLargeCopy;
  const auto* f = static_cast<const char*>(from);
  auto* t = static_cast<char*>(to);
  set_dims(p, dims, f, t);
  set_kernel(p, f, t);
  run(p, f, t, 0);
}

}  // namespace penstock
