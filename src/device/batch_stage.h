// SPDX-License-Identifier: Apache-2.0
// Stages on a GPU: all samples of a batch at once.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "batch/batch.h"
#include "stage/program.h"

namespace penstock {

// A stage over all samples of a batch at once. The shapes are known; the work is enqueued and nothing blocks.
struct BatchStageCall {
  int device = 0;
  StreamHandle stream = nullptr;
  int size = 0;                               // samples
  std::function<SampleContext(int)> context;  // of sample i; `draws` is replaced by each node's
  std::span<const Batch> inputs;              // on the device
  std::shared_ptr<MemoryResource> memory;     // for the outputs; allocated and, later, freed on `stream`
  std::span<const char> in_place;             // samples whose output reuses the memory of their first input; or empty
};
struct SampleError {
  int sample = 0;
  Error error;
};
// Thrown by BatchStageRunner::run where no kernel can be compiled (no NVRTC): the caller runs the stage on the CPU.
class NoKernel : public Error {
 public:
  explicit NoKernel(const std::string& why) : Error(ErrorKind::argument, "kernels cannot be compiled here: " + why) {}
};
class BatchStageRunner {
 public:
  virtual ~BatchStageRunner() = default;
  virtual const StageProgram& program() const = 0;
  // The same stage with other arguments bound. It shares what was compiled: a pipeline makes one for each iteration,
  // and several exist at once. Null where `program` has another structure (operators, types, layouts): the caller then
  // makes a new stage.
  virtual std::unique_ptr<BatchStageRunner> rebound(const StageProgram&) const { return nullptr; }
  // Enqueues the stage; several threads may call it at once. outputs[k]: first StageProgram::outputs, on the device;
  // then StageProgram::sizes, on the host; then StageProgram::more, on the device.
  // The error of a sample goes to `errors`, and its output is left unwritten.
  virtual void run(const BatchStageCall& call, std::span<Batch> outputs, std::vector<SampleError>& errors) = 0;
};

}  // namespace penstock
