// SPDX-License-Identifier: Apache-2.0
// Instruction sets that loops are compiled for (base/foreach_target.h). The best one is chosen at run time.
#pragma once
#include <cstdint>

namespace penstock {

enum class Target : uint8_t { scalar, avx2, avx512 };
constexpr int kTargets = 3;
Target best_target();  // from the processor; PENSTOCK_TARGET=scalar|avx2|avx512 lowers it

}  // namespace penstock

// Whether the compiler generates code for targets other than its own. Clang ignores `#pragma GCC target`.
#ifndef PENSTOCK_HAS_TARGETS
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define PENSTOCK_HAS_TARGETS 1
#else
#define PENSTOCK_HAS_TARGETS 0
#endif
#endif

// Calls the version of `loops` for a target: PENSTOCK_FOR_TARGET(target, signal, multiply), or with the whole call.
#define PENSTOCK_FOR_TARGET(target, loops, ...)                         \
  ((target) == ::penstock::Target::avx512 ? loops##_avx512::__VA_ARGS__ \
   : (target) == ::penstock::Target::avx2 ? loops##_avx2::__VA_ARGS__   \
                                          : loops##_scalar::__VA_ARGS__)
