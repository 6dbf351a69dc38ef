// SPDX-License-Identifier: Apache-2.0
#include "cuda/stage.h"

#include <cstring>
#include <map>
#include <mutex>

#include "batch/batch.h"
#include "cuda/stage_table.h"

namespace penstock {
namespace {

// The kernels of one stage, shared by everything that is rebound from it.
struct StageKernels {
  std::mutex mutex;
  std::map<std::pair<int, StageVariant>, std::shared_ptr<const DeviceKernel>> by_variant;
};

bool same_structure(const StageProgram& a, const StageProgram& b) {
  if (a.inputs.size() != b.inputs.size() || a.nodes.size() != b.nodes.size() || a.outputs != b.outputs || a.sizes != b.sizes)
    return false;
  auto same = [](const ValueType& x, const ValueType& y) {
    return x.dtype == y.dtype && x.ndim == y.ndim && x.layout == y.layout;
  };
  for (size_t i = 0; i < a.inputs.size(); ++i)
    if (!same(a.inputs[i], b.inputs[i])) return false;
  for (size_t i = 0; i < a.nodes.size(); ++i)
    if (a.nodes[i].op->info != b.nodes[i].op->info || a.nodes[i].operands != b.nodes[i].operands ||
        a.nodes[i].id != b.nodes[i].id || !same(a.nodes[i].type, b.nodes[i].type))
      return false;
  return true;
}

class GpuStage final : public BatchStageRunner {
 public:
  GpuStage(const StageProgram& program, Driver& driver) : driver_(driver), kernels_(std::make_shared<StageKernels>()) {
    compile_stage(program, code_);
    if (code_.positional) fail(ErrorKind::internal, "a stage on the GPU with an operator that depends on the position");
  }
  const StageProgram& program() const override { return code_.program; }

  std::unique_ptr<BatchStageRunner> rebound(const StageProgram& program) const override {
    if (!same_structure(code_.program, program)) return nullptr;
    auto other = std::make_unique<GpuStage>(*this);
    other->code_.program = program;
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
    std::vector<std::vector<Shape>> shapes(call.size);
    std::vector<Shape> in(call.inputs.size());
    std::vector<bool> bad(call.size);
    int ndim = type.ndim;
    for (int i = 0; i < call.size; ++i) {
      for (size_t k = 0; k < in.size(); ++k) in[k] = call.inputs[k].shape(i);
      if (auto error = error_of([&] { shapes[i] = value_shapes(p, call.context(i), in); })) {
        errors.push_back({i, std::move(*error)});
        bad[i] = true;
        continue;
      }
      ndim = shapes[i][p.outputs[0]].size();
    }
    Batch out(type.dtype, ndim, type.layout.size() == ndim ? type.layout : Layout{}, call.size);
    for (int i = 0; i < call.size; ++i) {
      out.sample(i).shape = bad[i] ? Shape::filled(ndim, 0) : shapes[i][p.outputs[0]];
      if (!call.inputs.empty()) out.sample(i).source = call.inputs[0].sample(i).source;
    }
    out.allocate(call.memory, call.stream);
    write_sizes(call, shapes, bad, outputs);

    if (code_.has_frames && p.nodes.size() > 1 && frames_differ(call)) run_nodes(call, out, errors);
    else enqueue(call, out, bad, errors);
    outputs[0] = std::move(out);
  }

 private:
  Driver& driver_;
  StageCode code_;
  std::shared_ptr<StageKernels> kernels_;

  void write_sizes(const BatchStageCall& call, const std::vector<std::vector<Shape>>& shapes, const std::vector<bool>& bad,
                   std::span<Batch> outputs) const {
    const auto& p = code_.program;
    for (size_t k = 0; k < p.sizes.size(); ++k) {
      const Layout& layout = type_of(p, p.sizes[k]).layout;
      const Shape one{spatial_extents(layout, Shape::filled(layout.size(), 1)).size()};
      Batch sizes = Batch::uniform(kSizeType.dtype, one, kSizeType.layout, call.size);
      for (int i = 0; i < call.size; ++i)
        if (!bad[i])
          write_size(p, static_cast<int>(k), shapes[i][p.sizes[k]],
                     [&](int, DType, const Shape&, const Layout&) { return sizes.view(i); });
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
      StageProgram one;
      one.nodes.push_back(node);
      std::vector<Batch> operands;
      for (size_t k = 0; k < node.operands.size(); ++k) {
        one.inputs.push_back(type_of(p, node.operands[k]));
        one.nodes[0].operands[k] = static_cast<int>(k);
        operands.push_back(values[node.operands[k]]);
      }
      one.outputs = {static_cast<int>(operands.size())};
      BatchStageCall part = call;
      part.inputs = operands;
      Batch result[1];
      GpuStage(one, driver_).run(part, result, errors);
      values.push_back(std::move(result[0]));
    }
    out = values[p.outputs[0]];
  }

  void enqueue(const BatchStageCall& call, Batch& out, const std::vector<bool>& bad, std::vector<SampleError>& errors) {
    const StageGeometry geometry(code_);
    std::vector<SampleGeometry> samples;
    samples.reserve(call.size);
    const int inputs = static_cast<int>(call.inputs.size());
    std::vector<View> views(inputs);
    for (int i = 0; i < call.size; ++i) {
      if (bad[i]) continue;
      for (int k = 0; k < inputs; ++k) views[k] = call.inputs[k].view(i);
      const size_t before = samples.size();
      const auto error = error_of([&] {
        SampleContext c = call.context(i);
        c.index = i;
        geometry.add(c, views, out.view(i), samples);
      });
      if (error) {
        errors.push_back({i, *error});
        samples.resize(before);
      }
      if (code_.source < 0)
        for (size_t k = before; k < samples.size(); ++k) merge_dims(samples[k], inputs);
    }
    // Mostly one group; samples of different numbers of channels, say, make more.
    std::vector<StageVariant> variants;
    std::vector<std::vector<const SampleGeometry*>> groups;
    for (const auto& s : samples) {
      const StageVariant v = variant_of(code_, s);
      size_t g = 0;
      while (g < variants.size() && !unite(variants[g], v)) ++g;
      if (g == variants.size()) variants.push_back(v), groups.emplace_back();
      groups[g].push_back(&s);
    }
    std::shared_ptr<void> faults;
    if (code_.faults) {
      faults = allocate_shared(driver_.memory(call.device), call.size * sizeof(int32_t), call.stream);
      driver_.set_zero(call.device, faults.get(), call.size * sizeof(int32_t), call.stream);
    }
    for (size_t g = 0; g < variants.size(); ++g) {
      const PackedTable table = pack_table(code_, variants[g], groups[g], static_cast<int32_t*>(faults.get()),
                                           driver_.multiprocessors(call.device));
      if (table.blocks == 0) continue;
      const auto kernel = kernel_of(call.device, variants[g]);
      const auto staged = allocate_shared(driver_.pinned_memory(), table.bytes.size(), call.stream);
      std::memcpy(staged.get(), table.bytes.data(), table.bytes.size());
      const auto on_device = allocate_shared(driver_.memory(call.device), table.bytes.size(), call.stream);
      driver_.copy(call.device, on_device.get(), staged.get(), table.bytes.size(), call.stream);
      driver_.launch(call.device, *kernel, {table.blocks, kStageThreads, table.shared_bytes}, on_device.get(),
                     call.stream);
    }
    if (faults) find_faults(call, faults.get(), errors);
  }

  // Operands that an operator refuses are known once the kernel has run: this is the one stage that waits.
  void find_faults(const BatchStageCall& call, const void* faults, std::vector<SampleError>& errors) {
    std::vector<int32_t> flags(call.size);
    driver_.copy(call.device, flags.data(), faults, flags.size() * sizeof(int32_t), call.stream);
    driver_.synchronize(call.device, call.stream);
    for (int i = 0; i < call.size; ++i)
      if (flags[i])
        for (const auto& node : code_.program.nodes)
          if (const char* what = node.op->fault(); *what) {
            Error e(ErrorKind::argument, what);
            e.op = node.op->info->name;
            errors.push_back({i, std::move(e)});
            break;
          }
  }

  std::shared_ptr<const DeviceKernel> kernel_of(int device, const StageVariant& v) {
    {
      std::lock_guard lock(kernels_->mutex);
      if (auto it = kernels_->by_variant.find({device, v}); it != kernels_->by_variant.end()) return it->second;
    }
    std::string why;
    auto kernel = driver_.kernel(device, emit_stage(code_, v), kStageEntry, why);
    if (!kernel) throw NoKernel(why);
    std::lock_guard lock(kernels_->mutex);
    return kernels_->by_variant[{device, v}] = std::move(kernel);
  }
};

}  // namespace

std::unique_ptr<BatchStageRunner> make_gpu_stage(const StageProgram& program, Driver& driver) {
  return std::make_unique<GpuStage>(program, driver);
}

}  // namespace penstock
