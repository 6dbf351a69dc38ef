// SPDX-License-Identifier: Apache-2.0
// Included once per target by extreme_places.cpp.

// The extremes of n elements, a multiple of kApart: the compiler makes vectors of the numbers side by side. NaN, which
// no comparison finds, is left out.
template <class T> void extremes(const T* in, int64_t n, T& least, T& most) {
  T low[kApart], high[kApart];
  for (int k = 0; k < kApart; ++k) low[k] = least, high[k] = most;
  for (int64_t i = 0; i < n; i += kApart)
    for (int k = 0; k < kApart; ++k) {
      const T v = in[i + k];
      low[k] = v < low[k] ? v : low[k];
      high[k] = high[k] < v ? v : high[k];
    }
  T lowest = low[0], highest = high[0];  // not through references: each store would wait for the one before it
  for (int k = 1; k < kApart; ++k) {
    lowest = low[k] < lowest ? low[k] : lowest;
    highest = highest < high[k] ? high[k] : highest;
  }
  least = lowest, most = highest;
}
// Whether one of kSearched elements is the value.
template <class T> bool has(const T* in, T value) {
  T found[kApart] = {};
  for (int64_t i = 0; i < kSearched; i += kApart)
    for (int k = 0; k < kApart; ++k) found[k] = in[i + k] == value ? T(1) : found[k];
  uint64_t words[kApart * sizeof(T) / sizeof(uint64_t)], any = 0;
  std::memcpy(words, found, sizeof found);
  for (const uint64_t word : words) any |= word;
  return any != 0;
}
// The first of n elements that is the value; n: none.
template <class T> int64_t first_of(const T* in, int64_t n, T value) {
  int64_t i = 0;
  while (i + kSearched <= n && !has(in + i, value)) i += kSearched;
  while (i < n && !(in[i] == value)) ++i;
  return i;
}
