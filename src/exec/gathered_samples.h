// SPDX-License-Identifier: Apache-2.0
// Makes the values of a batch of samples that several iterations have made.
#pragma once
#include "exec/late_plan.h"
#include "exec/steps/step_runner.h"

namespace penstock {

class GatheredSamples {
 public:
  GatheredSamples(const StepContext& context, const LatePlan& plan) : context_(context), plan_(plan) {}
  void prepare(Iteration& it) const;  // sets Iteration::items, where much is copied
  static void run(Iteration& it, int first, int count);
  static void finish(Iteration& it);

 private:
  // True: samples have to be copied into it.
  bool place(Iteration& it, ValueRef v, Batch& out) const;

  const StepContext& context_;
  const LatePlan& plan_;
};

}  // namespace penstock
