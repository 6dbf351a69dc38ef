// SPDX-License-Identifier: Apache-2.0
// What happens to samples that could not be read: the error is raised, another sample takes their place, or they leave
// the iteration.
#pragma once
#include <functional>

#include "exec/steps/step_runner.h"

namespace penstock {

class ErrorPolicy {
 public:
  ErrorPolicy(StepContext& context, std::span<const std::unique_ptr<StepRunner>> steps);
  // Settles the errors of the current step; the first one that it cannot settle ends the iteration. run: runs one
  // sample of the step again, whose errors are the iteration's. The iteration may begin again (Iteration::jump is 0).
  using RunSample = std::function<void(int sample)>;
  void settle(Iteration& it, StepRunner& step, const RunSample& run);

 private:
  void settle_or_throw(Iteration& it, StepRunner& step, const RunSample& run);
  void replace(Iteration& it, StepRunner& step, std::vector<SampleError>& errors, std::vector<SampleError>& last,
               const RunSample& run);
  void find_replacement(Iteration& it, StepRunner& step, int sample, const Error& error, const RunSample& run);
  bool loads_again(Iteration& it, int sample);  // false: that one cannot be read either
  void bring_back_given(Iteration& it) const;   // of the primary source, where it was let go of
  bool computed_before(const Iteration& it, const StepRunner& step) const;
  void unwind(Iteration& it) const;
  void begin_again(Iteration& it) const;

  StepContext& context_;
  size_t first_computed_;  // step
};

}  // namespace penstock
