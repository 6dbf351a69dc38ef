// SPDX-License-Identifier: Apache-2.0
#include "exec/call.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "base/notice.h"
#include "base/thread_pool.h"
#include "batch/encoded_bytes.h"
#include "batch/transfer.h"
#include "cpu/stage.h"
#include "exec/call_gpu.h"
#include "exec/call_into.h"
#include "exec/refuse_boxes.h"
#include "operator/forms.h"

namespace penstock {
namespace {

// One scratch per thread of any pool, reused by the next call.
CpuScratch& thread_scratch() {
  thread_local CpuScratch scratch;
  return scratch;
}

// With fewer elements than this, a call is cheaper than waking other threads.
constexpr int64_t kParallelElements = 1 << 16;

// Runs body(i) for samples, and keeps the errors of single samples if the call wants them. Else it ends with that of
// the first sample; those after it need not be computed.
class Samples {
 public:
  // decodes: what is wrong with a file is known before what is wrong with the window of another one.
  Samples(const OpInfo& info, int n, SampleErrors* errors, bool decodes = false)
      : info_(info), n_(n), decodes_(decodes), errors_(errors), first_(int64_t{2} * n) {
    if (errors) errors->assign(static_cast<size_t>(n), std::nullopt);
  }
  int size() const { return n_; }
  bool failed(int i) const { return errors_ ? (*errors_)[static_cast<size_t>(i)].has_value() : i >= first_; }
  void fail(int i, Error e) {
    name_sample(e, i, n_);
    if (e.op.empty()) e.op = info_.name;
    if (errors_) {
      (*errors_)[static_cast<size_t>(i)] = std::move(e);
      return;
    }
    const int64_t place = decodes_ && e.kind() == ErrorKind::argument ? int64_t{n_} + i : i;
    std::lock_guard lock(mutex_);
    if (!error_ || place < first_) first_ = place, error_ = std::move(e);
  }
  void raise_first() const {
    if (error_) throw *error_;
  }
  template <class F> void run(int i, F&& body) {
    if (failed(i)) return;
    try {
      body(i);
    } catch (Error& e) {
      fail(i, std::move(e));
    }
  }
  // A sample that has failed has no elements.
  void empty_failed(std::vector<Batch>& results) const {
    for (int i = 0; errors_ && i < n_; ++i)
      for (Batch& b : results)
        if (failed(i)) b.sample(i) = Batch::Sample(nullptr, Shape::filled(b.ndim(), 0), {}, nullptr, {});
  }

 private:
  const OpInfo& info_;
  int n_;
  bool decodes_;
  SampleErrors* errors_;
  std::atomic<int64_t> first_;  // place of the sample that has failed, if the call ends with it
  std::mutex mutex_;
  std::optional<Error> error_;  // its
};

int64_t elements_of(std::span<const Batch> batches) {
  int64_t elements = 0;
  for (const Batch& b : batches)
    for (int i = 0; i < b.size(); ++i) elements += b.shape(i).volume();
  return elements;
}

// The shapes of all outputs. Those of a batch-wide operator may be work for all threads.
std::shared_ptr<const void> find_shapes(const BoundOp& op, std::span<const Batch> inputs,
                                        std::span<const ValueType> types, const ContextOf& context,
                                        std::vector<Batch>& out, Samples& samples) {
  const RefuseSample refuse = [&](int i, Error e) { samples.fail(i, std::move(e)); };
  if (!op.info->batch_wide || elements_of(inputs) < kParallelElements)
    return run_whole_shapes(op, inputs, types, context, out, refuse);
  const auto pool = shared_pool();
  const CrewMember member(&pool->crew());
  return run_whole_shapes(op, inputs, types, context, out, refuse);
}

void for_samples(Samples& samples, int64_t elements, const std::function<void(int)>& body) {
  const int n = samples.size();
  if (elements < kParallelElements) {
    for (int i = 0; i < n; ++i) samples.run(i, body);
    return;
  }
  const auto pool = shared_pool();
  const CrewMember member(&pool->crew());
  if (n > 1) pool->parallel_for(n, [&](int64_t i, int) { samples.run(static_cast<int>(i), body); });
  else samples.run(0, body);
}

// Memory of the target for the samples that have not failed.
void use_memory(Batch& out, const Batch& target, const Samples& samples) {
  for (int i = 0; i < out.size(); ++i)
    if (!samples.failed(i)) use_memory(out, target, i);
}

std::vector<Batch> run_stage_op(std::shared_ptr<BoundOp> op, std::span<const Batch> inputs, bool gives_size,
                                const SampleContext& context, const std::shared_ptr<MemoryResource>& memory,
                                std::span<const Batch* const> into, SampleErrors* errors, SampleLacks* lacks) {
  const bool decodes = op->traits().decodes;
  Samples samples(*op->info, inputs[0].size(), errors, decodes);
  StageProgram program;
  std::vector<int> operands;
  for (const auto& b : inputs) {
    program.inputs.push_back({b.dtype(), b.ndim(), b.layout()});
    operands.push_back(static_cast<int>(operands.size()));
  }
  program.outputs = {append_node(program, std::move(op), operands, context.draws)};
  if (gives_size) program.sizes = {0};
  const CpuStage stage(std::move(program));
  const StageNode& node = stage.program().nodes[0];
  for (size_t k = 0; k < inputs.size(); ++k) refuse_boxes(stage.program(), static_cast<int>(k), inputs[k]);
  const int n = inputs[0].size();
  Batch out(node.type.dtype, node.type.ndim, {}, n);
  int64_t elements = 0;
  std::vector<Shape> in_shapes(inputs.size());
  for (int i = 0; i < n; ++i) {
    if (decodes) {
      elements += kParallelElements;
      continue;
    }
    for (size_t k = 0; k < inputs.size(); ++k) in_shapes[k] = inputs[k].shape(i);
    samples.run(i, [&](int) { stage.shapes(of_sample(context, i), in_shapes, std::span(&out.sample(i).shape, 1)); });
    if (samples.failed(i)) out.sample(i).shape = Shape::filled(out.ndim(), 0);
    elements += out.shape(i).volume() + in_shapes[0].volume();
  }
  const Batch* target = into.empty() ? nullptr : into[0];
  if (target) check_target(out, *target);
  if (!decodes && target) use_memory(out, *target, samples);
  else if (!decodes) out.allocate(memory);
  Batch sizes;
  if (gives_size) sizes = make_sizes(stage.program(), 0, n, memory);
  if (gives_size && into.size() > 1 && into[1]) check_target(sizes, *into[1]), use_memory(sizes, *into[1], samples);
  for_samples(samples, elements, [&](int i) {
    StageInput in[4];
    for (size_t k = 0; k < inputs.size(); ++k) in[k].view = inputs[k].view(i);
    if (decodes) in[0].encoded = encoded_bytes(in[0].view);
    std::string lacking;
    in[0].lacking = &lacking;
    try {
      stage.run(
          of_sample(context, i), std::span(in, inputs.size()),
          [&](int output, DType t, const Shape& s, const Layout&) -> View {
            if (output > 0) return sizes.view(i);
            auto& sample = out.sample(i);
            if (!sample.data && target) {
              sample.shape = s;
              use_memory(out, *target, i);
            } else if (!sample.data) {
              sample.shape = s;
              sample.owner = allocate_shared(memory, checked_bytes(s.volume(), size_of(t)));
              sample.data = sample.owner.get();
            }
            return {sample.data, t, {}, s, dense_strides(s)};
          },
          thread_scratch());
    } catch (Error& e) {
      e.op = node.op->info->name;
      if (e.source.empty()) e.source = inputs[0].sample(i).source;
      throw;
    }
    tell_lacking(inputs[0].sample(i).source, i, n, lacking, lacks);
  });
  samples.raise_first();
  std::vector<Batch> result;
  out.set_layout(node.type.layout.size() == out.ndim() ? node.type.layout : Layout{});
  result.push_back(std::move(out));
  if (gives_size) result.push_back(std::move(sizes));
  samples.empty_failed(result);
  return result;
}

std::vector<Batch> run_whole_op(std::shared_ptr<BoundOp> op, std::span<const Batch> inputs,
                                const SampleContext& context, const std::shared_ptr<MemoryResource>& memory,
                                int batch_size, std::span<const Batch* const> into, SampleErrors* errors) {
  const OpInfo& info = *op->info;
  Samples samples(info, batch_size, errors);
  std::vector<ValueType> types, out_types(info.count_outputs ? info.count_outputs(*op) : info.outputs);
  for (const auto& b : inputs) {
    ValueType t{b.dtype(), b.ndim(), b.layout()};
    t.layout = op->input_layout(t);
    refuse_boxes(info, b, t.layout);
    types.push_back(t);
  }
  op->infer(types, out_types);
  std::vector<Batch> out;
  for (const auto& t : out_types) out.emplace_back(t.dtype, t.ndim, t.layout, batch_size);
  const auto context_of = [&](int i) { return of_sample(context, i); };
  const auto state = find_shapes(*op, inputs, types, context_of, out, samples);
  for (size_t k = 0; k < out.size(); ++k) {
    Batch& b = out[k];
    if (const Batch* target = into.empty() ? nullptr : into[k]) {
      check_target(b, *target);
      use_memory(b, *target, samples);
    } else {
      b.allocate(memory);
    }
  }
  if (inputs.empty()) samples.raise_first();
  if (draw_scalars(*op, inputs, context_of, out)) return out;
  for_samples(samples, elements_of(out) + elements_of(inputs), [&](int i) {
    SampleContext c = context_of(i);
    c.batch_state = state.get();
    run_whole_sample(*op, inputs, types, c, out);
  });
  samples.raise_first();
  samples.empty_failed(out);
  return out;
}

}  // namespace

void name_sample(Error& e, int i, int n) {
  if (n > 1 && e.source.empty()) e.source = fmt::format("sample {}", i);
}

void tell_lacking(const std::string& source, int i, int n, const std::string& lacking, SampleLacks* lacks) {
  if (lacking.empty()) return;
  Error named(ErrorKind::data, lacking);
  named.source = source;
  name_sample(named, i, n);
  const std::string text = named.source.empty() ? lacking : named.source + ": " + lacking;
  if (lacks) (*lacks)[static_cast<size_t>(i)] = text;
  else notice_of_sample(text);
}

SampleContext of_sample(SampleContext c, int i) {
  c.index = i, c.sample += i;
  return c;
}

Batch make_sizes(const StageProgram& program, int k, int n, const std::shared_ptr<MemoryResource>& memory) {
  const Layout& layout = type_of(program, program.sizes[k]).layout;
  const Shape shape{spatial_extents(layout, Shape::filled(layout.size(), 1)).size()};
  return Batch::uniform(kSizeType.dtype, shape, kSizeType.layout, n, memory);
}

void refuse_boxes(const OpInfo& info, const Batch& input, const Layout& taken) {
  if (input.ndim() != 2 || !input.layout().empty() || !(taken == Layout("HW")) || input.size() == 0) return;
  const DType t = input.dtype();
  if (t == DType::uint8 || t == DType::uint16 || t == DType::bool_) return;
  for (int i = 0; i < input.size(); ++i)
    if (input.shape(i)[1] != 4) return;
  Error e(ErrorKind::argument,
          fmt::format("works on images, but the input has the shape {} of boxes: bb_flip, bbox_paste, bbox_rotate and "
                      "random_bbox_crop move boxes; for an image with a width of 4, set the layout HW",
                      input.shape(0).text()));
  e.op = info.name;
  throw e;
}

void refuse_boxes(const StageProgram& program, int input, const Batch& given) {
  if (given.ndim() != 2 || !given.layout().empty()) return;
  for (const StageNode& node : program.nodes)
    if (std::find(node.operands.begin(), node.operands.end(), input) != node.operands.end())
      return refuse_boxes(*node.op->info, given, program.inputs[static_cast<size_t>(input)].layout);
}

void draw_scalars(const BoundOp& op, std::span<const SampleContext> contexts, Batch& out) {
  try {
    op.draw_scalars(contexts, out.dtype(), out.sample(0).data);
  } catch (Error& e) {
    e.op = op.info->name;
    throw;
  }
}

bool draw_scalars(const BoundOp& op, std::span<const Batch> inputs, const ContextOf& context, std::vector<Batch>& out) {
  if (!inputs.empty() || out.size() != 1 || out[0].size() == 0 || !op.draws_scalars() || !out[0].is_dense_tensor())
    return false;
  std::vector<SampleContext> contexts;
  contexts.reserve(out[0].size());
  for (int i = 0; i < out[0].size(); ++i) contexts.push_back(context(i));
  draw_scalars(op, contexts, out[0]);
  return true;
}

std::shared_ptr<const void> run_whole_shapes(const BoundOp& op, std::span<const Batch> inputs,
                                             std::span<const ValueType> types, const ContextOf& context,
                                             std::vector<Batch>& out, const RefuseSample& refuse) {
  const int n = out[0].size();
  const auto state = op.info->batch_wide ? op.batch_state(inputs, types) : nullptr;
  std::vector<Shape> in(inputs.size()), shapes(out.size());
  for (int i = 0; i < n; ++i) {
    for (size_t k = 0; k < inputs.size(); ++k) in[k] = inputs[k].shape(i);
    SampleContext c = context(i);
    if (op.info->batch_wide) c.batch_state = state ? state.get() : &inputs;
    if (!refuse) op.shapes(c, in, types, shapes);
    else if (auto error = error_of([&] { op.shapes(c, in, types, shapes); })) {
      refuse(i, std::move(*error));
      for (size_t k = 0; k < out.size(); ++k) shapes[k] = Shape::filled(out[k].ndim(), 0);
    }
    for (size_t k = 0; k < out.size(); ++k) out[k].sample(i).shape = shapes[k];
  }
  if (op.info->batch_wide) op.batch_shapes(inputs, types, out);
  return state;
}

void run_whole_sample(const BoundOp& op, std::span<const Batch> inputs, std::span<const ValueType> types,
                      const SampleContext& context, std::vector<Batch>& out) {
  const int i = context.index;
  if (inputs.empty() && out.size() == 1) {  // draws one number per sample; skipping the unneeded ones would take longer
    const View to = out[0].view(i);
    try {
      return op.run(context, {}, {&to, 1});
    } catch (Error& e) {
      e.op = op.info->name;
      throw;
    }
  }
  std::vector<View> in, to;
  std::vector<Tensor> copies;
  for (size_t k = 0; k < inputs.size(); ++k) {
    View v = inputs[k].view(i);
    v.layout = types[k].layout;
    if (!v.dense()) {
      copies.push_back(Tensor::empty(v.dtype, v.shape, v.layout));
      copy_strided(v, copies.back().view);
      v = copies.back().view;
    }
    in.push_back(v);
  }
  for (auto& b : out) to.push_back(b.view(i));
  try {
    op.run(context, in, to);
  } catch (Error& e) {
    // The map of points of an operator is part of a call of that operator.
    if (e.op.empty()) e.op = op.info->follows.empty() ? op.info->name : op.info->follows;
    if (e.source.empty() && !inputs.empty()) e.source = inputs[0].sample(i).source;
    throw;
  }
}

std::vector<Batch> call_op(const OpInfo& called, std::span<const Batch> inputs, std::span<const Argument> args,
                           const SampleContext& context, const std::shared_ptr<MemoryResource>& memory, int batch_size,
                           std::span<const Batch* const> into, CallPlace* place, SampleErrors* errors,
                           SampleLacks* lacks) {
  const OpInfo& info = form_of(called, inputs.size(), args);
  try {
    const int n = static_cast<int>(inputs.size());
    const std::vector<int> places = argument_inputs(info, n, args);
    if (info.family == Family::source) bad_argument("reads data and works only inside a pipeline");
    for (const auto& b : inputs) {
      if (b.size() == 0) bad_argument("the batch is empty");
      if (b.size() != inputs[0].size())
        bad_argument("the inputs differ in their number of samples: {} and {}", inputs[0].size(), b.size());
    }
    if (n > 0) batch_size = inputs[0].size();
    if (lacks) lacks->assign(static_cast<size_t>(batch_size), {});
    std::vector<Argument> all;
    if (!places.empty()) {  // the last inputs are values of arguments
      all.assign(args.begin(), args.end());
      for (size_t k = 0; k < places.size(); ++k) all[places[k]].batch = &inputs[n - places.size() + k];
      args = all;
      inputs = inputs.first(n - places.size());
    }
    for (const auto& a : args)
      if (a.batch && a.batch->size() != batch_size)
        bad_argument("a per-sample argument has {} values for {} samples", a.batch->size(), batch_size);
    if (!into.empty()) check_overlap(inputs, args, into);
    CallPlace found = place ? *place : CallPlace{};
    for (const auto& b : inputs)
      if (found.gpu < 0 && b.device().kind == DeviceKind::gpu) found.gpu = b.device().id;
    if (!info.follows.empty()) found.gpu = -1;  // it reads only the shape of its input
    const auto stays = [&](size_t k) {          // on the GPU, if the operator reads it there
      const auto& names = info.gpu_arguments;
      return args[k].batch->device().id == found.gpu &&
             std::find(names.begin(), names.end(), info.args[k].name) != names.end();
    };
    std::vector<Batch> on_host_now;
    for (size_t k = 0; k < args.size(); ++k)
      if (args[k].batch && args[k].batch->device().kind == DeviceKind::gpu && !stays(k)) {
        on_host_now.reserve(args.size());  // reserves all: pointers refer to them
        on_host_now.push_back(on_host(*args[k].batch));
        if (all.empty()) all.assign(args.begin(), args.end());
        all[k].batch = &on_host_now.back();
        args = all;
      }
    if (found.gpu >= 0) {
      if (errors) bad_argument("gives statuses of samples on the CPU only");
      auto results = call_on_gpu(info, inputs, args, context, batch_size, into, found);
      if (place) *place = found;
      return results;
    }
    for (const auto& b : inputs)
      if (b.device().kind == DeviceKind::cpu) wait_on_host(b);
    std::shared_ptr<BoundOp> op = bind_op(info, args);
    const bool gives_size = outputs_of(info, args) > info.outputs;
    const CallTargets targets(into);
    auto results =
        info.family == Family::whole
            ? run_whole_op(std::move(op), inputs, context, memory, batch_size, targets.direct(), errors)
            : run_stage_op(std::move(op), inputs, gives_size, context, memory, targets.direct(), errors, lacks);
    targets.fill(results);
    return results;
  } catch (Error& e) {
    if (e.op.empty()) e.op = info.name;
    throw;
  }
}

}  // namespace penstock
