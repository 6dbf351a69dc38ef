// SPDX-License-Identifier: Apache-2.0
// A graph as a function: compiled once, called on the caller's thread, by several threads at once. It has no queue, and
// threads only on request; what it works with is kept from call to call.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "function/compiled_step.h"
#include "graph/plan.h"

namespace penstock {

struct FunctionOptions {
  int device = -1;  // the GPU of the operators that run on one; -1: the first
  // Limits for a picture or frame, a sequence, a recording, for decoders without their own limit; 0: the default.
  int64_t max_pixels = 0, max_frames = 0, max_samples = 0;
  // That share the samples of a call, the caller's included; 0: 1. Of several calls at once, one has them.
  int num_threads = 0;
};

// An input, which is an output of an external source, or an output.
struct FunctionValue {
  std::string name;  // of the source; "" for an output
  ValueType type;    // as far as it is known before a call
  bool on_gpu = false;
};

struct FunctionCall {
  std::span<const Batch* const> inputs;  // in the order of Function::inputs()
  // Empty, or for each output the memory that it is written to, in any strides; null: new memory.
  std::span<const Batch* const> into;
  // Random numbers: sample i draws what sample first_sample + i of this epoch of a pipeline draws.
  uint64_t epoch = 0, first_sample = 0;
  int size = 0;  // samples, of a function without inputs; 0: 1
  std::shared_ptr<MemoryResource> memory;
  // The stream of the GPU that the call is enqueued on; null: the thread's own.
  StreamHandle stream = nullptr;
  // One entry for each sample: why it failed, where its data are at fault. Null: the call throws the first error.
  std::vector<std::optional<Error>>* errors = nullptr;
  // One entry for each sample: what its file lacks (DecodeTask::lacking). Null: that becomes warnings.
  std::vector<std::string>* lacks = nullptr;
};

class CallFrame;
class FunctionThreads;

class Function {
 public:
  // Error (argument) for a graph that reads files, calls functions of the program, or changes its samples.
  explicit Function(Graph graph, const FunctionOptions& options = {});
  ~Function();
  // From what Pipeline::to_json() wrote; its limits and its GPU hold unless `options` has others.
  static std::unique_ptr<Function> from_json(const std::string& text, const FunctionOptions& options = {});

  const std::vector<FunctionValue>& inputs() const { return inputs_; }
  const std::vector<FunctionValue>& outputs() const { return outputs_; }
  const Graph& graph() const { return graph_; }
  const Plan& plan() const { return plan_; }

  // results[k]: output k in new memory, or nothing where `into` has memory for it. A sample that has failed has no
  // elements, and its part of `into` is not written. After an Error the contents of `into` are unspecified.
  void call(const FunctionCall& call, std::span<Batch> results) const;

 private:
  friend class FunctionRun;
  void find_inputs();
  std::unique_ptr<CallFrame> take_frame() const;
  void give_back(std::unique_ptr<CallFrame> frame) const;

  const Graph graph_;
  const int device_;
  const Plan plan_;
  std::vector<FunctionValue> inputs_, outputs_;
  CompiledPlan compiled_;
  const std::unique_ptr<FunctionThreads> threads_;  // null: there are none
  mutable std::mutex mutex_;                        // of the frames alone: no call holds it
  mutable std::vector<std::unique_ptr<CallFrame>> idle_;
};

}  // namespace penstock
