// SPDX-License-Identifier: Apache-2.0
// The machine operations of the JPEG decoder's kernels. Compiled by NVRTC or nvcc, and for the host after
// tests/emulated_gpu/fibers.h, which has the same names.
#pragma once
#include "cuda/jpeg/batch_table.h"

#define PENSTOCK_DEVICE __device__ __forceinline__
#ifdef __CUDACC__
#define PENSTOCK_UNROLL _Pragma("unroll")
#define PENSTOCK_KEEP_LOOP _Pragma("unroll 1")
#else
#define PENSTOCK_UNROLL
#define PENSTOCK_KEEP_LOOP
#endif

namespace penstock::jpeg_gpu {

constexpr uint32_t kAllLanes = 0xFFFFFFFFu;

// The high word of hi:lo << (bits mod 32).
PENSTOCK_DEVICE uint32_t funnel(uint32_t hi, uint32_t lo, uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_l(lo, hi, bits);
#else
  bits &= 31;
  return bits ? hi << bits | lo >> (32 - bits) : hi;
#endif
}

// Byte i of the result is byte (selector >> 4 * i & 7) of b:a; if bit 3 of that digit is set, copies of its sign.
PENSTOCK_DEVICE uint32_t pick_bytes(uint32_t a, uint32_t b, uint32_t selector) {
#ifdef __CUDA_ARCH__
  uint32_t r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
#else
  uint32_t r = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t k = selector >> (4 * i) & 7, byte = (k < 4 ? a : b) >> (8 * (k & 3)) & 255;
    r |= (selector >> (4 * i) & 8 ? (byte >> 7) * 255 : byte) << (8 * i);
  }
  return r;
#endif
}
constexpr uint32_t kLowHalf = 0x9910, kHighHalf = 0xBB32;  // selectors: half of `a` as a signed number

// Clamped to 16 bits; `low` in the low half.
PENSTOCK_DEVICE uint32_t saturate_pair(int32_t low, int32_t high) {
#ifdef __CUDA_ARCH__
  uint32_t r;
  asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(r) : "r"(high), "r"(low));
  return r;
#else
  const auto clamp = [](int32_t v) { return v < -32768 ? -32768 : v > 32767 ? 32767 : v; };
  return (static_cast<uint32_t>(clamp(low)) & 0xFFFF) | static_cast<uint32_t>(clamp(high)) << 16;
#endif
}

// Four values clamped to bytes, the first one lowest.
PENSTOCK_DEVICE uint32_t saturate_bytes(int32_t a, int32_t b, int32_t c, int32_t d) {
#ifdef __CUDA_ARCH__
  uint32_t high, r;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(d), "r"(c));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(b), "r"(a), "r"(high));
  return r;
#else
  const auto clamp = [](int32_t v) { return static_cast<uint32_t>(v < 0 ? 0 : v > 255 ? 255 : v); };
  return clamp(a) | clamp(b) << 8 | clamp(c) << 16 | clamp(d) << 24;
#endif
}
// The high halves of four values clamped to bytes, the first one lowest.
PENSTOCK_DEVICE uint32_t saturate_high_halves(int32_t a, int32_t b, int32_t c, int32_t d) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  uint32_t low = pick_bytes(static_cast<uint32_t>(a), static_cast<uint32_t>(b), 0x7632),
           high = pick_bytes(static_cast<uint32_t>(c), static_cast<uint32_t>(d), 0x7632);
  asm("min.s16x2.relu %0, %0, %1;" : "+r"(low) : "r"(0x00FF00FF));
  asm("min.s16x2.relu %0, %0, %1;" : "+r"(high) : "r"(0x00FF00FF));
  return pick_bytes(low, high, 0x6420);
#else
  return saturate_bytes(a >> 16, b >> 16, c >> 16, d >> 16);
#endif
}
// The same for values around 0, which becomes 128.
PENSTOCK_DEVICE uint32_t saturate_samples(int32_t a, int32_t b, int32_t c, int32_t d) {
#ifdef __CUDA_ARCH__
  uint32_t high, r;
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(d), "r"(c));
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(b), "r"(a), "r"(high));
  return r ^ 0x80808080;
#else
  return saturate_bytes(a + 128, b + 128, c + 128, d + 128);
#endif
}

PENSTOCK_DEVICE uint32_t umin(uint32_t a, uint32_t b) { return a < b ? a : b; }
PENSTOCK_DEVICE uint32_t umax(uint32_t a, uint32_t b) { return a > b ? a : b; }
PENSTOCK_DEVICE int32_t signed_half(uint32_t v) { return static_cast<int16_t>(static_cast<uint16_t>(v)); }

struct alignas(16) Words4 {
  uint32_t x, y, z, w;
};
struct alignas(8) Words2 {
  uint32_t x, y;
};
template <class T> PENSTOCK_DEVICE T load_as(const void* p) { return *static_cast<const T*>(p); }
// Reads device memory that no thread of the launch writes: not ordered with stores.
template <class T> PENSTOCK_DEVICE T load_read_only(const void* p) {
#ifdef __CUDA_ARCH__
  const size_t at = __cvta_generic_to_global(p);
  if constexpr (sizeof(T) == 8) {
    Words2 v;
    asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(at));
    return v;
  } else {
    uint32_t v;
    if constexpr (sizeof(T) == 4) asm("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(at));
    else asm("ld.global.nc.u8 %0, [%1];" : "=r"(v) : "l"(at));
    return static_cast<T>(v);
  }
#else
  return load_as<T>(p);
#endif
}

// A block's shared memory by 32-bit addresses that are opaque to the compiler, so that it does not recompute them in
// inner loops.
struct SharedWords {
#ifdef __CUDA_ARCH__
  uint32_t at;
  PENSTOCK_DEVICE explicit SharedWords(const void* p) {
    at = static_cast<uint32_t>(__cvta_generic_to_shared(p));
    asm volatile("" : "+r"(at));
  }
  PENSTOCK_DEVICE SharedWords operator+(uint32_t bytes) const {
    SharedWords moved = *this;
    moved.at += bytes;
    return moved;
  }
  PENSTOCK_DEVICE uint32_t load(uint32_t offset) const {
    uint32_t v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at + offset));
    return v;
  }
  PENSTOCK_DEVICE Words4 load_four(uint32_t offset) const {  // at a multiple of 16
    Words4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(at + offset)
                 : "memory");
    return v;
  }
  PENSTOCK_DEVICE uint32_t load_half(uint32_t offset) const {
    uint32_t v;
    asm volatile("{ .reg .u16 t; ld.shared.u16 t, [%1]; cvt.u32.u16 %0, t; }" : "=r"(v) : "r"(at + offset));
    return v;
  }
  PENSTOCK_DEVICE void store(uint32_t offset, uint32_t v) const {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at + offset), "r"(v));
  }
  PENSTOCK_DEVICE void store_two(uint32_t offset, uint32_t a, uint32_t b) const {  // at a multiple of 8
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at + offset), "r"(a), "r"(b) : "memory");
  }
  PENSTOCK_DEVICE void store_half(uint32_t offset, uint32_t v) const {
    asm volatile("{ .reg .u16 t; cvt.u16.u32 t, %1; st.shared.u16 [%0], t; }" ::"r"(at + offset), "r"(v));
  }
#else
  char* at;
  explicit SharedWords(const void* p) : at(const_cast<char*>(static_cast<const char*>(p))) {}
  SharedWords operator+(uint32_t bytes) const { return SharedWords(at + bytes); }
  uint32_t load(uint32_t offset) const {
    uint32_t v;
    std::memcpy(&v, at + offset, 4);
    return v;
  }
  Words4 load_four(uint32_t offset) const {
    Words4 v;
    std::memcpy(&v, at + offset, 16);
    return v;
  }
  uint32_t load_half(uint32_t offset) const {
    uint16_t v;
    std::memcpy(&v, at + offset, 2);
    return v;
  }
  void store(uint32_t offset, uint32_t v) const { std::memcpy(at + offset, &v, 4); }
  void store_two(uint32_t offset, uint32_t a, uint32_t b) const { store(offset, a), store(offset + 4, b); }
  void store_half(uint32_t offset, uint32_t v) const {
    const auto half = static_cast<uint16_t>(v);
    std::memcpy(at + offset, &half, 2);
  }
#endif
};

// Stores to device memory without a branch.
PENSTOCK_DEVICE void store_word_if(bool on, uint64_t to, uint32_t v) {
#ifdef __CUDA_ARCH__
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1; }" ::"l"(to), "r"(v),
               "r"(static_cast<uint32_t>(on))
               : "memory");
#else
  if (on) *reinterpret_cast<uint32_t*>(to) = v;
#endif
}

// The words of the stream that a thread reads next, in the dynamic part of a block's shared memory.
struct alignas(32) StreamRoom {
  uint32_t words[8];
};
PENSTOCK_DEVICE StreamRoom* own_stream_room() {
#ifdef __CUDACC__
  extern __shared__ StreamRoom penstock_jpeg_streams[];
  return penstock_jpeg_streams + threadIdx.x;
#else
  static thread_local StreamRoom streams[kThreads];
  return streams + threadIdx.x;
#endif
}

// The sum of the values of all preceding threads, for blocks of kThreads; `scratch`: kThreads / 32 words.
PENSTOCK_DEVICE uint32_t sum_before(uint32_t v, uint32_t* scratch, uint32_t& total) {
  static_assert(kThreads == 8 * 32);
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  uint32_t sum = v;
  PENSTOCK_UNROLL
  for (uint32_t d = 1; d < 32; d <<= 1) {
    const uint32_t before = __shfl_up_sync(kAllLanes, sum, d);
    if (lane >= d) sum += before;
  }
  if (lane == 31) scratch[warp] = sum;
  __syncthreads();
  uint32_t warps = scratch[lane & 7];
  PENSTOCK_UNROLL
  for (uint32_t d = 1; d < 8; d <<= 1) {
    const uint32_t before = __shfl_up_sync(kAllLanes, warps, d);
    if ((lane & 7) >= d) warps += before;
  }
  total = __shfl_sync(kAllLanes, warps, 7);
  const uint32_t base = __shfl_sync(kAllLanes, warps, (warp + 7) & 7);
  __syncthreads();
  return (warp ? base : 0) + sum - v;
}
// The sum over all threads of the block.
PENSTOCK_DEVICE uint32_t sum_all(uint32_t v, uint32_t* scratch) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const uint32_t sum = __reduce_add_sync(kAllLanes, v), lane = threadIdx.x & 31;
  if (lane == 0) scratch[threadIdx.x >> 5] = sum;
  __syncthreads();
  const uint32_t total = __reduce_add_sync(kAllLanes, lane < 8 ? scratch[lane] : 0);
  __syncthreads();
  return total;
#else
  uint32_t total;
  sum_before(v, scratch, total);
  return total;
#endif
}

PENSTOCK_DEVICE void copy_words(void* to, const void* from, uint32_t bytes) {  // multiples of 16
  const auto* source = static_cast<const Words4*>(from);
  auto* target = static_cast<Words4*>(to);
  for (uint32_t i = threadIdx.x; i < bytes / 16; i += kThreads) target[i] = source[i];
}

}  // namespace penstock::jpeg_gpu
