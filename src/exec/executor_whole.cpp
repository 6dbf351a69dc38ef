// SPDX-License-Identifier: Apache-2.0
// Steps of operators that compute a sample as a whole.
#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "batch/memory_reuse.h"
#include "exec/call.h"
#include "exec/refuse_boxes.h"
#include "exec/executor.h"
#include "operator/device_place.h"

namespace penstock {

struct Executor::WholeState {
  std::shared_ptr<BoundOp> op;
  std::vector<Batch> inputs, outputs;
  std::vector<ValueType> types;
  std::shared_ptr<const void> batch_state;
  std::vector<char> refused;  // samples whose shapes ended in an error
};

static void run_to_device(BoundOp& op, const std::vector<Batch>& inputs, const SampleContext& c, const Batch& out,
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

void Executor::prepare_whole(Iteration& it, const Step& s) {
  const Node& n = plan.graph.node(s.nodes[0]);
  fill_batch(it);
  auto w = std::make_shared<WholeState>();
  w->op = bind(it, n);
  for (const auto& in : n.inputs) {
    if (s.reuses && w->inputs.empty()) w->inputs.push_back(std::exchange(it.values.at(in), Batch()));
    else w->inputs.push_back(it.values.at(in));
    const Batch& b = w->inputs.back();
    ValueType t{b.dtype(), b.ndim(), b.layout()};
    t.layout = w->op->input_layout(t);
    refuse_boxes(*w->op->info, b, t.layout);
    w->types.push_back(t);
  }
  std::vector<ValueType> out(n.outputs);
  w->op->infer(w->types, out);
  for (const auto& t : out) w->outputs.emplace_back(t.dtype, t.ndim, t.layout, it.size);
  if (n.inputs.empty() && n.outputs == 1 && it.size > 0 && w->op->draws_scalars()) {
    Batch& drawn = w->outputs[0];
    drawn.allocate(options.memory);
    std::vector<SampleContext> samples;
    samples.reserve(static_cast<size_t>(it.size));
    const Contexts of = contexts(it, n);
    for (int i = 0; i < it.size; ++i) samples.push_back(of(i));
    if (auto error = error_of([&] { draw_scalars(*w->op, samples, drawn); }))
      add_error(it, 0, std::move(*error));  // of the arguments, which all samples share
    it.values[{n.id, 0}] = std::move(drawn);
    return;
  }
  w->refused.assign(static_cast<size_t>(it.size), 0);
  const auto refuse = [&](int i, Error e) {
    w->refused[static_cast<size_t>(i)] = 1;
    add_error(it, i, std::move(e));
  };
  w->batch_state =
      run_whole_shapes(*w->op, w->inputs, w->types, [&](int i) { return context(it, i, n); }, w->outputs, refuse);
  if (s.assigns && !s.reuses) statistics.copied(it.step, w->inputs[0].bytes());
  check_memory(w->outputs);
  int64_t elements = 0;
  for (const auto& b : w->inputs)
    for (int i = 0; i < it.size; ++i) elements += b.shape(i).volume();
  for (int k = 0; k < n.outputs; ++k) {
    Batch& b = w->outputs[k];
    if (s.reuses && k == 0) reuse_memory(it, w->inputs[0], b);
    else if (s.gpu) b.allocate(gpu_->memory(), it.stream);
    else b.allocate(options.memory);
    for (int i = 0; i < it.size; ++i) elements += b.shape(i).volume();
  }
  it.step_state = w;
  if (elements >= (1 << 14)) {
    for (int k = 0; k < n.outputs; ++k) it.values[{n.id, k}] = w->outputs[k];
    it.items = it.size;
    return;
  }
  for (int i = 0; i < it.size; ++i)
    if (auto error = error_of([&] { run_whole_item(it, i); })) add_error(it, i, std::move(*error));
  for (int k = 0; k < n.outputs; ++k) it.values[{n.id, k}] = std::move(w->outputs[k]);
}

// The output takes the memory of the input's samples that nobody else holds.
void Executor::reuse_memory(Iteration& it, const Batch& from, Batch& out) {
  std::vector<char> take = held_alone(from);
  allocate_others(out, from, take, options.memory, nullptr);
  for (int i = 0; i < out.size(); ++i)  // a larger one has memory of its own
    take[static_cast<size_t>(i)] = out.sample(i).data == from.sample(i).data;
  statistics.copied(it.step, bytes_of_others(from, take));
}

void Executor::run_whole_item(Iteration& it, int i) {
  auto& state = *static_cast<WholeState*>(it.step_state.get());
  if (state.refused[static_cast<size_t>(i)]) return;  // its error is known
  SampleContext c = context(it, i, plan.graph.node(plan.steps[it.step].nodes.front()));
  c.batch_state = state.batch_state.get();
  if (plan.steps[it.step].gpu)
    return run_to_device(*state.op, state.inputs, c, state.outputs[0], {gpu_->device(), it.stream});
  run_whole_sample(*state.op, state.inputs, state.types, c, state.outputs);
}

}  // namespace penstock
