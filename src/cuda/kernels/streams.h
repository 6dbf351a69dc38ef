// SPDX-License-Identifier: Apache-2.0
// Copies rows of the source to shared memory while earlier rows are filtered.
#pragma once
#include "cuda/kernels/tile_taps.h"

namespace penstock {
template <int own> struct alignas(own) OwnWords {
  uint32_t v[own / 4];
};
// Copies to shared memory. The thread that started the copy may read it after wait_for_fetched.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ inline uint32_t shared_place(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ inline void fetch_words(OwnWords<16>* to, const uint8_t* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_place(to)), "l"(from) : "memory");
}
__device__ inline void fetch_words(OwnWords<8>* to, const uint8_t* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_place(to)), "l"(from) : "memory");
}
__device__ inline void fetch_word(uint32_t* to, const uint8_t* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_place(to)), "l"(from) : "memory");
}
__device__ inline void end_fetch() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all copies but the last n groups.
template <int n> __device__ inline void wait_for_fetched() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
#else
template <int own> __device__ inline void fetch_words(OwnWords<own>* to, const uint8_t* from) {
  *to = *reinterpret_cast<const OwnWords<own>*>(from);
}
__device__ inline void fetch_word(uint32_t* to, const uint8_t* from) { *to = *reinterpret_cast<const uint32_t*>(from); }
__device__ inline void end_fetch() {}
template <int n> __device__ inline void wait_for_fetched() {}
#endif
// Stores aligned words, by one instruction.
#ifdef __CUDA_ARCH__
__device__ inline void store_words(uint8_t* to, const OwnWords<16>& words) {
  const uint32_t* v = words.v;
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
               : "memory");
}
#else
template <int own> __device__ inline void store_words(uint8_t* to, const OwnWords<own>& words) {
  *reinterpret_cast<OwnWords<own>*>(to) = words;
}
#endif
// Copies the aligned words, from the one that holds byte q, that have a byte of the row. `before` bytes of the row come
// before q.
template <int own>
__device__ inline void fetch_some(OwnWords<own>* to, const uint8_t* q, int before, int bytes) {
  const int low = static_cast<int>(reinterpret_cast<uint64_t>(q) & 3);
  PENSTOCK_UNROLL
  for (int k = 0; k < own / 4; ++k)
    if (before + 4 * k - low + 3 >= 0 && before + 4 * k - low < bytes) fetch_word(&to->v[k], q - low + 4 * k);
}
// A value that all threads of a warp have, in a uniform register.
template <class T> __device__ inline T of_warp(T v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return std::bit_cast<T>(__reduce_or_sync(~0u, std::bit_cast<uint32_t>(v)));
#else
  return v;
#endif
}
// The integers of four numbers to which 1.5 * 2^23 was added.
__device__ inline uint32_t low_bytes(float a, float b, float c, float d) {
  const uint32_t words[4] = {std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b), std::bit_cast<uint32_t>(c),
                             std::bit_cast<uint32_t>(d)};
#ifdef PENSTOCK_EMULATED
  return (words[0] & 255) | (words[1] & 255) << 8 | (words[2] & 255) << 16 | words[3] << 24;
#else
  return __byte_perm(__byte_perm(words[0], words[1], 0x0040), __byte_perm(words[2], words[3], 0x0040), 0x5410);
#endif
}
// Weight k of an output near the border.
template <int kind> __device__ PENSTOCK_NOINLINE float folded_weight(AxisTaps a, int64_t output, int k) {
  if (kind >= 0) a.kind = static_cast<FilterKind>(kind);
  return tap_weight(a, output_taps(a, output), 1.0, k);
}
}  // namespace penstock
