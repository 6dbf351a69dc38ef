// SPDX-License-Identifier: Apache-2.0
#include "pixel/philox_blocks.h"

#include <algorithm>
#include <cstring>

#include "base/intrinsics.h"

namespace penstock {

#define PENSTOCK_LOOPS blocks
#define PENSTOCK_LOOPS_TEXT "pixel/philox_blocks.inc.h"
#include "base/foreach_target.h"

void philox_blocks(const RandomStream& stream, std::span<const uint64_t> samples, uint64_t b, PhiloxColumns& out) {
  const size_t n = samples.size();
#if PENSTOCK_HAS_TARGETS
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
