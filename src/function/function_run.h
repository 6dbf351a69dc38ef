// SPDX-License-Identifier: Apache-2.0
// One call of a function, from its inputs to its results, step by step on this thread.
#pragma once
#include <functional>

#include "function/call_frame.h"
#include "function/function.h"

namespace penstock {

class FunctionRun {
 public:
  FunctionRun(const Function& function, CallFrame& frame, const FunctionCall& call, std::span<Batch> results)
      : f_(function), frame_(frame), call_(call), results_(results) {}
  FunctionRun(const FunctionRun&) = delete;
  void run();

 private:
  // function_run.cpp
  void check_call();
  void take_inputs();
  void take_input(size_t k);
  void run_step(size_t i);
  // In this step, one of the samples that go on. settle() throws the error, or it belongs to the sample.
  void fail(int sample, Error e);
  void settle(const Step& s);
  void tell(int sample, const std::string& lacking) const;  // what its file lacks
  void name_error(const Step& s, int sample, Error& e) const;
  void drop_failed();
  bool has_failed(int sample) const {  // in this step
    return frame_.failed[static_cast<size_t>(frame_.numbers[static_cast<size_t>(sample)])] != 0;
  }
  SampleContext context(int sample, const Node& n) const;
  const Graph& graph() const { return f_.plan_.graph; }
  Batch& value(int slot) { return frame_.values[static_cast<size_t>(slot)]; }
  std::shared_ptr<BoundOp> bind(const Node& n);

  // run_control.cpp
  void run_each();
  void run_sample(int number);
  size_t next_step(size_t i);  // after a step that is part of a branch or loop
  size_t begin_trip(size_t next, int end);
  void end_branch(const Node& n);
  void repeat_loop(const Node& n);
  void find_trips_key();
  void keep_parts();
  Batch joined(size_t k);

  // run_stage.cpp
  struct Placing;
  StageProgram program_of(const CompiledStep& c);
  bool fits(const StageProgram& program, const CompiledStep& c) const;  // its inputs have these types
  CpuStage& stage_of(size_t i);
  void begin_outputs(const CompiledStep& c, const CpuStage& stage);
  void place_known(const CpuStage& stage, Placing& to);
  View place_sample(const Placing& to, int i, DType type, const Shape& shape);
  void run_together(const CpuStage& stage, const Placing& to, int first, int count);
  void run_stage(size_t i);
  size_t bytes_of(const Placing& to) const;

  // run_whole.cpp
  void run_whole(size_t i);
  CallFrame::StepState& whole_of(size_t i);
  void place_whole(int slot, Batch& out);

  // run_gpu.cpp
  StreamHandle stream();
  void check_recording();
  void refuse_copy_in_graph() const;
  void order_here(const Batch& b);
  BatchStageRunner& gpu_stage_of(size_t i);
  void run_gpu_stage(size_t i);
  std::shared_ptr<MemoryResource> memory_on_gpu(int slot);
  void run_on_host(const CompiledStep& c, const BatchStageCall& call, std::span<Batch> outputs,
                   std::vector<SampleError>& errors);
  void run_transfer(size_t i);
  void take_gpu_input(const Batch& given, Batch& lent);
  void copy_on_gpu(const Batch& from, const Batch& target, int output);
  void leave_gpu();

  // call_results.cpp
  void check_memory();
  const Batch* into(int output) const { return call_.into.empty() ? nullptr : call_.into[static_cast<size_t>(output)]; }
  std::shared_ptr<MemoryResource> memory() const { return call_.memory ? call_.memory : default_memory(); }
  // The output that a step may write where it belongs, when it makes the value of this slot; -1: none.
  int direct_output(int slot, CallFrame::Writes least) const;
  void check_target(int output, DType dtype, int ndim) const;
  View target_of(int output, int sample, const Shape& shape) const;  // of a sample that goes on
  void give_results();
  void give_into(size_t k);
  void give_new(size_t k);

  const Function& f_;
  CallFrame& frame_;
  const FunctionCall& call_;
  std::span<Batch> results_;
  int size_ = 0;                       // samples that go on
  int samples_ = 0;                    // of the call
  std::vector<SampleError> errors_;    // of this step
  uint64_t trips_key_ = 0;             // of the loops' trips, for random numbers
  StreamHandle stream_ = nullptr;      // set at the first use
  bool recording_ = false;             // a CUDA graph
  std::vector<StreamHandle> ordered_;  // before stream_
};

// Gives all samples of a batch, whose shapes are set, one block of memory.
void place_all(Batch& b, GrowingMemory& memory);

}  // namespace penstock
