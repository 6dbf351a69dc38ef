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
  for (int k = 0; k < kApart; ++k) {
    least = low[k] < least ? low[k] : least;
    most = most < high[k] ? high[k] : most;
  }
}
// Whether one of kApart elements is the value.
template <class T> bool has(const T* in, T value) {
  T found = 0;
  for (int k = 0; k < kApart; ++k) found = in[k] == value ? T(1) : found;
  return found != 0;
}
// The first of n elements that is the value; n: none.
template <class T> int64_t first_of(const T* in, int64_t n, T value) {
  int64_t i = 0;
  while (i + kApart <= n && !has(in + i, value)) i += kApart;
  while (i < n && !(in[i] == value)) ++i;
  return i;
}
