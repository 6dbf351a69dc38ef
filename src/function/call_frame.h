// SPDX-License-Identifier: Apache-2.0
// What one call of a function works with. It is kept for the next call, so that a repeated call allocates little.
#pragma once
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "cpu/stage.h"
#include "device/batch_stage.h"
#include "exec/call_into.h"
#include "function/compiled_step.h"

namespace penstock {

// Memory of the host that only grows.
class GrowingMemory {
 public:
  void* at_least(size_t bytes) {
    if (bytes > bytes_) {
      memory_ = nullptr, bytes_ = 0;
      memory_ = allocate_shared(default_memory(), bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  std::shared_ptr<void> memory_;
  size_t bytes_ = 0;
};

// A branch or loop that a sample is in.
struct BodyState {
  int node = -1;
  bool then = false;   // branch: which side
  uint64_t trip = 0;   // loop
  int64_t count = -1;  // loop: the number of its trips, if it is counted
};

class CallFrame {
 public:
  explicit CallFrame(const CompiledPlan& compiled)
      : values(compiled.slots.size()), memory(compiled.slots.size()), steps(compiled.steps.size()) {}

  // Of a value: one block for all samples, or one for each sample where shapes are known one by one.
  struct SlotMemory {
    GrowingMemory block;
    std::vector<GrowingMemory> of_sample;
  };
  // Of a step: the operators with their arguments. They are bound again for other types of inputs.
  struct StepState {
    std::shared_ptr<CpuStage> stage;
    std::shared_ptr<BatchStageRunner> gpu_stage;
    std::shared_ptr<BoundOp> whole;
    std::vector<ValueType> given_types, types, out_types;  // of `whole`: inputs as given, with their layouts, outputs
    std::vector<Batch> inputs, outputs;
  };
  // Memory for an output: a step does not write there, a stage may, any step may.
  enum class Writes : uint8_t { nothing, rows, dense };

  std::thread::id user;       // the thread of the last call, whose caches have this
  std::vector<Batch> values;  // by slot; a call ends with values that own nothing
  std::vector<SlotMemory> memory;
  std::vector<StepState> steps;
  CpuScratch scratch;
  std::vector<int> numbers;               // of the samples that go on: their places in the call
  std::vector<MemoryRange> ranges;        // that the call reads and writes
  std::vector<Batch> given;               // inputs, of a function that computes sample by sample
  std::vector<std::vector<Batch>> parts;  // its results, by output and sample
  std::vector<BodyState> bodies;          // the branches and loops that the current step is in
  std::vector<Writes> direct;             // by output: how a step may write it where it belongs
  std::vector<char> written;              // by output: a step wrote it to where it belongs
  std::vector<char> failed;               // by sample of the call
};

}  // namespace penstock
