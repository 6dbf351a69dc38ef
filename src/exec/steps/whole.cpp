// SPDX-License-Identifier: Apache-2.0
// Steps of operators that compute a sample as a whole.
#include <utility>

#include "base/error_of.h"
#include "batch/memory_reuse.h"
#include "exec/call.h"
#include "exec/refuse_boxes.h"
#include "exec/steps/kinds.h"
#include "operator/device_place.h"

namespace penstock {
namespace {

struct WholeState final : StepState {
  std::shared_ptr<BoundOp> op;
  std::vector<Batch> inputs, outputs;
  std::vector<ValueType> types;
  std::shared_ptr<const void> batch_state;
  std::vector<char> refused;  // samples whose shapes ended in an error
};

void run_to_device(BoundOp& op, const std::vector<Batch>& inputs, const SampleContext& c, const Batch& out,
                   const DevicePlace& place) {
  std::vector<View> in;
  for (const Batch& b : inputs) in.push_back(b.view(c.index));
  try {
    op.decode_to_device(c, in, out.view(c.index), place);
  } catch (Error& e) {
    if (e.op.empty()) e.op = op.info->name;
    throw;
  }
}

class WholeStep final : public StatefulStep<WholeState> {
 public:
  WholeStep(StepContext& context, size_t index) : StatefulStep(context, index) {
    rules.runs_here = true;
    rules.repeats_iteration = true;  // what a sample reads may be gone
  }

  void prepare(Iteration& it, Worker&) override;
  void run(Iteration& it, int first, int count, Worker&) override {
    for (int i = first; i < first + count; ++i) run_sample(it, i);
  }

 private:
  void take_inputs(Iteration& it, WholeState& w) const;
  bool draws_alone(Iteration& it, WholeState& w) const;
  void find_shapes(Iteration& it, WholeState& w) const;
  int64_t allocate(Iteration& it, WholeState& w) const;  // gives the elements of all values
  void run_sample(Iteration& it, int i) const;
};

void WholeStep::take_inputs(Iteration& it, WholeState& w) const {
  for (const auto& in : node.inputs) {
    if (step.reuses && w.inputs.empty()) w.inputs.push_back(std::exchange(it.values.at(in), Batch()));
    else w.inputs.push_back(it.values.at(in));
    const Batch& b = w.inputs.back();
    ValueType t{b.dtype(), b.ndim(), b.layout()};
    t.layout = w.op->input_layout(t);
    refuse_boxes(*w.op->info, b, t.layout);
    w.types.push_back(t);
  }
}

// One number for each sample: of all samples together.
bool WholeStep::draws_alone(Iteration& it, WholeState& w) const {
  if (!node.inputs.empty() || node.outputs != 1 || it.size == 0 || !w.op->draws_scalars()) return false;
  Batch& drawn = w.outputs[0];
  drawn.allocate(context_.options.memory);
  std::vector<SampleContext> samples;
  samples.reserve(static_cast<size_t>(it.size));
  const SampleContexts of = context_.contexts(it, node);
  for (int i = 0; i < it.size; ++i) samples.push_back(of(i));
  if (auto error = error_of([&] { draw_scalars(*w.op, samples, drawn); }))
    add_error(it, 0, std::move(*error));  // of the arguments, which all samples share
  it.values[{node.id, 0}] = std::move(drawn);
  return true;
}

void WholeStep::find_shapes(Iteration& it, WholeState& w) const {
  w.refused.assign(static_cast<size_t>(it.size), 0);
  const auto refuse = [&](int i, Error e) {
    w.refused[static_cast<size_t>(i)] = 1;
    add_error(it, i, std::move(e));
  };
  const auto context = [&](int i) { return context_.context(it, i, node); };
  w.batch_state = run_whole_shapes(*w.op, w.inputs, w.types, context, w.outputs, refuse);
}

int64_t WholeStep::allocate(Iteration& it, WholeState& w) const {
  const auto& memory = context_.options.memory;
  if (step.assigns && !step.reuses) context_.statistics.copied(index_, w.inputs[0].bytes());
  context_.outputs.check(w.outputs);
  int64_t elements = 0;
  for (const auto& b : w.inputs)
    for (int i = 0; i < it.size; ++i) elements += b.shape(i).volume();
  for (size_t k = 0; k < w.outputs.size(); ++k) {
    Batch& b = w.outputs[k];
    if (step.reuses && k == 0) {  // the memory of the input's samples that nobody else holds
      std::vector<char> take = held_alone(w.inputs[0]);
      allocate_others(b, w.inputs[0], take, memory, nullptr);
      for (int i = 0; i < b.size(); ++i)  // a larger one has memory of its own
        take[static_cast<size_t>(i)] = b.sample(i).data == w.inputs[0].sample(i).data;
      context_.statistics.copied(index_, bytes_of_others(w.inputs[0], take));
    } else if (step.gpu) {
      b.allocate(context_.gpu->memory(), it.stream);
    } else {
      b.allocate(memory);
    }
    for (int i = 0; i < it.size; ++i) elements += b.shape(i).volume();
  }
  return elements;
}

void WholeStep::prepare(Iteration& it, Worker&) {
  constexpr int64_t kParallelElements = 1 << 14;
  context_.fill_batch(it);
  auto w = std::make_shared<WholeState>();
  w->op = context_.bind(it, node);
  take_inputs(it, *w);
  std::vector<ValueType> out(node.outputs);
  w->op->infer(w->types, out);
  for (const auto& t : out) w->outputs.emplace_back(t.dtype, t.ndim, t.layout, it.size);
  if (draws_alone(it, *w)) return;
  find_shapes(it, *w);
  const int64_t elements = allocate(it, *w);
  it.step_state = w;
  if (elements >= kParallelElements) {
    for (int k = 0; k < node.outputs; ++k) it.values[{node.id, k}] = w->outputs[k];
    it.items = it.size;
    return;
  }
  for (int i = 0; i < it.size; ++i)
    if (auto error = error_of([&] { run_sample(it, i); })) add_error(it, i, std::move(*error));
  for (int k = 0; k < node.outputs; ++k) it.values[{node.id, k}] = std::move(w->outputs[k]);
}

void WholeStep::run_sample(Iteration& it, int i) const {
  WholeState& state = state_of(it);
  if (state.refused[static_cast<size_t>(i)]) return;  // its error is known
  SampleContext c = context_.context(it, i, node);
  c.batch_state = state.batch_state.get();
  if (step.gpu) return run_to_device(*state.op, state.inputs, c, state.outputs[0], {context_.gpu->device(), it.stream});
  run_whole_sample(*state.op, state.inputs, state.types, c, state.outputs);
}

}  // namespace

std::unique_ptr<StepRunner> make_whole_step(StepContext& context, size_t index) {
  return std::make_unique<WholeStep>(context, index);
}

}  // namespace penstock
