// SPDX-License-Identifier: Apache-2.0
// A stage on the CPU: tiles of a sample flow through a list of function pointers.
#pragma once
#include <memory>

#include "base/backend.h"
#include "codecs/decode_task.h"
#include "stage/program.h"

namespace penstock {

class CpuScratch final : public StageScratch {
 public:
  CpuScratch();
  ~CpuScratch() override;
  struct State;
  std::unique_ptr<State> state[kDecodeTogether];  // one for each sample in turn
};

class CpuStage final : public StageRunner {
 public:
  explicit CpuStage(StageProgram program, Target target = best_target());
  ~CpuStage() override;
  const StageProgram& program() const override;
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<Shape> out) const override;
  void run(const SampleContext& s, std::span<const StageInput> in, const AllocateOutput& allocate,
           StageScratch& scratch) const override;
  int together() const override;
  void run_together(std::span<StageTask> tasks, StageScratch& scratch) const override;
  struct State;

 private:
  class Sample;
  // One sample, or one frame of it, with the arguments of SampleContext::values().
  void run_sample(const SampleContext& s, std::span<const StageInput> in, const AllocateOutput& allocate,
                  StageScratch& scratch) const;
  // Node by node, for stages that cannot run frame by frame.
  void run_nodes(const SampleContext& s, std::span<const StageInput> in, const AllocateOutput& allocate,
                 StageScratch& scratch) const;
  // For all values, the inputs first.
  std::vector<Shape> value_shapes(const SampleContext& s, std::span<const Shape> in) const;
  bool keeps_frames(const SampleContext& s, std::span<const StageInput> in, std::span<const Shape> shapes) const;
  std::unique_ptr<State> state_;
};

}  // namespace penstock
