// SPDX-License-Identifier: Apache-2.0
// A stage on the CPU, on this thread: samples go straight into the caller's memory where the stage makes an output.
#include <algorithm>

#include "batch/encoded_bytes.h"
#include "exec/call.h"
#include "exec/refuse_boxes.h"
#include "function/function_run.h"
#include "function/renew.h"

namespace penstock {

namespace {

constexpr size_t kCaches = size_t{8} << 20;  // a larger result has left them before anybody reads it

}  // namespace

// Where the samples of a stage's first output go.
struct FunctionRun::Placing {
  const CompiledStep& step;
  int slot;
  int output;           // of the function, which is written where it belongs; -1: a value that stays in the call
  bool placed = false;  // all samples have their memory
};

bool FunctionRun::fits(const StageProgram& program, const CompiledStep& c) const {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const ValueType& t = program.inputs[i];
    const Batch& b = frame_.values[static_cast<size_t>(c.inputs[i])];
    if (t.dtype != b.dtype() || t.ndim != b.ndim() || (!b.layout().empty() && !(t.layout == b.layout()))) return false;
  }
  return true;
}

StageProgram FunctionRun::program_of(const CompiledStep& c) {
  const Step& s = *c.step;
  StageProgram program;
  std::map<ValueRef, int> number;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const Batch& b = value(c.inputs[i]);
    program.inputs.push_back({b.dtype(), b.ndim(), b.layout()});
    number.emplace(s.inputs[i], static_cast<int>(i));
  }
  for (int id : s.nodes) {
    const Node& n = graph().node(id);
    std::vector<int> operands;
    for (const auto& in : n.inputs) {
      const auto known = number.find(in);
      operands.push_back(known == number.end() ? number.at({n.id, 0, Place::pixels}) : known->second);
    }
    try {
      number[{id, 0}] = append_node(program, bind(n), std::move(operands), f_.graph_.draws_of(n));
    } catch (Error& e) {
      e.op = n.op, e.user_line = n.user_line;
      throw;
    }
  }
  program.outputs = {number.at(s.output)};
  for (const ValueRef& v : c.sizes) program.sizes.push_back(number.at(graph().node(v.node).inputs[0]));
  return program;
}

CpuStage& FunctionRun::stage_of(size_t i) {
  const CompiledStep& c = f_.compiled_.steps[i];
  std::shared_ptr<CpuStage>& stage = frame_.steps[i].stage;
  if (!stage || !c.constant || !fits(stage->program(), c)) stage = std::make_shared<CpuStage>(program_of(c));
  return *stage;
}

void FunctionRun::begin_outputs(const CompiledStep& c, const CpuStage& stage) {
  const StageProgram& program = stage.program();
  const ValueType& t = type_of(program, program.outputs[0]);
  const int ndim = std::max(0, t.ndim);
  Batch& out = value(c.outputs[0]);
  renew(out, t.dtype, ndim, t.layout.size() == ndim ? t.layout : Layout{}, size_);
  for (int i = 0; i < size_ && !call_.inputs.empty(); ++i)
    if (const auto& source = call_.inputs[0]->sample(frame_.numbers[static_cast<size_t>(i)]).source; !source.empty())
      out.sample(i).source = source;
  for (size_t k = 0; k < c.sizes.size(); ++k)
    value(c.outputs[1 + k]) = make_sizes(program, static_cast<int>(k), size_, default_memory());
}

// New memory for an output is one block where all shapes are known before a pixel moves.
void FunctionRun::place_known(const CpuStage& stage, Placing& to) {
  const CompiledStep& c = to.step;
  Batch& out = value(to.slot);
  std::vector<Shape> in(c.inputs.size());
  const BoundOp& first = *stage.program().nodes[0].op;
  const bool decodes = first.traits().decodes;
  for (int k = 0; k < size_; ++k) {
    for (size_t j = 0; j < in.size(); ++j) in[j] = value(c.inputs[j]).shape(k);
    if (decodes) {
      const auto type = first.decode_params().type;
      in[0] = Shape{-1, -1, type == ImageType::any_data ? -1 : type == ImageType::gray ? 1 : 3};
    }
    try {
      stage.shapes(context(k, graph().node(c.step->nodes[0])), in, std::span(&out.sample(k).shape, 1));
    } catch (const Error&) {
      return;  // said when the sample runs
    }
    if (!out.shape(k).known() || out.shape(k).size() != out.ndim()) return;
  }
  if (!out.has_uniform_shapes()) return;
  out.allocate(memory());
  to.placed = true;
}

// Where the stage writes a sample of its first output.
View FunctionRun::place_sample(const Placing& to, int i, DType type, const Shape& shape) {
  Batch::Sample& sample = value(to.slot).sample(i);
  if (to.placed) {
    if (!(sample.shape == shape))
      penstock::fail(ErrorKind::internal, "a sample of shape {} where {} was promised", shape.text(),
                     sample.shape.text());
    return {sample.data, type, {}, shape, dense_strides(shape)};
  }
  sample.shape = shape;
  if (to.output >= 0 && into(to.output)) {
    const View target = target_of(to.output, i, shape);
    sample.data = target.data;
    if (target.dense()) return target;
    sample.strides = target.strides;
    return target;
  } else if (to.output >= 0 || f_.compiled_.has_control) {  // a loop's value outlives the next trip
    sample.owner = allocate_shared(memory(), std::max<size_t>(1, checked_bytes(shape.volume(), size_of(type))));
    sample.data = sample.owner.get();
  } else {
    auto& of_sample = frame_.memory[static_cast<size_t>(to.slot)].of_sample;
    if (static_cast<int>(of_sample.size()) <= i) of_sample.resize(static_cast<size_t>(samples_));
    const size_t bytes = checked_bytes(shape.volume(), size_of(type));
    sample.data = of_sample[static_cast<size_t>(i)].at_least(std::max<size_t>(1, bytes));
  }
  return {sample.data, type, {}, shape, dense_strides(shape)};
}

// `first` and those after it, as many as the stage best runs in turn.
void FunctionRun::run_together(const CpuStage& stage, const Placing& to, int first, int count) {
  struct Sample {
    FunctionRun* run;
    const Placing* to;
    int number;
    SampleContext context;
    StageInput in[4];
    std::string lacking;
    AllocateOutput allocate;
  } samples[kDecodeTogether];
  FixedVector<StageTask, kDecodeTogether> tasks;
  const CompiledStep& c = to.step;
  const bool decodes = stage.program().nodes[0].op->traits().decodes;
  const Node& node = graph().node(c.step->nodes[0]);
  for (int i = first; i < first + count; ++i) {
    Sample& s = samples[tasks.size()];
    s.run = this, s.to = &to, s.number = i, s.context = context(i, node);
    auto error = error_of([&] {
      for (size_t k = 0; k < c.inputs.size(); ++k) s.in[k].view = value(c.inputs[k]).view(i);
      if (decodes) s.in[0].encoded = encoded_bytes(s.in[0].view);
      s.in[0].lacking = &s.lacking;
    });
    if (error) {
      fail(i, std::move(*error));
      continue;
    }
    s.allocate = [p = &s](int output, DType type, const Shape& shape, const Layout&) -> View {
      if (output > 0) return p->run->value(p->to->step.outputs[static_cast<size_t>(output)]).view(p->number);
      return p->run->place_sample(*p->to, p->number, type, shape);
    };
    tasks.push_back({s.context, std::span(s.in, c.inputs.size()), s.allocate, std::nullopt});
  }
  stage.run_together(std::span(tasks.data(), static_cast<size_t>(tasks.size())), frame_.scratch);
  for (int t = 0; t < tasks.size(); ++t)
    if (tasks[t].error) fail(samples[t].number, std::move(*tasks[t].error));
    else tell(samples[t].number, samples[t].lacking);
}

void FunctionRun::tell(int sample, const std::string& lacking) const {
  if (lacking.empty()) return;
  const int number = frame_.numbers[static_cast<size_t>(sample)];
  tell_lacking(call_.inputs[0]->sample(number).source, number, samples_, lacking, call_.lacks);
}

void FunctionRun::run_stage(size_t i) {
  const CompiledStep& c = f_.compiled_.steps[i];
  const CpuStage& stage = stage_of(i);
  for (size_t k = 0; k < c.inputs.size(); ++k) refuse_boxes(stage.program(), static_cast<int>(k), value(c.inputs[k]));
  begin_outputs(c, stage);
  const int slot = c.outputs[0];
  Placing to{c, slot, direct_output(slot, CallFrame::Writes::rows)};
  if (to.output >= 0 && into(to.output)) check_target(to.output, value(slot).dtype(), value(slot).ndim());
  if (to.output >= 0 && !into(to.output)) place_known(stage, to);
  frame_.scratch.cold_output = to.output >= 0 && bytes_of(to) > kCaches;
  const int together = std::max(1, std::min<int>(kDecodeTogether, stage.together()));
  for (int first = 0; first < size_; first += together)
    run_together(stage, to, first, std::min(together, size_ - first));
  if (to.output >= 0) frame_.written[static_cast<size_t>(to.output)] = 1;
}

size_t FunctionRun::bytes_of(const Placing& to) const {
  if (to.placed) return frame_.values[static_cast<size_t>(to.slot)].bytes();
  return into(to.output) ? into(to.output)->bytes() : 0;
}

}  // namespace penstock
