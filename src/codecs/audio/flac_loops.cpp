// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/flac_loops.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>
#endif

namespace penstock {

namespace {

// One that the window may not hold as a whole.
bool take_long_code(FlacBits& bits, int k, uint32_t* to) {
  const uint64_t zeros = bits.take_zeros();
  *to = static_cast<uint32_t>(zeros << k | bits.take(k));
  return zeros >> (32 - k) == 0;
}

// Vectors of samples just written would wait for them to arrive in memory: numbers one by one do not.
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("general-regs-only")
#endif
namespace flac_scalar {
#include "codecs/audio/flac_loops.inc.h"
}  // namespace flac_scalar
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC pop_options
#endif

template <class Sum> void predict_in_turn(std::span<const FlacPrediction> channels) {
  for (const FlacPrediction& p : channels) flac_scalar::predict_part<Sum>(p, p.order, p.length);
}
void unfold_in_turn(int32_t* numbers, int n) {
  for (int i = 0; i < n; ++i) {
    const auto v = static_cast<uint32_t>(numbers[i]);
    numbers[i] = static_cast<int32_t>(v >> 1 ^ -(v & 1));
  }
}

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("bmi,bmi2,lzcnt,general-regs-only")
namespace flac_bmi2 {
#include "codecs/audio/flac_loops.inc.h"
}  // namespace flac_bmi2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt")
namespace flac_avx2 {
#include "codecs/audio/flac_lanes.inc.h"
}  // namespace flac_avx2
#pragma GCC pop_options
#endif

}  // namespace

const FlacLoops& flac_loops([[maybe_unused]] Target target) {
  static const FlacLoops scalar{flac_scalar::take_rice, unfold_in_turn, predict_in_turn<uint32_t>,
                                predict_in_turn<uint64_t>};
#if defined(__x86_64__) && !defined(__clang__)
  static const FlacLoops avx2{flac_bmi2::take_rice, flac_avx2::unfold, flac_avx2::predict<flac_avx2::Lanes32>,
                              flac_avx2::predict<flac_avx2::Lanes64>};
  if (target != Target::scalar) return avx2;
#endif
  return scalar;
}

}  // namespace penstock
