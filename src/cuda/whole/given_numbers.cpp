// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/given_numbers.h"

#include "cuda/kernels/emit.h"

namespace penstock {

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
  entries_.add(count) = {
      given.there.data, argument_type(given.there.dtype), n.step, numbers, factor.wanted, factor.epsilon, factor.scale};
  return n;
}

void GivenNumbers::enqueue(Launches& to) { to.add({"arguments.h", "given_numbers"}, entries_, kStageThreads); }

}  // namespace penstock
