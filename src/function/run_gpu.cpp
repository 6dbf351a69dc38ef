// SPDX-License-Identifier: Apache-2.0
// What a call enqueues on a GPU. The host waits only where a step of the CPU reads what the GPU has made.
#include <algorithm>

#include "batch/copy_strided_on_gpu.h"
#include "batch/transfer.h"
#include "device/gpu_backend.h"
#include "exec/call.h"
#include "exec/refuse_boxes.h"
#include "exec/stage_on_host.h"
#include "function/function_run.h"

namespace penstock {
namespace {

// Memory of the caller for what needs exactly so many bytes; more memory comes from `from`.
class TargetMemory final : public MemoryResource {
 public:
  TargetMemory(std::shared_ptr<MemoryResource> from, void* data, size_t bytes)
      : from_(std::move(from)), data_(data), bytes_(bytes) {}
  void* allocate(size_t bytes, StreamHandle stream) override {
    if (given_ || bytes != bytes_) return from_->allocate(bytes, stream);
    given_ = true;
    return data_;
  }
  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    if (p != data_) from_->deallocate(p, bytes, stream);
  }
  Device device() const override { return from_->device(); }

 private:
  const std::shared_ptr<MemoryResource> from_;
  void* const data_;
  const size_t bytes_;
  bool given_ = false;
};

// An event orders all that a stream has until now, whatever number of batches lie there.
bool is_new(StreamHandle stream, std::vector<StreamHandle>& known) {
  if (std::find(known.begin(), known.end(), stream) != known.end()) return false;
  known.push_back(stream);
  return true;
}

}  // namespace

StreamHandle FunctionRun::stream() {
  if (!stream_) stream_ = call_.stream ? call_.stream : thread_stream(f_.device_);
  return stream_;
}

// A graph that the caller's stream records runs when memory of this call is gone: it may only use the caller's.
void FunctionRun::check_recording() {
  if (!call_.stream || !f_.compiled_.uses_gpu) return;
  recording_ = runtime_of(f_.device_).is_recording(f_.device_, call_.stream);
  if (!recording_) return;
  for (size_t k = 0; k < results_.size(); ++k)
    if (!into(static_cast<int>(k)))
      bad_argument(
          "the stream records a CUDA graph, and there is no memory for output {}: give each output the memory that the "
          "graph writes (into=)",
          k);
}

void FunctionRun::refuse_copy_in_graph() const {
  if (recording_)
    bad_argument(
        "is copied between the host and the GPU: each launch of the CUDA graph that the stream records would copy "
        "what the host has now; give data that is on the GPU");
}

// An event of another stream takes no part in a graph: what it marks must be done when the graph is launched.
void FunctionRun::order_here(const Batch& b) {
  if (recording_) {
    if (b.stream != stream()) wait_on_host(b);
  } else if (b.ready || is_new(b.stream, ordered_)) {
    order_before(b, stream());
  }
}

// The stage with the arguments of this call.
BatchStageRunner& FunctionRun::gpu_stage_of(size_t i) {
  const CompiledStep& c = f_.compiled_.steps[i];
  std::shared_ptr<BatchStageRunner>& stage = frame_.steps[i].gpu_stage;
  if (stage && c.constant && fits(stage->program(), c)) return *stage;
  const StageProgram program = program_of(c);
  std::shared_ptr<BatchStageRunner> again;
  if (stage) again = stage->rebound(program);
  stage = again ? std::move(again) : std::shared_ptr<BatchStageRunner>(gpu_backend().make_stage(program));
  return *stage;
}

void FunctionRun::run_gpu_stage(size_t i) {
  const CompiledStep& c = f_.compiled_.steps[i];
  BatchStageRunner& stage = gpu_stage_of(i);
  for (size_t k = 0; k < c.inputs.size(); ++k) refuse_boxes(stage.program(), static_cast<int>(k), value(c.inputs[k]));
  CallFrame::StepState& state = frame_.steps[i];
  state.inputs.resize(c.inputs.size());
  for (size_t k = 0; k < c.inputs.size(); ++k) state.inputs[k] = value(c.inputs[k]);
  state.outputs.assign(c.outputs.size(), Batch());
  const Node& n = graph().node(c.step->nodes[0]);
  BatchStageCall call;
  call.device = f_.device_, call.stream = stream(), call.size = size_;
  call.context = [&](int sample) { return context(sample, n); };
  call.inputs = state.inputs;
  call.memory = memory_on_gpu(c.outputs[0]);
  std::vector<SampleError> errors;
  try {
    stage.run(call, state.outputs, errors);
  } catch (const NoKernel&) {
    errors.clear();
    run_on_host(c, call, state.outputs, errors);
  }
  for (size_t k = 0; k < c.outputs.size(); ++k) value(c.outputs[k]) = std::move(state.outputs[k]);
  state.inputs.clear();
  for (auto& e : errors) fail(e.sample, std::move(e.error));
}

// For what a stage makes: the caller's, where it has the form of new memory. give_into() copies what is elsewhere.
std::shared_ptr<MemoryResource> FunctionRun::memory_on_gpu(int slot) {
  const auto& memory = runtime_of(f_.device_).memory(f_.device_);
  const auto& outputs = f_.compiled_.outputs;
  const auto k = std::find(outputs.begin(), outputs.end(), slot) - outputs.begin();
  const Batch* target = k < std::ssize(outputs) ? into(static_cast<int>(k)) : nullptr;
  if (!target || size_ != samples_ || target->device() != memory->device() || !target->is_dense_tensor() ||
      target->bytes() == 0)
    return memory;
  order_here(*target);
  return std::make_shared<TargetMemory>(memory, target->sample(0).data, target->bytes());
}

// Where no kernel can be compiled: the CPU does the work, and the call waits.
void FunctionRun::run_on_host(const CompiledStep& c, const BatchStageCall& call, std::span<Batch> outputs,
                              std::vector<SampleError>& errors) {
  std::vector<std::pair<int, Batch>> there;  // values of arguments
  for (int id : c.step->nodes)
    for (const auto& [name, v] : graph().node(id).per_sample)
      if (const int slot = f_.compiled_.slot(v); value(slot).device().kind == DeviceKind::gpu)
        there.emplace_back(slot, value(slot));
  for (auto& [slot, batch] : there) value(slot) = on_host(batch);
  auto error = error_of([&] { run_stage_on_host(program_of(c), call, outputs, errors); });
  for (auto& [slot, batch] : there) value(slot) = std::move(batch);
  if (error) throw std::move(*error);
}

void FunctionRun::run_transfer(size_t i) {
  const CompiledStep& c = f_.compiled_.steps[i];
  const Batch& from = value(c.inputs[0]);
  const Device gpu{DeviceKind::gpu, static_cast<int16_t>(f_.device_)};
  refuse_copy_in_graph();
  Batch to = copy_to(from, c.step->gpu ? gpu : Device{}, stream());
  if (!c.step->gpu) wait_on_host(to);
  to.ready = nullptr;  // on this stream, or written
  value(c.outputs[0]) = std::move(to);
}

// Of the caller, on a GPU: this call's stream reads it from now on.
void FunctionRun::take_gpu_input(const Batch& given, Batch& lent) {
  const Device gpu{DeviceKind::gpu, static_cast<int16_t>(f_.device_)};
  if (given.device() != gpu) {
    refuse_copy_in_graph();
    lent = copy_to(given, gpu, stream());
    lent.ready = nullptr;
    return;
  }
  order_here(given);
  lent.set_device(gpu);
  lent.stream = stream();
}

void FunctionRun::copy_on_gpu(const Batch& from, const Batch& target, int output) {
  order_here(target);
  for (int i = 0; i < size_; ++i) {
    const View to = target_of(output, i, from.shape(i));
    copy_strided_on_gpu(runtime_of(f_.device_), f_.device_, from.view(i), to, stream());
  }
}

// The memory of inputs and of the caller's batches is not freed before this call's work is done.
void FunctionRun::leave_gpu() {
  if (!stream_ || recording_) return;
  std::shared_ptr<DeviceEvent> done;
  std::vector<StreamHandle> told;
  const auto used = [&](const Batch* b) {
    if (!b || b->device().kind != DeviceKind::gpu || !b->stream || b->stream == stream_) return;
    if (!is_new(b->stream, told)) return;
    if (!done) done = runtime_of(f_.device_).record(f_.device_, stream_);
    used_on(*b, stream_, *done);
  };
  for (const Batch* b : call_.inputs) used(b);
  for (const Batch* b : call_.into) used(b);
  for (Batch& b : results_)
    if (b.device().kind == DeviceKind::gpu) b.stream = stream_, b.ready = done;
}

}  // namespace penstock
