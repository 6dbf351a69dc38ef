// SPDX-License-Identifier: Apache-2.0
#include "pixel/philox_blocks.h"

#include <algorithm>

#include "base/target.h"

namespace penstock {

namespace blocks_scalar {
#include "pixel/philox_blocks.inc.h"
}
#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2")
namespace blocks_avx2 {
#include "pixel/philox_blocks.inc.h"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi2,prefer-vector-width=512")
namespace blocks_avx512 {
#include "pixel/philox_blocks.inc.h"
}
#pragma GCC pop_options
#else
namespace blocks_avx2 = blocks_scalar;
namespace blocks_avx512 = blocks_scalar;
#endif

void philox_blocks(const RandomStream& stream, std::span<const uint64_t> samples, uint64_t b, PhiloxColumns& out) {
  constexpr size_t kFew = 4, kVector = 16;
  const size_t n = samples.size();
  if (n < kFew) {
    for (size_t i = 0; i < n; ++i) {
      const PhiloxBlock block = RandomStream{stream.key0, stream.key1, samples[i]}.block(b);
      for (int k = 0; k < 4; ++k) out.word[k][i] = block.word[k];
    }
    return;
  }
  // Whole vectors: what is behind the last sample is not looked at.
  uint64_t room[kStreamsTogether] = {};
  const uint64_t* from = samples.data();
  if (n % kVector != 0) from = (std::copy(samples.begin(), samples.end(), room), room);
  const size_t whole = (n + kVector - 1) / kVector * kVector;
  switch (best_target()) {
    case Target::avx512: return blocks_avx512::blocks_of(stream, from, whole, b, out);
    case Target::avx2: return blocks_avx2::blocks_of(stream, from, whole, b, out);
    default: return blocks_scalar::blocks_of(stream, from, whole, b, out);
  }
}

}  // namespace penstock
