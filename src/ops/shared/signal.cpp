// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/signal.h"

#include <algorithm>
#include <cstring>

#include "base/intrinsics.h"
#include "base/target.h"
#include "pixel/float32.h"
#include "pixel/math.h"

namespace penstock {

#define PENSTOCK_LOOPS signal
#define PENSTOCK_LOOPS_TEXT "ops/shared/signal.inc.h"
#include "base/foreach_target.h"

void BandMatrix::multiply(const float* in, int64_t after, float* out) const {
  const Target t = best_target();
  const auto run = PENSTOCK_FOR_TARGET(t, signal, multiply);
  run(*this, in, after, out);
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
  const auto run = PENSTOCK_FOR_TARGET(t, signal, decibels);
  run(in, n, reference, least, multiplier, out);
}

}  // namespace penstock
