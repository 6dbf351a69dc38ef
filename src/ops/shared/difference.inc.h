// SPDX-License-Identifier: Apache-2.0
// Included once per target by difference.h.
template <class T> void differences(const T* a, const T* b, T* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) <= 2 && !std::is_same_v<T, bool>)
      out[i] = static_cast<T>(a[i] < b[i] ? 0 : a[i] - b[i]);
    else out[i] = DifferenceRule::difference<T>(a[i], b[i]);
  }
}
