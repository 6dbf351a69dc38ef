// SPDX-License-Identifier: Apache-2.0
// Memory that the next rows of outputs will read, requested while this row is computed. Where a map turns or shears, a
// row of outputs crosses many rows of the picture, for a few pixels each: the processor does not see them coming, and
// would wait for each.
#pragma once
#include <cstdint>

namespace penstock {

// The next row of outputs reads at most so far from this one, unless the map makes the picture smaller than a half.
constexpr int kRowsAhead = 3;

// One of kEvery pixels of n, at data + offset[i], kRowsAhead rows further on. row_bytes: from one of these to the next,
// negative where the next row of outputs lies above this one in the picture.
template <int kEvery, class T>
inline __attribute__((always_inline)) void request_rows_ahead(const T* data, int64_t row_bytes, const int32_t* offset,
                                                              int n) {
  const char* const ahead = reinterpret_cast<const char*>(data) + kRowsAhead * row_bytes;
  for (int i = 0; i < n; i += kEvery) __builtin_prefetch(ahead + int64_t{offset[i]} * static_cast<int64_t>(sizeof(T)));
}

// How many pixels of so many bytes share a request: neighbors are in one line of a cache, or in rows that others
// request.
constexpr int pixels_of_request(int64_t pixel_bytes) { return pixel_bytes >= 8 ? 1 : 4; }

}  // namespace penstock
