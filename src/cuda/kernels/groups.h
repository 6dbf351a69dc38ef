// SPDX-License-Identifier: Apache-2.0
// Vectors of neighbors: T in[positions][planes] from and to memory.
#pragma once
#include "cuda/kernels/spellings.h"

namespace penstock {
constexpr int vector_alignment(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}
template <class T, int n> struct alignas(vector_alignment(n * sizeof(T))) Vector {
  T v[n];
};

// The n bytes at `from`, any address, by aligned words. A word that has none of them is not read.
template <int n> PENSTOCK_HD inline void load_bytes(const uint8_t* from, uint8_t (&to)[n]) {
  const uint64_t address = reinterpret_cast<uint64_t>(from);
  const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~uint64_t{3});
  const int shift = static_cast<int>(address & 3) * 8;
  uint32_t low = words[0];
  for (int k = 0; k < n / 4; ++k) {
    const uint32_t high = shift || k + 1 < n / 4 ? words[k + 1] : 0;
    const uint32_t w = static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> shift);
    for (int b = 0; b < 4; ++b) to[4 * k + b] = static_cast<uint8_t>(w >> 8 * b);
    low = high;
  }
}
template <class I, class T, int q, int p> PENSTOCK_HD inline void store_whole(T* to, I plane, int how,
                                                                              const T (&from)[q][p]) {
  if (how == 1) {
    for (int k = 0; k < p; ++k) {
      Vector<T, q> v;
      for (int j = 0; j < q; ++j) v.v[j] = from[j][k];
      *reinterpret_cast<Vector<T, q>*>(to + k * plane) = v;
    }
  } else {
    Vector<T, q * p> v;
    for (int j = 0; j < q; ++j)
      for (int k = 0; k < p; ++k) v.v[j * p + k] = from[j][k];
    *reinterpret_cast<Vector<T, q * p>*>(to) = v;
  }
}
// Contiguous positions, forward or backward, whose planes are contiguous too.
template <class T, int q, int p> PENSTOCK_HD inline void load_group(const T* from, bool forward, T (&to)[q][p]) {
  const T* low = forward ? from : from - (q - 1) * p;
  T all[q * p];
  if ((reinterpret_cast<uint64_t>(low) & (sizeof(Vector<T, q * p>) > 16 ? 15 : alignof(Vector<T, q * p>) - 1)) == 0) {
    const Vector<T, q * p> v = *reinterpret_cast<const Vector<T, q * p>*>(low);
    for (int k = 0; k < q * p; ++k) all[k] = v.v[k];
  } else if constexpr (sizeof(T) == 1 && q * p % 4 == 0) {
    uint8_t bytes[q * p];
    load_bytes(reinterpret_cast<const uint8_t*>(low), bytes);
    for (int k = 0; k < q * p; ++k) all[k] = static_cast<T>(bytes[k]);
  } else {
    for (int k = 0; k < q * p; ++k) all[k] = low[k];
  }
  for (int j = 0; j < q; ++j)
    for (int k = 0; k < p; ++k) to[j][k] = forward ? all[j * p + k] : all[(q - 1 - j) * p + k];
}
PENSTOCK_HD inline uint16_t bits_of_number(float v) {
#ifdef __CUDA_ARCH__
  uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
  return h;
#else
  return half_bits(v);
#endif
}
// Halves of a group: one test for NaN covers all of it.
template <int q, int p> PENSTOCK_HD inline void to_halves(const float (&from)[q][p], Half (&to)[q][p]) {
  bool numbers = true;
  for (int j = 0; j < q; ++j)
    for (int k = 0; k < p; ++k) numbers &= from[j][k] == from[j][k];
  if (numbers) {
    for (int j = 0; j < q; ++j)
      for (int k = 0; k < p; ++k) to[j][k].bits = bits_of_number(from[j][k]);
  } else {
    for (int j = 0; j < q; ++j)
      for (int k = 0; k < p; ++k) to[j][k] = Half(from[j][k]);
  }
}
template <class T, int n> PENSTOCK_HD inline void store_vector(T* to, const Vector<T, n>& v) {
  if ((reinterpret_cast<uint64_t>(to) & (alignof(Vector<T, n>) - 1)) == 0) *reinterpret_cast<Vector<T, n>*>(to) = v;
  else
    for (int k = 0; k < n; ++k) to[k] = v.v[k];
}
template <class I, class T, int q, int p> PENSTOCK_HD inline void store_planes(T* to, I plane, const T (&from)[q][p]) {
  for (int k = 0; k < p; ++k) {
    Vector<T, q> v;
    for (int j = 0; j < q; ++j) v.v[j] = from[j][k];
    store_vector<T, q>(to + k * plane, v);
  }
}
template <class T, int q, int p> PENSTOCK_HD inline void store_pixels(T* to, const T (&from)[q][p]) {
  Vector<T, q * p> v;
  for (int j = 0; j < q; ++j)
    for (int k = 0; k < p; ++k) v.v[j * p + k] = from[j][k];
  store_vector<T, q * p>(to, v);
}
}  // namespace penstock
