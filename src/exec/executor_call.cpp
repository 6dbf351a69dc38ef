// SPDX-License-Identifier: Apache-2.0
// Steps that call a function of the user's program. Such a step has threads of its own, so that nobody else waits when
// the function waits: for Python's lock, for a network, for a debugger. What it returns is brought into the pipeline's
// memory by all threads.
#include <algorithm>

#include "exec/executor.h"

namespace penstock {

struct Executor::CallState {
  std::vector<Batch> inputs, results, outputs;  // results: of which the outputs are copies
  const CompiledCallback* compiled = nullptr;
  CallRequest request;
};

namespace {

constexpr size_t kParallelCallBytes = size_t{1} << 18;  // less is copied by the thread of the call

}  // namespace

std::shared_ptr<Callback> Executor::callback_of(const Node& n) {
  std::lock_guard lock(mutex_);
  const auto found = callbacks_.find(n.id);
  if (found == callbacks_.end())
    bad_argument(
        "'{}' calls a function of a program, which a saved pipeline does not contain: create the pipeline in the "
        "program that has the function",
        n.name);
  return found->second;
}

void Executor::set_callback(int node, std::shared_ptr<Callback> callback) {
  std::lock_guard lock(mutex_);
  if (node < 0 || node >= static_cast<int>(graph.nodes().size()) || !calls_back(graph.node(node)))
    bad_argument("node {} does not call a function", node);
  callbacks_[node] = std::move(callback);
}

// Which threads run the step: -1: those of the pipeline; else those of that number.
int Executor::lane_of(size_t step) const { return lanes_.empty() ? -1 : lanes_[step]; }

void Executor::start_callers() {
  lanes_.assign(plan.steps.size(), -1);
  int lane = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    const bool fed =
        s.kind == Step::Kind::source && dynamic_cast<const ExternalSource*>(source_or_null(s.nodes[0])) != nullptr;
    if (!fed && (s.kind != Step::Kind::call || info_of(plan.graph.node(s.nodes[0])).calls_compiled)) continue;
    int64_t count = 1, batches = 0;  // calls for single samples are dealt to threads behind Callback::call
    for (const auto& [name, value] : plan.graph.node(s.nodes[0]).constants) {
      if (name == "num_workers") count = value_as<int64_t>(value);
      if (name == "batch_processing") batches = value_as<bool>(value);
    }
    lanes_[i] = lane;
    lane_work_.emplace_back();
    for (int64_t k = 0; k < (batches ? std::clamp<int64_t>(count, 1, 64) : 1); ++k)
      begin_thread_of(options.threads, lane);
    ++lane;
  }
  if (lane == 0) lanes_.clear();
}

void Executor::prepare_call(Iteration& it, const Step& s) {
  const Node& n = plan.graph.node(s.nodes[0]);
  const std::shared_ptr<Callback> callback = callback_of(n);
  fill_batch(it);
  auto state = std::make_shared<CallState>();
  for (const auto& in : s.inputs) state->inputs.push_back(it.values.at(in));
  state->request = {state->inputs, it.origin, it.size, {}, it.trips_key, s.gpu ? it.stream : nullptr};
  for (int i = 0; i < it.size; ++i) {
    int place = i;
    for (size_t f = it.frames.size(); f-- > 0;) place = it.frames[f].inside[static_cast<size_t>(place)];
    state->request.places.push_back(place);
  }
  std::vector<SampleError> bad;
  state->compiled = dynamic_cast<const CompiledCallback*>(callback.get());
  if (state->compiled) state->results = state->compiled->shapes(state->request);
  else state->results = callback->call(state->request, bad);
  if (static_cast<int>(state->results.size()) != n.outputs)
    bad_argument("the function returned {} outputs, but num_outputs is {}", state->results.size(), n.outputs);
  for (auto& e : bad) add_error(it, e.sample, std::move(e.error));
  size_t bytes = 0;
  bool copies = false;
  for (int k = 0; k < n.outputs; ++k) {
    Batch& b = state->results[k];
    const ValueType& t = n.types[k];
    const ValueRef v{n.id, k};
    if (b.size() != it.size) bad_argument("the function returned {} samples for a batch of {}", b.size(), it.size);
    if (!t.layout.empty()) b.set_layout(t.layout);
    for (int i = 0; i < it.size; ++i)
      if (!s.inputs.empty()) b.sample(i).source = path_of(it, s.inputs[0], i);
    const bool output =
        std::find(plan.graph.outputs().begin(), plan.graph.outputs().end(), v) != plan.graph.outputs().end();
    if (s.gpu) {
      it.values[v] = to_gpu(it, b, output);
      continue;
    }
    if (b.device().kind == DeviceKind::gpu)
      bad_argument(
          "the function returned output {} on a GPU: set device='gpu' in its call, or return the output on "
          "the CPU",
          k);
    Batch own(b.dtype(), b.ndim(), b.layout(), it.size);
    for (int i = 0; i < it.size; ++i) own.sample(i).shape = b.shape(i), own.sample(i).source = b.sample(i).source;
    if (output || state->compiled) {
      place_call_output(it, own);
      bytes += own.bytes();
      copies = true;
    } else {
      own = b;  // taken over
    }
    it.values[v] = own;
    state->outputs.push_back(std::move(own));
  }
  if (s.gpu || !copies) return;
  if (state->compiled && !state->compiled->per_sample()) {
    state->compiled->run_batch(state->request, state->outputs);
    return;
  }
  it.step_state = state;
  if (state->compiled || bytes >= kParallelCallBytes) {
    it.items = it.size;
    return;
  }
  for (int i = 0; i < it.size; ++i) run_call_item(it, i);
}

void Executor::place_call_output(Iteration& it, Batch& b) {
  size_t bytes = 0;
  const auto rounded = [&](int i) { return checked_bytes(b.shape(i).volume(), size_of(b.dtype())); };
  for (int i = 0; i < b.size(); ++i) bytes += rounded(i);
  if (!b.has_uniform_shapes()) {
    for (int i = 0; i < b.size(); ++i) {
      b.sample(i).owner = slot_memory(it, std::max<size_t>(1, rounded(i)));
      b.sample(i).data = b.sample(i).owner.get();
    }
    return;
  }
  b.block = slot_memory(it, std::max<size_t>(1, bytes));
  for (int i = 0; i < b.size(); ++i) b.sample(i).data = static_cast<char*>(b.block.get()) + i * rounded(i);
}

void Executor::run_call_item(Iteration& it, int i) {
  auto& state = *static_cast<CallState*>(it.step_state.get());
  if (state.compiled) {
    state.compiled->run_sample(state.request, state.outputs, i);
    return;
  }
  for (size_t k = 0; k < state.outputs.size(); ++k)
    if (state.outputs[k].sample(i).data != state.results[k].sample(i).data)
      copy_strided(state.results[k].view(i), state.outputs[k].view(i));
}

}  // namespace penstock
