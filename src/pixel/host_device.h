// SPDX-License-Identifier: Apache-2.0
// Marks functions that both the CPU compiler and the GPU compiler build, and keeps code as text for the latter.
#pragma once

#ifdef __CUDACC__
#define PENSTOCK_HD __host__ __device__
#else
#define PENSTOCK_HD
#endif
// Small functions that must be inlined into the loop around them, whatever the compiler estimates.
#define PENSTOCK_INLINE PENSTOCK_HD inline __attribute__((always_inline))

// Functions of the loops over pixels. A loop that calls is not vectorized, and GCC stops inlining where a file has
// become large; a GPU's compiler decides by itself.
#ifdef __CUDACC__
#define PENSTOCK_LOOPED PENSTOCK_HD inline
#else
#define PENSTOCK_LOOPED inline __attribute__((always_inline))
#endif

// The compiler's name for a function that is exact by IEEE 754.
#ifdef __CUDA_ARCH__
#define PENSTOCK_EXACT(device, host) device
#else
#define PENSTOCK_EXACT(device, host) host
#endif

// Defines members of a struct, and the same code as text: kernels for the GPU are compiled from the text on demand.
#define PENSTOCK_TEXT(name, ...) \
  __VA_ARGS__                    \
  static constexpr const char* name = #__VA_ARGS__
#define PENSTOCK_PIXEL(...) \
  __VA_ARGS__               \
  static constexpr const char* pixel_text = #__VA_ARGS__
