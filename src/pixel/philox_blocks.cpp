// SPDX-License-Identifier: Apache-2.0
#include "pixel/philox_blocks.h"

#include <algorithm>
#include <cstring>

#include "base/intrinsics.h"

namespace penstock {

#define PENSTOCK_LOOPS blocks
#define PENSTOCK_LOOPS_TEXT "pixel/philox_blocks.inc.h"
#include "base/foreach_target.h"

namespace {

#if PENSTOCK_HAS_TARGETS
// Whole vectors of numbers: f(target, numbers, their count up to the end of a vector). Blocks after the last are
// ignored. False: too few for vectors.
template <class F> bool by_vectors(std::span<const uint64_t> numbers, F&& f) {
  constexpr size_t kFew = 4, kVector = 16;
  const Target target = best_target();
  const size_t n = numbers.size();
  if (n < kFew || target == Target::scalar) return false;
  uint64_t room[kStreamsTogether] = {};
  const uint64_t* from = numbers.data();
  if (n % kVector != 0) from = (std::copy(numbers.begin(), numbers.end(), room), room);
  f(target, from, (n + kVector - 1) / kVector * kVector);
  return true;
}
#endif
void put(PhiloxColumns& out, size_t i, const PhiloxBlock& block) {
  for (int k = 0; k < 4; ++k) out.word[k][i] = block.word[k];
}

}  // namespace

void philox_blocks(const RandomStream& stream, std::span<const uint64_t> samples, uint64_t b, PhiloxColumns& out) {
#if PENSTOCK_HAS_TARGETS
  if (by_vectors(samples, [&](Target target, const uint64_t* from, size_t n) {
        if (target == Target::avx512) blocks_avx512::blocks_of(stream, from, n, b, out);
        else blocks_avx2::blocks_of(stream, from, n, b, out);
      }))
    return;
#endif
  for (size_t i = 0; i < samples.size(); ++i) put(out, i, RandomStream{stream.key0, stream.key1, samples[i]}.block(b));
}

void philox_blocks_at(const RandomStream& stream, std::span<const uint64_t> numbers, PhiloxColumns& out) {
#if PENSTOCK_HAS_TARGETS
  if (by_vectors(numbers, [&](Target target, const uint64_t* from, size_t n) {
        if (target == Target::avx512) blocks_avx512::numbered_blocks(stream, from, n, out);
        else blocks_avx2::numbered_blocks(stream, from, n, out);
      }))
    return;
#endif
  for (size_t i = 0; i < numbers.size(); ++i) put(out, i, stream.block(numbers[i]));
}

}  // namespace penstock
