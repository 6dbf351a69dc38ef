// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/given_numbers.h"

#include <bit>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/numbers.h"

namespace penstock {
namespace {

enum GivenWord { kResults, kValues, kType, kStep, kTarget, kIsFactor, kEpsilon, kScale, kGivenWords };

constexpr const char* kGiven = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  const double epsilon = std::bit_cast<double>(s[6]), scale = std::bit_cast<double>(s[7]);
  for (int64_t r = begin + threadIdx.x; r < end; r += blockDim.x) {
    double v = static_cast<double>(argument_at(reinterpret_cast<const void*>(s[1]), s[2], r * s[3]));
    if (s[5]) {
      v = sqrt(v * v + epsilon);
      v = v == 0 ? 0.0 : scale / v;
    }
    reinterpret_cast<double*>(s[4])[r] = v;
  }
}
)";

}  // namespace

ResultNumbers GivenNumbers::numbers(const SampleNumbers& given, int64_t results, const AsFactor& factor, Launches& to) {
  ResultNumbers n;
  n.step = given.size() == 1 ? 0 : 1;
  if (!given.on_gpu()) {
    n.here.assign(given.here.begin(), given.here.end());
    if (factor.wanted)
      for (double& d : n.here) {
        d = __builtin_sqrt(d * d + factor.epsilon);
        d = d == 0 && !factor.zero_divides ? 0.0 : factor.scale / d;
      }
    return n;
  }
  const int64_t count = n.step ? results : 1;
  auto* numbers = static_cast<double*>(to.scratch(static_cast<size_t>(count) * sizeof(double)));
  n.there = numbers;
  int64_t* w = entries_.add(count);
  w[kValues] = reinterpret_cast<int64_t>(given.there.data);
  w[kType] = argument_type(given.there.dtype);
  w[kStep] = n.step;
  w[kTarget] = reinterpret_cast<int64_t>(numbers);
  w[kIsFactor] = factor.wanted;
  w[kEpsilon] = std::bit_cast<int64_t>(factor.epsilon), w[kScale] = std::bit_cast<int64_t>(factor.scale);
  return n;
}

void GivenNumbers::enqueue(Launches& to) {
  if (!entries_.empty())
    to.add(to.kernel("given numbers", [] { return whole_text(kGivenWords, kNumbersOfArguments + with_entry(kGiven)); }),
           entries_, kStageThreads);
}

}  // namespace penstock
