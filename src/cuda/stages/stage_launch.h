// SPDX-License-Identifier: Apache-2.0
// From a call's entries to kernels on its stream.
#pragma once
#include "cuda/stages/stage_kernels.h"
#include "cuda/stages/stage_pack.h"
#include "cuda/stages/stage_scratchpad.h"
#include "device/batch_stage.h"

namespace penstock {

class StageLauncher {
 public:
  // Of one call.
  StageLauncher(const StageCode& code, bool constant, bool folds, Driver& driver, StageKernels& kernels,
                const BatchStageCall& call, StageScratchpad& pad)
      : code_(code), constant_(constant), folds_(folds), driver_(driver), kernels_(kernels), call_(call), pad_(pad) {}

  // What pad.entries, or pad.run, say, with results in `out`. False: the kernel reads tables that samples of a form
  // have no numbers for.
  bool enqueue(const Batch& out, std::vector<SampleError>& errors);

 private:
  void find_groups(const Batch& out);
  bool launch(const PackCall& pack, StageVariant v);
  bool launch_by_value(const PackCall& pack, StageVariant v, size_t n, std::optional<StageKernels::Chosen>& chosen);
  void find_faults(const void* faults, std::vector<SampleError>& errors);

  const StageCode& code_;
  const bool constant_, folds_;  // arguments are constants; they lie on the GPU
  Driver& driver_;
  StageKernels& kernels_;
  const BatchStageCall& call_;
  StageScratchpad& pad_;
};

}  // namespace penstock
