// SPDX-License-Identifier: Apache-2.0
// Steps that enqueue a stage on a GPU, a batch at a time.
#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "batch/memory_reuse.h"
#include "batch/transfer.h"
#include "device/gpu_backend.h"
#include "exec/call.h"
#include "exec/refuse_boxes.h"
#include "exec/stage_on_host.h"
#include "exec/steps/kinds.h"
#include "exec/steps/stage_program.h"
#include "graph/at_fault.h"

namespace penstock {
namespace {

class GpuStageStep final : public StepRunner {
 public:
  GpuStageStep(StepContext& context, size_t index)
      : StepRunner(context, index),
        sizes_(size_outputs(context.plan, step)),
        constant_(has_constant_arguments(context.plan, step)) {
    rules.allocates = rules.runs_here = true;
    rules.makes_output = makes_output(step.nodes.size() == 1 && info_of(node).family == Family::whole);
    rules.replaceable = false;  // not for one sample
  }

  void prepare(Iteration& it, Worker&) override;
  const Node& blamed(const Error& e) const override { return at_fault(context_.graph, step.nodes, e); }

 private:
  std::shared_ptr<BatchStageRunner> runner_for(Iteration& it);
  // The inputs are lent, not copied: a batch has a record for each sample. A value may be there twice.
  std::vector<Batch> lend(Iteration& it) const;
  void run_batch(Iteration& it, BatchStageRunner& runner, BatchStageCall& call, std::span<Batch> outputs,
                 std::vector<SampleError>& errors);
  void make_empty(const StageProgram& program, Device device, std::span<Batch> outputs) const;
  void run_on_host(Iteration& it, StageProgram program, BatchStageCall& call, std::span<Batch> outputs,
                   std::vector<SampleError>& errors);
  void name_samples(const Iteration& it, Batch& output) const;

  const std::vector<ValueRef> sizes_;  // outputs after the first; then come those of a whole operator
  const bool constant_;
  std::mutex mutex_;
  std::shared_ptr<BatchStageRunner> compiled_;  // what iterations rebind
};

std::shared_ptr<BatchStageRunner> GpuStageStep::runner_for(Iteration& it) {
  std::vector<ValueType> types = types_of(it, step.inputs);
  if (step.inputs.empty()) context_.fill_batch(it);
  std::shared_ptr<BatchStageRunner> compiled, runner;
  {
    std::lock_guard lock(mutex_);
    compiled = compiled_;
  }
  if (compiled && constant_ && fits(compiled->program(), types)) return compiled;
  const StageProgram program = program_of(context_, it, step, std::move(types), sizes_);
  if (compiled) runner = compiled->rebound(program);
  if (runner) return runner;
  runner = gpu_backend().make_stage(program);
  std::lock_guard lock(mutex_);
  compiled_ = runner;
  return runner;
}

std::vector<Batch> GpuStageStep::lend(Iteration& it) const {
  std::vector<Batch> inputs;
  inputs.reserve(step.inputs.size());
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    const auto end = step.inputs.begin() + static_cast<ptrdiff_t>(k);
    const auto at = static_cast<size_t>(std::find(step.inputs.begin(), end, step.inputs[k]) - step.inputs.begin());
    inputs.push_back(at < k ? Batch(inputs[at]) : std::move(it.values.at(step.inputs[k])));
  }
  return inputs;
}

// fn.filter, or errors, left no sample.
void GpuStageStep::make_empty(const StageProgram& program, Device device, std::span<Batch> outputs) const {
  const auto empty = [&](Batch& b, const ValueType& t) {
    b = Batch(t.dtype, std::max(0, t.ndim), t.layout.size() == t.ndim ? t.layout : Layout{}, 0);
    b.set_device(device);
  };
  const size_t before_more = 1 + sizes_.size();
  empty(outputs[0], program.nodes.back().type);
  for (size_t k = before_more; k < outputs.size(); ++k) empty(outputs[k], program.more[k - before_more]);
  for (size_t k = 0; k < sizes_.size(); ++k)
    outputs[1 + k] = make_sizes(program, static_cast<int>(k), 0, context_.options.memory);
}

void GpuStageStep::run_batch(Iteration& it, BatchStageRunner& runner, BatchStageCall& call, std::span<Batch> outputs,
                             std::vector<SampleError>& errors) {
  std::vector<Batch> inputs = lend(it);
  call.inputs = inputs;
  std::vector<char> take;
  if (step.reuses) {
    take = held_alone(inputs[0]);
    call.in_place = take;
    context_.statistics.copied(index_, bytes_of_others(inputs[0], take));
  } else if (step.assigns) {
    context_.statistics.copied(index_, inputs[0].bytes());
  }
  bool no_kernel = false;
  auto error = error_of([&] {
    if (it.size == 0) return make_empty(runner.program(), call.memory->device(), outputs);
    try {
      runner.run(call, outputs, errors);
    } catch (const NoKernel&) {
      no_kernel = true;
    }
  });
  for (size_t k = inputs.size(); k-- > 0;) it.values.at(step.inputs[k]) = std::move(inputs[k]);
  if (error) throw std::move(*error);
  if (no_kernel) {
    errors.clear();
    run_on_host(it, runner.program(), call, outputs, errors);
  }
  if (step.reuses) it.values.at(step.inputs[0]) = Batch();
}

void GpuStageStep::prepare(Iteration& it, Worker&) {
  const std::shared_ptr<BatchStageRunner> runner = runner_for(it);
  for (size_t k = 0; k < step.inputs.size(); ++k)
    refuse_boxes(runner->program(), static_cast<int>(k), it.values.at(step.inputs[k]));
  BatchStageCall call;
  call.device = context_.gpu->device();
  call.stream = it.stream;
  call.size = it.size;
  call.context = context_.contexts(it, node);
  call.memory = context_.gpu_memory(it, rules.makes_output);
  const size_t before_more = 1 + sizes_.size();
  std::vector<Batch> outputs(before_more + runner->program().more.size());
  std::vector<SampleError> errors;
  run_batch(it, *runner, call, outputs, errors);
  for (auto& e : errors) add_error(it, e.sample, std::move(e.error));
  for (size_t k = 0; k < before_more; ++k) name_samples(it, outputs[k]);
  it.values[step.output] = std::move(outputs[0]);
  for (size_t k = 0; k < sizes_.size(); ++k) it.values[sizes_[k]] = std::move(outputs[1 + k]);
  for (size_t k = before_more; k < outputs.size(); ++k)
    it.values[{step.output.node, static_cast<int>(k - before_more) + 1}] = std::move(outputs[k]);
}

void GpuStageStep::name_samples(const Iteration& it, Batch& output) const {
  for (int i = 0; i < output.size(); ++i) {
    const std::string& path = step.inputs.empty() ? it.origin[i].path : context_.path_of(it, step.inputs[0], i);
    if (path.empty()) continue;
    if (auto& sample = output.sample(i); sample.source.empty()) sample.source = path;
  }
}

// Values of arguments that lie on the GPU are brought to the host for as long as the operators read them.
void GpuStageStep::run_on_host(Iteration& it, StageProgram program, BatchStageCall& call, std::span<Batch> outputs,
                               std::vector<SampleError>& errors) {
  std::vector<Batch> inputs;
  for (const auto& in : step.inputs) inputs.push_back(it.values.at(in));
  call.inputs = inputs;
  std::map<ValueRef, Batch> there;
  for (int id : step.nodes)
    for (const auto& [name, v] : context_.plan.graph.node(id).per_sample)
      if (const Batch& b = it.values.at(v); b.device().kind == DeviceKind::gpu) there.emplace(v, b);
  for (auto& [v, batch] : there) it.values.at(v) = copy_to(batch, {}, it.stream);
  auto error = error_of([&] {
    if (!there.empty()) {
      context_.gpu->runtime().synchronize(context_.gpu->device(), it.stream);
      program = program_of(context_, it, step, types_of(it, step.inputs), sizes_);
    }
    run_stage_on_host(program, call, outputs, errors);
  });
  for (auto& [v, batch] : there) it.values.at(v) = std::move(batch);
  if (error) throw std::move(*error);
}

}  // namespace

std::unique_ptr<StepRunner> make_gpu_stage_step(StepContext& context, size_t index) {
  return std::make_unique<GpuStageStep>(context, index);
}

}  // namespace penstock
