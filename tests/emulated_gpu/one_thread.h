// SPDX-License-Identifier: Apache-2.0
// What nvcc gives to device code, for kernels that the host compiles: one thread a block, so that loops over threads do
// all the work, and barriers are nothing. Unit tests of kernels include it first; the emulated GPU puts it before
// every text.
#pragma once
#define PENSTOCK_EMULATED 1
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)
struct EmulatedDim {
  unsigned x = 0, y = 0, z = 0;
};
[[maybe_unused]] static thread_local EmulatedDim threadIdx, blockIdx;
[[maybe_unused]] static EmulatedDim blockDim{1, 1, 1}, gridDim{1, 1, 1};
[[maybe_unused]] static thread_local char* penstock_shared;
inline void __syncthreads() {}
inline void __syncwarp(unsigned = ~0u) {}
