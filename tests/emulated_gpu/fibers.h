// SPDX-License-Identifier: Apache-2.0
// Runs a kernel whose threads work together on the CPU: a fiber a thread, one block after the other, so that barriers
// and what a warp exchanges work. Included before the kernel. Threads may leave early only as whole blocks; masks are
// those of whole warps.
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)

namespace penstock::fibers {

struct Index {
  uint32_t x = 0;
};
// Calls body() as every thread of every block. Several host threads may at once.
void run(uint32_t blocks, uint32_t threads, const std::function<void()>& body);

const Index& thread_index();
const Index& block_index();
void wait_for_block();
void wait_for_warp();
// What each lane of this warp gave; good until the next exchange.
const uint64_t* exchange(uint64_t value, uint32_t& lanes);

template <class T> T from_lane(T v, uint32_t lane) {
  uint64_t mine = 0;
  std::memcpy(&mine, &v, sizeof v);
  uint32_t lanes = 0;
  const uint64_t* all = exchange(mine, lanes);
  const uint64_t theirs = lane < lanes ? all[lane] : mine;
  wait_for_warp();
  T r;
  std::memcpy(&r, &theirs, sizeof r);
  return r;
}

}  // namespace penstock::fibers

#define threadIdx penstock::fibers::thread_index()
#define blockIdx penstock::fibers::block_index()
inline void __syncthreads() { penstock::fibers::wait_for_block(); }
inline void __syncwarp() { penstock::fibers::wait_for_warp(); }
template <class T> T __shfl_sync(unsigned, T v, uint32_t lane) { return penstock::fibers::from_lane(v, lane); }
template <class T> T __shfl_up_sync(unsigned, T v, uint32_t d) {
  const uint32_t lane = penstock::fibers::thread_index().x % 32;
  return penstock::fibers::from_lane(v, lane >= d ? lane - d : lane);
}
inline uint32_t __ballot_sync(unsigned, bool p) {
  uint32_t lanes = 0, bits = 0;
  const uint64_t* all = penstock::fibers::exchange(p, lanes);
  for (uint32_t i = 0; i < lanes; ++i) bits |= static_cast<uint32_t>(all[i]) << i;
  penstock::fibers::wait_for_warp();
  return bits;
}
inline bool __any_sync(unsigned mask, bool p) { return __ballot_sync(mask, p) != 0; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline uint32_t __popc(uint32_t x) { return static_cast<uint32_t>(__builtin_popcount(x)); }
// One thread runs at a time, but other streams may run on other host threads.
inline uint32_t atomicAdd(uint32_t* p, uint32_t v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
inline uint32_t atomicOr(uint32_t* p, uint32_t v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
inline uint32_t atomicMin(uint32_t* p, uint32_t v) {
  const uint32_t before = *p;
  if (v < before) *p = v;
  return before;
}
