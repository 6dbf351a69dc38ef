// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/signal.h"

#include <algorithm>
#include <cstring>

#include "pixel/transcendental.h"

namespace penstock {

namespace signal_scalar {
#include "ops/machine/signal.inc.h"
}
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2")
namespace signal_avx2 {
#include "ops/machine/signal.inc.h"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,prefer-vector-width=512")
namespace signal_avx512 {
#include "ops/machine/signal.inc.h"
}
#pragma GCC pop_options
#else
namespace signal_avx2 = signal_scalar;
namespace signal_avx512 = signal_scalar;
#endif

void BandMatrix::multiply(const float* in, int64_t behind, float* out) const {
  const Target t = best_target();
  const auto run = t == Target::avx512 ? signal_avx512::multiply
                   : t == Target::avx2 ? signal_avx2::multiply
                                       : signal_scalar::multiply;
  run(*this, in, behind, out);
}

std::vector<std::byte> BandMatrix::packed() const {
  std::vector<int64_t> words;
  std::vector<float> numbers;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t begin = std::min(first[r], last[r]);
    for (const int64_t word : {begin, last[r], static_cast<int64_t>(numbers.size())}) words.push_back(word);
    numbers.insert(numbers.end(), values.begin() + r * columns + begin, values.begin() + r * columns + last[r]);
  }
  std::vector<std::byte> bytes(words.size() * sizeof(int64_t) + numbers.size() * sizeof(float));
  std::memcpy(bytes.data(), words.data(), words.size() * sizeof(int64_t));
  if (!numbers.empty())
    std::memcpy(bytes.data() + words.size() * sizeof(int64_t), numbers.data(), numbers.size() * sizeof(float));
  return bytes;
}

void decibels(const float* in, int64_t n, float reference, float least, float multiplier, float* out) {
  const Target t = best_target();
  const auto run = t == Target::avx512 ? signal_avx512::decibels
                   : t == Target::avx2 ? signal_avx2::decibels
                                       : signal_scalar::decibels;
  run(in, n, reference, least, multiplier, out);
}

}  // namespace penstock
