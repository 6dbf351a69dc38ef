// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage.h"

#include <algorithm>

#include "batch/batch.h"
#include "cuda/stages/fold_arguments.h"
#include "cuda/stages/stage_launch.h"

namespace penstock {
namespace {

// The type that a pixel function computes in: of a comparison it follows from the type of its constant.
Lane lane_of(const StageProgram& p, const StageNode& n) {
  std::vector<DType> operands;
  for (int k : n.operands) operands.push_back(type_of(p, k).dtype);
  return n.op->lane(operands, n.type.dtype);
}

bool same_structure(const StageProgram& a, const StageProgram& b) {
  if (a.inputs.size() != b.inputs.size() || a.nodes.size() != b.nodes.size() || a.outputs != b.outputs ||
      a.sizes != b.sizes)
    return false;
  auto same = [](const ValueType& x, const ValueType& y) {
    return x.dtype == y.dtype && x.ndim == y.ndim && x.layout == y.layout;
  };
  for (size_t i = 0; i < a.inputs.size(); ++i)
    if (!same(a.inputs[i], b.inputs[i])) return false;
  for (size_t i = 0; i < a.nodes.size(); ++i)
    if (a.nodes[i].op->info != b.nodes[i].op->info || a.nodes[i].operands != b.nodes[i].operands ||
        a.nodes[i].draws != b.nodes[i].draws || !same(a.nodes[i].type, b.nodes[i].type) ||
        (a.nodes[i].op->traits().pixels && lane_of(a, a.nodes[i]) != lane_of(b, b.nodes[i])))
      return false;
  return true;
}

class GpuStage final : public BatchStageRunner {
 public:
  GpuStage(const StageProgram& program, Driver& driver)
      : driver_(driver),
        code_(compiled(program)),
        arguments_(code_),
        folds_(has_arguments_on_gpu(code_)),
        kernels_(std::make_shared<StageKernels>()),
        scratchpads_(std::make_shared<StageScratchpads>()) {
    if (code_.positional) fail(ErrorKind::internal, "a stage on the GPU with an operator that depends on the position");
  }
  const StageProgram& program() const override { return code_.program; }

  std::unique_ptr<BatchStageRunner> rebound(const StageProgram& program) const override {
    if (!same_structure(code_.program, program)) return nullptr;
    auto other = std::make_unique<GpuStage>(*this);
    bool same = true;
    for (size_t i = 0; i < program.nodes.size(); ++i) same &= code_.program.nodes[i].op == program.nodes[i].op;
    other->code_.program = program;
    other->arguments_ = BatchArguments(other->code_);
    other->folds_ = has_arguments_on_gpu(other->code_);
    // What is known of shapes may be so for other constants.
    if (!same && (arguments_.constant || other->arguments_.constant) && !ignores_arguments(code_))
      other->scratchpads_ = std::make_shared<StageScratchpads>();
    // Arguments may decide whether a map filters.
    for (size_t i = 0; i < program.nodes.size(); ++i) {
      const StageTraits t = program.nodes[i].op->traits(), &own = code_.traits[i];
      if (t.filters != own.filters || t.warps != own.warps || t.fills != own.fills) return nullptr;
    }
    return other;
  }

  void run(const BatchStageCall& call, std::span<Batch> outputs, std::vector<SampleError>& errors) override {
    const auto& p = code_.program;
    const ValueType& type = type_of(p, p.outputs[0]);
    BorrowedScratchpad borrowed(*scratchpads_);
    StageScratchpad& pad = *borrowed;
    const BatchGeometryCall of_batch{code_, arguments_, call.inputs, call.size, call.context, {}, folds_};
    BatchGeometry<GpuGeometry> geometry(of_batch, pad);
    std::vector<int> bad;
    Batch out;
    if (const Shape* shape = geometry.add_together()) {
      out = allocated(type, *shape, call);
    } else {
      out = Batch(type.dtype, type.ndim, type.layout.size() == type.ndim ? type.layout : Layout{}, call.size);
      copy_sources(call, out);
      int ndim = type.ndim;
      for (auto& failed : geometry.add_each(out, ndim)) {
        if (!failed.has_shape) bad.push_back(failed.sample);
        errors.push_back({failed.sample, std::move(failed.error)});
      }
      if (ndim != type.ndim) out = of_rank(out, ndim);
      for (int i : bad) out.sample(i).shape = Shape::filled(ndim, 0);
      out.allocate(call.memory, call.stream);
    }
    write_sizes(call, bad, outputs);
    if (code_.has_frames && p.nodes.size() > 1 && frames_differ(call)) {
      run_nodes(call, out, errors);
    } else {
      StageLauncher launcher(code_, arguments_.constant, folds_, driver_, *kernels_, call, pad);
      if (!launcher.enqueue(out, errors)) {
        geometry.add_general();
        launcher.enqueue(out, errors);
      }
    }
    outputs[0] = std::move(out);
  }

 private:
  Driver& driver_;
  StageCode code_;
  BatchArguments arguments_;
  bool folds_;  // arguments lie on the GPU
  std::shared_ptr<StageKernels> kernels_;
  std::shared_ptr<StageScratchpads> scratchpads_;

  static StageCode compiled(const StageProgram& program) {
    StageCode code;
    compile_stage(program, code);
    return code;
  }

  static void copy_sources(const BatchStageCall& call, Batch& out) {
    if (call.inputs.empty() || call.size == 0) return;
    const Batch::Sample* from = &call.inputs[0].sample(0);
    for (int i = 0; i < call.size; ++i, ++from)
      if (!from->source.empty()) out.sample(i).source = from->source;
  }

  // Samples of one shape, one behind the other.
  static Batch allocated(const ValueType& type, const Shape& shape, const BatchStageCall& call) {
    const int ndim = shape.size();
    Batch out(type.dtype, ndim, type.ndim == ndim && type.layout.size() == ndim ? type.layout : Layout{}, call.size);
    copy_sources(call, out);
    const size_t each = checked_bytes(shape.volume(), size_of(type.dtype));
    out.block = allocate_shared(call.memory, std::max<size_t>(1, checked_bytes(static_cast<int64_t>(each), call.size)),
                                call.stream);
    out.set_device(call.memory->device());
    out.stream = call.stream;
    char* at = static_cast<char*>(out.block.get());
    Batch::Sample* const first = &out.sample(0);
    for (Batch::Sample* s = first; s != first + call.size; ++s, at += each) s->data = at, s->shape = shape;
    return out;
  }

  static Batch of_rank(const Batch& b, int ndim) {
    Batch like(b.dtype(), ndim, {}, b.size());
    for (int i = 0; i < b.size(); ++i) like.sample(i).shape = b.shape(i), like.sample(i).source = b.sample(i).source;
    return like;
  }

  void write_sizes(const BatchStageCall& call, const std::vector<int>& bad, std::span<Batch> outputs) const {
    const auto& p = code_.program;
    for (size_t k = 0; k < p.sizes.size(); ++k) {
      const Layout& layout = type_of(p, p.sizes[k]).layout;
      const Shape one{spatial_extents(layout, Shape::filled(layout.size(), 1)).size()};
      Batch sizes = Batch::uniform(kSizeType.dtype, one, kSizeType.layout, call.size);
      for (int i = 0; i < call.size; ++i) {
        if (std::find(bad.begin(), bad.end(), i) != bad.end()) continue;
        FixedVector<Shape, kMaxStageInputs> in;
        for (const Batch& b : call.inputs) in.push_back(b.shape(i));
        SampleContext c = call.context(i);
        c.index = i;
        write_size(p, static_cast<int>(k), value_shapes(p, c, in)[p.sizes[k]],
                   [&](int, DType, const Shape&, const Layout&) { return sizes.view(i); });
      }
      outputs[p.outputs.size() + k] = std::move(sizes);
    }
  }

  bool frames_differ(const BatchStageCall& call) const {
    for (const auto& node : code_.program.nodes)
      for (const auto& [argument, batch] : node.op->frame_arguments)
        for (int i = 0; i < call.size; ++i)
          if (frames_of(*batch, i) != 1) return true;
    return false;
  }

  // Frames that move between operators: each operator is a stage of its own.
  void run_nodes(const BatchStageCall& call, Batch& out, std::vector<SampleError>& errors) {
    const auto& p = code_.program;
    std::vector<Batch> values(call.inputs.begin(), call.inputs.end());
    for (const auto& node : p.nodes) {
      std::vector<Batch> operands;
      for (const int k : node.operands) operands.push_back(values[static_cast<size_t>(k)]);
      BatchStageCall part = call;
      part.inputs = operands;
      Batch result[1];
      GpuStage(program_of(p, node), driver_).run(part, result, errors);
      values.push_back(std::move(result[0]));
    }
    out = values[p.outputs[0]];
  }
};

}  // namespace

std::unique_ptr<BatchStageRunner> make_gpu_stage(const StageProgram& program, Driver& driver) {
  return std::make_unique<GpuStage>(program, driver);
}

}  // namespace penstock
