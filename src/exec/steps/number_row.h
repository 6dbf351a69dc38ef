// SPDX-License-Identifier: Apache-2.0
// Stages over one number a sample, as loops and conditions are full of: all samples together are one row of a stage,
// which costs little more than one sample does.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "exec/step_context.h"
#include "exec/worker.h"

namespace penstock {

class NumberRow {
 public:
  NumberRow(StepContext& context, const Step& step);
  // False: the iteration's values are not of this kind; nothing has been made.
  bool run(Iteration& it, CpuScratch& scratch);

 private:
  std::shared_ptr<CpuStage> stage_for(Iteration& it, std::vector<ValueType> types);

  StepContext& context_;
  const Step& step_;
  std::atomic<bool> possible_{false};
  std::mutex mutex_;
  std::shared_ptr<CpuStage> stage_;  // of the types that there have been last
};

}  // namespace penstock
