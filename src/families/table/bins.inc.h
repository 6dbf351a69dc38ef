// SPDX-License-Identifier: Apache-2.0
// Included once per target by bins.cpp: where the counts of elements are.
template <class T> void places_of(const T* in, const int32_t* first, int32_t* to, int64_t n, const Bins& bins) {
  const Bins b = bins;
  for (int64_t i = 0; i < n; ++i) to[i] = first[i] + bin_of(static_cast<float>(in[i]), b);
}
