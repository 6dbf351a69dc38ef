// SPDX-License-Identifier: Apache-2.0
// A stage on the CPU: tiles of a sample flow through a list of function pointers.
#pragma once
#include <memory>

#include "ops/machine/stage_program.h"

namespace penstock {

class CpuScratch {  // one per thread; grows to what its largest sample needs
 public:
  CpuScratch();
  ~CpuScratch();
  struct State;
  std::unique_ptr<State> state;
  StageTimes times;
};

class CpuStage {
 public:
  explicit CpuStage(StageProgram program, Target target = best_target());
  ~CpuStage();
  const StageProgram& program() const;
  // Shapes of the outputs where they follow from what is known; -1 elsewhere.
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<Shape> out) const;
  // Runs one sample; thread-safe with one scratch per thread. SampleContext::node is replaced by each node's id.
  void run(const SampleContext& s, std::span<const StageInput> in, const AllocateOutput& allocate,
           CpuScratch& scratch) const;
  // Splits one large sample over rows: parts() says into how many pieces run_part may be cut (immediate calls).
 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock
