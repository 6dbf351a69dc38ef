// SPDX-License-Identifier: Apache-2.0
// The innermost one or two dimensions of a copy, by the strides that they have.
#pragma once
#include <algorithm>
#include <cstring>

#include "batch/copy_plan.h"

namespace penstock {

constexpr int64_t kLongRun = 4096;
// One dimension. A run that is contiguous in both memories.
inline void copy_run(const CopyPlan& p, const char* from, char* to) {
  const int64_t n = p.last().extent * p.e;
  const int64_t ahead = p.n > 1 && p.next().from < 0 ? p.next().from : 0;  // rows from below
  if (p.large && n >= kLongRun) p.rows->copy_past_caches(from, to, n, ahead);
  else std::memcpy(to, from, static_cast<size_t>(n));
}
template <size_t kBytes> void copy_line(const CopyPlan& p, const char* from, char* to) {
  const CopyDim d = p.last();
  for (int64_t i = 0; i < d.extent; ++i) std::memcpy(to + i * d.to, from + i * d.from, kBytes);
}
// One element again and again. The pattern begins at a cache line; its length is a multiple of all sizes of elements.
constexpr int64_t kPattern = 192;
inline void copy_repeated(const CopyPlan& p, const char* from, char* to) {
  const int64_t n = p.last().extent * p.e, head = -reinterpret_cast<intptr_t>(to) & 63;
  alignas(64) char pattern[kPattern];
  for (int64_t i = 0, at = head % p.e; i < kPattern; ++i, at = at + 1 == p.e ? 0 : at + 1) pattern[i] = from[at];
  for (int64_t i = 0; i < head; ++i) to[i] = from[i % p.e];
  const int64_t patterns = (n - head) / kPattern, rest = head + patterns * kPattern;
  p.rows->repeat(pattern, to + head, patterns, p.large);
  std::memcpy(to + rest, pattern, static_cast<size_t>(n - rest));
}
// The same in a shorter run: what is written is copied to what follows it.
constexpr int64_t kGrownRun = 64;
inline void copy_grown(const CopyPlan& p, const char* from, char* to) {
  const auto n = static_cast<size_t>(p.last().extent * p.e);
  auto done = static_cast<size_t>(p.e);
  if (done == 1) {
    std::memset(to, static_cast<unsigned char>(*from), n);
    return;
  }
  std::memcpy(to, from, done);
  for (; done < n; done *= 2) std::memcpy(to + done, to, std::min(done, n - done));
}
// A mirrored row: element i is at from - i * e.
template <size_t kBytes> void copy_mirrored(const CopyPlan& p, const char* from, char* to) {
  const int64_t n = p.last().extent * p.e;
  const char* low = from + p.e - n;
  for (int64_t i = p.rows->shuffle_row(low, to, n, true, p.order, p.large); i < n; i += p.e)
    std::memcpy(to + n - p.e - i, low + i, kBytes);
}
// Two dimensions: pixels whose elements are in the reverse order.
template <size_t kBytes> void copy_swapped(const CopyPlan& p, const char* from, char* to) {
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
template <size_t kBytes> void copy_split(const CopyPlan& p, const char* from, char* to) {
  CopyDim rows = p.next(), columns = p.last();
  if (kBytes == 1 && rows.extent == 3 && columns.from == 3) {
    char* const planes[3] = {to, to + rows.to, to + 2 * rows.to};
    const int64_t done = p.rows->split_threes(from, planes, columns.extent);
    from += done * columns.from, to += done * columns.to, columns.extent -= done;
  }
  copy_thin<kBytes>(from, to, rows, columns);
}
// The last dimension is the rows: planes become pixels.
template <size_t kBytes> void copy_joined(const CopyPlan& p, const char* from, char* to) {
  CopyDim rows = p.last(), columns = p.next();
  if (kBytes == 1 && rows.extent == 3 && columns.from == 1 && columns.to == 3) {
    const char* const planes[3] = {from, from + rows.from, from + 2 * rows.from};
    const int64_t done = p.rows->join_threes(planes, to, columns.extent);
    from += done * columns.from, to += done * columns.to, columns.extent -= done;
  }
  copy_thin<kBytes>(from, to, rows, columns);
}

}  // namespace penstock
