// SPDX-License-Identifier: Apache-2.0
#include "exec/stage_on_host.h"

#include "batch/transfer.h"
#include "cpu/stage.h"
#include "device/gpu_backend.h"
#include "exec/call.h"
#include "stage/source_range.h"
#include "stage/program.h"

namespace penstock {
namespace {

// Joins the existing samples to one batch; the others are empty.
Batch joined(std::vector<Tensor>& samples, const ValueType& type, const std::shared_ptr<MemoryResource>& memory,
             StreamHandle stream) {
  int ndim = type.ndim;
  for (const Tensor& t : samples)
    if (t.owner) ndim = t.view.shape.size();
  Batch batch(type.dtype, ndim, type.layout.size() == ndim ? type.layout : Layout{}, static_cast<int>(samples.size()));
  for (int i = 0; i < batch.size(); ++i)
    batch.sample(i).shape = samples[i].owner ? samples[i].view.shape : Shape::filled(ndim, 0);
  batch.allocate(memory, stream);
  for (int i = 0; i < batch.size(); ++i)
    if (samples[i].owner) copy_strided(samples[i].view, batch.view(i));
  return batch;
}

// A decoder whose pictures are already decoded: the window that it cuts.
class WindowOfDecoder final : public BoundOp {
 public:
  explicit WindowOfDecoder(std::shared_ptr<const BoundOp> decoder) : decoder_(std::move(decoder)) {
    info = decoder_->info;
    frame_arguments = decoder_->frame_arguments;
    sample_arguments = decoder_->sample_arguments;
  }
  void* members() override { return nullptr; }
  void infer(std::span<const ValueType>, std::span<ValueType>) override {}  // done
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    decoder_->shapes(s, in, types, out);
  }
  StageTraits traits() const override {
    StageTraits t = decoder_->traits();
    t.decodes = false;
    return t;
  }
  void map(const SampleContext& s, Placement& p) const override { decoder_->map(s, p); }

 private:
  const std::shared_ptr<const BoundOp> decoder_;
};

StageProgram without_decoding(StageProgram program) {
  StageNode& first = program.nodes[0];
  if (!first.op->traits().decodes) return program;
  program.inputs[0] = {first.op->decode_params().dtype, 3, "HWC"};
  first.op = std::make_shared<WindowOfDecoder>(std::move(first.op));
  return program;
}

// A sample on the host.
struct Fetched {
  std::shared_ptr<void> owner;
  View view;
};

// For a picture of which only the region that the stage reads has memory, as decoders leave it.
Fetched fetch_region(const StageProgram& program, const BatchStageCall& call, SampleContext context, const View& there,
                     DeviceRuntime& runtime) {
  if (there.shape.size() != 3 || there.strides[2] != 1)
    bad_argument("a sample on the GPU has gaps: fn.copy() makes it dense");
  Placement placement(there.shape, "HWC");
  for (const StageNode& node : program.nodes) {
    context.draws = node.draws;
    if (node.op->traits().maps) node.op->map(context, placement);
  }
  const SourceRange y = source_range(placement, 0), x = source_range(placement, 1);
  if (y.hi <= y.lo || x.hi <= x.lo) return {nullptr, there};  // nothing is read
  const auto element = static_cast<int64_t>(size_of(there.dtype));
  const int64_t before = (y.lo * there.strides[0] + x.lo * there.strides[1]) * element;
  const int64_t end = ((y.hi - 1) * there.strides[0] + (x.hi - 1) * there.strides[1] + there.shape[2]) * element;
  const size_t bytes = checked_bytes(end - before, 1);
  Fetched f{allocate_shared(runtime.pinned_memory(), bytes, call.stream), there};
  runtime.copy(call.device, f.owner.get(), there.as<const char>() + before, bytes, call.stream);
  f.view.data = static_cast<char*>(f.owner.get()) - before;
  return f;
}

// A copy of `here` on the device, with the same layout in memory.
Batch copied_there(const Batch& here, const BatchStageCall& call, DeviceRuntime& runtime) {
  Batch there(here.dtype(), here.ndim(), here.layout(), here.size());
  for (int i = 0; i < here.size(); ++i) {
    there.sample(i).shape = here.shape(i);
    if (!call.inputs.empty()) there.sample(i).source = call.inputs[0].sample(i).source;
  }
  there.allocate(call.memory, call.stream);
  if (here.bytes() > 0) {  // one block, laid out like the other
    const View last = here.view(here.size() - 1);
    const size_t bytes = static_cast<size_t>(last.as<char>() - static_cast<char*>(here.block.get())) +
                         static_cast<size_t>(last.volume()) * size_of(last.dtype);
    runtime.copy(call.device, there.block.get(), here.block.get(), bytes, call.stream);
  }
  return there;
}

void run_whole_on_host(const StageProgram& program, const BatchStageCall& call, std::span<Batch> outputs,
                       std::vector<SampleError>& errors) {
  const StageNode& node = program.nodes[0];
  DeviceRuntime& runtime = gpu_backend().runtime();
  std::vector<Batch> inputs;
  std::vector<ValueType> types;
  for (const Batch& b : call.inputs) {
    inputs.push_back(copy_to(b, {}, call.stream));
    types.push_back({b.dtype(), b.ndim(), b.layout()});
    types.back().layout = node.op->input_layout(types.back());
  }
  runtime.synchronize(call.device, call.stream);
  const auto context = [&](int i) {
    SampleContext c = call.context(i);
    c.index = i, c.draws = node.draws;
    return c;
  };
  std::vector<Batch> out;
  out.emplace_back(node.type.dtype, node.type.ndim, node.type.layout, call.size);
  for (const ValueType& t : program.more) out.emplace_back(t.dtype, t.ndim, t.layout, call.size);
  const auto state = run_whole_shapes(*node.op, inputs, types, context, out);
  for (Batch& b : out) b.allocate(runtime.pinned_memory(), call.stream);
  const bool drawn = draw_scalars(*node.op, inputs, context, out);
  for (int i = 0; i < call.size && !drawn; ++i) {
    SampleContext c = context(i);
    c.batch_state = state.get();
    if (auto error = error_of([&] { run_whole_sample(*node.op, inputs, types, c, out); }))
      errors.push_back({i, std::move(*error)});
  }
  for (size_t k = 0; k < out.size(); ++k) outputs[k] = copied_there(out[k], call, runtime);
}

}  // namespace

void run_stage_on_host(const StageProgram& program, const BatchStageCall& call, std::span<Batch> outputs,
                       std::vector<SampleError>& errors) {
  const bool whole = program.nodes[0].op->info->family == Family::whole;
  if (whole && program.nodes.size() == 1) return run_whole_on_host(program, call, outputs, errors);
  DeviceRuntime& runtime = gpu_backend().runtime();
  std::vector<std::vector<Fetched>> inputs;
  for (const Batch& b : call.inputs) {
    auto& samples = inputs.emplace_back();
    bool dense = true;
    for (int i = 0; i < b.size(); ++i) dense &= b.view(i).dense();
    const Batch here = dense ? copy_to(b, {}, call.stream) : Batch();
    for (int i = 0; i < b.size(); ++i) {
      if (!dense && whole) bad_argument("frames on the GPU have gaps: fn.copy() makes them dense");
      if (dense) samples.push_back({here.block, here.view(i)});
      else samples.push_back(fetch_region(program, call, call.context(i), b.view(i), runtime));
    }
  }
  runtime.synchronize(call.device, call.stream);
  const CpuStage stage(without_decoding(program));
  CpuScratch scratch;
  std::vector<std::vector<Tensor>> made(outputs.size(), std::vector<Tensor>(call.size));
  for (int i = 0; i < call.size; ++i) {
    std::vector<StageInput> in(inputs.size());
    for (size_t k = 0; k < inputs.size(); ++k) in[k].view = inputs[k][i].view;
    const SampleContext context = call.context(i);
    const auto allocate = [&](int output, DType type, const Shape& shape, const Layout& layout) {
      return (made[output][i] = Tensor::empty(type, shape, layout)).view;
    };
    auto error = error_of([&] { stage.run(context, in, allocate, scratch); });
    if (!error) continue;
    errors.push_back({i, std::move(*error)});
    for (auto& of_output : made) of_output[i] = {};
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (k >= program.outputs.size()) {  // sizes stay on the host
      outputs[k] = joined(made[k], kSizeType, default_memory(), nullptr);
      continue;
    }
    const Batch here = joined(made[k], type_of(program, program.outputs[k]), runtime.pinned_memory(), call.stream);
    outputs[k] = copied_there(here, call, runtime);
  }
}

}  // namespace penstock
