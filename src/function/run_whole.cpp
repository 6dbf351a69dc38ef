// SPDX-License-Identifier: Apache-2.0
// Operators that compute a sample as a whole.
#include <algorithm>

#include "exec/call.h"
#include "exec/refuse_boxes.h"
#include "function/function_run.h"
#include "function/renew.h"

namespace penstock {

void place_all(Batch& b, GrowingMemory& memory) {
  const bool uniform = b.has_uniform_shapes();
  const auto bytes_of = [&](int i) {
    const size_t bytes = checked_bytes(b.shape(i).volume(), size_of(b.dtype()));
    return uniform ? bytes : (bytes + 63) / 64 * 64;
  };
  size_t total = 0;
  for (int i = 0; i < b.size(); ++i) total += bytes_of(i);
  char* at = static_cast<char*>(memory.at_least(std::max<size_t>(1, total)));
  for (int i = 0; i < b.size(); ++i) b.sample(i).data = at, at += bytes_of(i);
}

// The operator with its arguments, and what it makes of these types of inputs.
CallFrame::StepState& FunctionRun::whole_of(size_t i) {
  const CompiledStep& c = f_.compiled_.steps[i];
  const Node& n = graph().node(c.step->nodes[0]);
  CallFrame::StepState& w = frame_.steps[i];
  w.inputs.resize(c.inputs.size());
  bool same = w.whole && c.constant;
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    w.inputs[k] = value(c.inputs[k]);
    const ValueType& t = same ? w.given_types[k] : ValueType{};
    const Batch& b = w.inputs[k];
    same = same && t.dtype == b.dtype() && t.ndim == b.ndim() && t.layout == b.layout();
  }
  if (!same) {
    w.whole = bind(n);
    w.types.clear(), w.given_types.clear();
    for (const Batch& b : w.inputs) {
      ValueType t{b.dtype(), b.ndim(), b.layout()};
      w.given_types.push_back(t);
      t.layout = w.whole->input_layout(t);
      w.types.push_back(t);
    }
    w.out_types.assign(static_cast<size_t>(n.outputs), {});
    w.whole->infer(w.types, w.out_types);
    w.outputs.resize(w.out_types.size());
  }
  for (size_t k = 0; k < w.inputs.size(); ++k) refuse_boxes(*w.whole->info, w.inputs[k], w.types[k].layout);
  return w;
}

void FunctionRun::run_whole(size_t i) {
  const CompiledStep& c = f_.compiled_.steps[i];
  const Node& n = graph().node(c.step->nodes[0]);
  CallFrame::StepState& w = whole_of(i);
  for (size_t k = 0; k < w.outputs.size(); ++k) {
    const ValueType& t = w.out_types[k];
    renew(w.outputs[k], t.dtype, t.ndim, t.layout, size_);
  }
  const auto context_of = [&](int sample) { return context(sample, n); };
  const auto state = run_whole_shapes(*w.whole, w.inputs, w.types, context_of, w.outputs,
                                      [&](int sample, Error e) { fail(sample, std::move(e)); });
  for (size_t k = 0; k < w.outputs.size(); ++k) place_whole(c.outputs[k], w.outputs[k]);
  if (!draw_scalars(*w.whole, w.inputs, context_of, w.outputs))
    for (int sample = 0; sample < size_; ++sample) {
      if (has_failed(sample)) continue;
      SampleContext s = context(sample, n);
      s.batch_state = state.get();
      if (auto error = error_of([&] { run_whole_sample(*w.whole, w.inputs, w.types, s, w.outputs); }))
        fail(sample, std::move(*error));
    }
  for (size_t k = 0; k < w.outputs.size(); ++k) {
    value(c.outputs[k]) = w.outputs[k];
    let_go(w.outputs[k]);
  }
  for (Batch& b : w.inputs) let_go(b);
}

// The output's samples get memory: the caller's where the value is an output and the memory has no gaps.
void FunctionRun::place_whole(int slot, Batch& out) {
  const int output = direct_output(slot, CallFrame::Writes::dense);
  if (output < 0 && f_.compiled_.has_control) return out.allocate(default_memory());
  if (output < 0) return place_all(out, frame_.memory[static_cast<size_t>(slot)].block);
  frame_.written[static_cast<size_t>(output)] = 1;
  if (!into(output)) return out.allocate(memory());
  check_target(output, out.dtype(), out.ndim());
  for (int i = 0; i < out.size(); ++i)
    if (!has_failed(i)) out.sample(i).data = target_of(output, i, out.shape(i)).data;
}

}  // namespace penstock
