// SPDX-License-Identifier: Apache-2.0
#include "pixel/philox_blocks.h"

#include <algorithm>
#include <cstring>
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#endif

#include "base/target.h"

namespace penstock {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2")
namespace blocks_avx2 {
typedef uint64_t Vector __attribute__((vector_size(32)));
inline Vector multiply(Vector a, Vector b) {
  return reinterpret_cast<Vector>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
#include "pixel/philox_blocks.inc.h"
}  // namespace blocks_avx2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi2,prefer-vector-width=512")
namespace blocks_avx512 {
typedef uint64_t Vector __attribute__((vector_size(64)));
inline Vector multiply(Vector a, Vector b) {
  return reinterpret_cast<Vector>(_mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#include "pixel/philox_blocks.inc.h"
}  // namespace blocks_avx512
#pragma GCC pop_options
#endif

void philox_blocks(const RandomStream& stream, std::span<const uint64_t> samples, uint64_t b, PhiloxColumns& out) {
  const size_t n = samples.size();
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  constexpr size_t kFew = 4, kVector = 16;
  if (const Target target = best_target(); n >= kFew && target != Target::scalar) {
    // Whole vectors: what is behind the last sample is not looked at.
    uint64_t room[kStreamsTogether] = {};
    const uint64_t* from = samples.data();
    if (n % kVector != 0) from = (std::copy(samples.begin(), samples.end(), room), room);
    const size_t whole = (n + kVector - 1) / kVector * kVector;
    if (target == Target::avx512) blocks_avx512::blocks_of(stream, from, whole, b, out);
    else blocks_avx2::blocks_of(stream, from, whole, b, out);
    return;
  }
#endif
  for (size_t i = 0; i < n; ++i) {
    const PhiloxBlock block = RandomStream{stream.key0, stream.key1, samples[i]}.block(b);
    for (int k = 0; k < 4; ++k) out.word[k][i] = block.word[k];
  }
}

}  // namespace penstock
