// SPDX-License-Identifier: Apache-2.0
// Steps that call a function of the user's program. Such a step has threads of its own, so that nobody else waits when
// the function waits: for Python's lock, for a network, for a debugger. What it returns is brought into the pipeline's
// memory by all threads.
#include <algorithm>
#include <utility>

#include "exec/steps/frames.h"
#include "exec/steps/gpu_copies.h"
#include "exec/steps/kinds.h"

namespace penstock {
namespace {

constexpr size_t kParallelCallBytes = size_t{1} << 18;  // less is copied by the thread of the call

struct CallState final : StepState {
  std::vector<Batch> inputs, results, outputs;  // results: of which the outputs are copies
  const CompiledCallback* compiled = nullptr;
  CallRequest request;
};

// Calls for single samples are dealt to threads after Callback::call.
int threads_of_call(const Node& n) {
  int64_t count = 1;
  bool batches = false;
  for (const auto& [name, value] : n.constants) {
    if (name == "num_workers") count = value_as<int64_t>(value);
    if (name == "batch_processing") batches = value_as<bool>(value);
  }
  return batches ? static_cast<int>(std::clamp<int64_t>(count, 1, 64)) : 1;
}

class CallStep final : public StatefulStep<CallState> {
 public:
  CallStep(StepContext& context, size_t index) : StatefulStep(context, index) {
    rules.in_order = true;
    rules.replaceable = false;
    if (!info_of(node).calls_compiled) rules.own_threads = threads_of_call(node);
  }

  void prepare(Iteration& it, Worker&) override;
  void run(Iteration& it, int first, int count, Worker&) override {
    for (int i = first; i < first + count; ++i) run_sample(state_of(it), i);
  }

 private:
  void ask(Iteration& it, CallState& state, Callback& callback) const;
  void check(const Iteration& it, Batch& b, int output) const;
  bool take_output(Iteration& it, CallState& state, int output) const;  // true: its samples have to be copied
  void place(Iteration& it, Batch& b) const;
  static void run_sample(CallState& state, int i);
};

void CallStep::ask(Iteration& it, CallState& state, Callback& callback) const {
  for (const auto& in : step.inputs) state.inputs.push_back(it.values.at(in));
  state.request = {state.inputs, it.origin, it.size, {}, it.trips_key, step.gpu ? it.stream : nullptr};
  for (int i = 0; i < it.size; ++i) state.request.places.push_back(given_sample(context_.plan, it, i));
  std::vector<SampleError> bad;
  state.compiled = dynamic_cast<const CompiledCallback*>(&callback);
  if (state.compiled) state.results = state.compiled->shapes(state.request);
  else state.results = callback.call(state.request, bad);
  if (static_cast<int>(state.results.size()) != node.outputs)
    bad_argument("the function returned {} outputs, but num_outputs is {}", state.results.size(), node.outputs);
  for (auto& e : bad) add_error(it, e.sample, std::move(e.error));
}

void CallStep::check(const Iteration& it, Batch& b, int output) const {
  const ValueType& t = node.types[output];
  if (b.size() != it.size) bad_argument("the function returned {} samples for a batch of {}", b.size(), it.size);
  if (!t.layout.empty()) b.set_layout(t.layout);
  for (int i = 0; i < it.size; ++i)
    if (!step.inputs.empty()) b.sample(i).source = context_.path_of(it, step.inputs[0], i);
}

bool CallStep::take_output(Iteration& it, CallState& state, int output) const {
  Batch& b = state.results[output];
  const ValueRef v{node.id, output};
  check(it, b, output);
  const auto& outputs = context_.plan.graph.outputs();
  const bool handed_out = std::find(outputs.begin(), outputs.end(), v) != outputs.end();
  if (step.gpu) {
    it.values[v] = to_gpu(context_, it, b, handed_out);
    return false;
  }
  if (b.device().kind == DeviceKind::gpu)
    bad_argument(
        "the function returned output {} on a GPU: set device='gpu' in its call, or return the output on "
        "the CPU",
        output);
  const bool copies = handed_out || state.compiled;
  Batch own = b;  // taken over
  if (copies) {
    own = of_same_shapes(b);
    place(it, own);
  }
  it.values[v] = own;
  state.outputs.push_back(std::move(own));
  return copies;
}

void CallStep::prepare(Iteration& it, Worker&) {
  const std::shared_ptr<Callback> callback = context_.callbacks.of(node);
  context_.fill_batch(it);
  auto state = std::make_shared<CallState>();
  ask(it, *state, *callback);
  size_t bytes = 0;
  bool copies = false;
  for (int k = 0; k < node.outputs; ++k) {
    if (!take_output(it, *state, k)) continue;
    copies = true;
    bytes += state->outputs.back().bytes();
  }
  if (!copies) return;
  if (state->compiled && !state->compiled->per_sample()) {
    state->compiled->run_batch(state->request, state->outputs);
    return;
  }
  it.step_state = state;
  if (state->compiled || bytes >= kParallelCallBytes) {
    it.items = it.size;
    return;
  }
  for (int i = 0; i < it.size; ++i) run_sample(*state, i);
}

void CallStep::place(Iteration& it, Batch& b) const {
  size_t bytes = 0;
  const auto rounded = [&](int i) { return checked_bytes(b.shape(i).volume(), size_of(b.dtype())); };
  for (int i = 0; i < b.size(); ++i) bytes += rounded(i);
  if (!b.has_uniform_shapes()) {
    for (int i = 0; i < b.size(); ++i) {
      b.sample(i).owner = output_memory(it, std::max<size_t>(1, rounded(i)));
      b.sample(i).data = b.sample(i).owner.get();
    }
    return;
  }
  b.block = output_memory(it, std::max<size_t>(1, bytes));
  for (int i = 0; i < b.size(); ++i) b.sample(i).data = static_cast<char*>(b.block.get()) + i * rounded(i);
}

void CallStep::run_sample(CallState& state, int i) {
  if (state.compiled) {
    state.compiled->run_sample(state.request, state.outputs, i);
    return;
  }
  for (size_t k = 0; k < state.outputs.size(); ++k)
    if (state.outputs[k].sample(i).data != state.results[k].sample(i).data)
      copy_strided(state.results[k].view(i), state.outputs[k].view(i));
}

}  // namespace

std::unique_ptr<StepRunner> make_call_step(StepContext& context, size_t index) {
  return std::make_unique<CallStep>(context, index);
}

}  // namespace penstock
