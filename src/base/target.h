// SPDX-License-Identifier: Apache-2.0
// Instruction sets that kernels are compiled for; the best one is chosen at run time.
#pragma once
#include <cstdint>

namespace penstock {

enum class Target : uint8_t { scalar, avx2, avx512 };
constexpr int kTargets = 3;
Target best_target();  // by the processor; PENSTOCK_TARGET=scalar|avx2|avx512 lowers it

}  // namespace penstock
