// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/whole_stage.h"

#include <algorithm>

#include "base/error_of.h"
#include "batch/memory_reuse.h"
#include "cuda/whole/device_work.h"

namespace penstock {
namespace {

class WholeStage final : public BatchStageRunner {
 public:
  WholeStage(const StageProgram& program, Driver& driver) : driver_(driver), program_(program) {}
  const StageProgram& program() const override { return program_; }

  std::unique_ptr<BatchStageRunner> rebound(const StageProgram& program) const override {
    if (!is_whole(program) || program.nodes[0].op->info != program_.nodes[0].op->info) return nullptr;
    return std::make_unique<WholeStage>(program, driver_);  // kernels are cached by what they do
  }

  void run(const BatchStageCall& call, std::span<Batch> outputs, std::vector<SampleError>& errors) override {
    const StageNode& node = program_.nodes[0];
    const BoundOp& op = *node.op;
    Launches launches(driver_, call.device, call.stream);
    std::vector<Batch> dense;
    const std::span<const Batch> inputs = without_holes(call, dense, launches);
    const auto context = [&](int i) {
      SampleContext c = call.context(i);
      c.index = i, c.draws = node.draws;
      if (op.info->batch_wide) c.batch_state = &inputs;  // in work() too: there is no batch_state()
      return c;
    };
    std::vector<ValueType> types;
    for (int k : node.operands) types.push_back(type_of(program_, k));
    std::vector<char> bad(call.size, 0);
    const auto refuse = [&](int i, Error e) {
      e.op = op.info->name;
      errors.push_back({i, std::move(e)});
      bad[i] = 1;
    };
    std::vector<Batch> out = shaped(call, inputs, types, context, refuse);
    for (size_t k = 0; k < out.size(); ++k) {
      if (k > 0 || call.in_place.empty()) out[k].allocate(call.memory, call.stream);
      else allocate_others(out[k], call.inputs[0], call.in_place, call.memory, call.stream);
    }
    DeviceWork work(launches);
    for (int i = 0; i < call.size; ++i) {
      if (bad[i]) continue;
      std::vector<View> in;
      for (size_t k = 0; k < inputs.size(); ++k) in.push_back(inputs[k].view(i)), in.back().layout = types[k].layout;
      std::vector<View> to;
      for (const Batch& b : out) to.push_back(b.view(i));
      for (size_t k = 0; k < to.size(); ++k) to[k].layout = type_of_output(k).layout;
      work.next_sample();
      SampleContext c = context(i);
      if (op.info->batch_wide) c.batch_state = &inputs;
      if (auto error = error_of([&] { op.work(c, in, to, work); })) refuse(i, std::move(*error));
    }
    work.enqueue(launches);
    launches.run();
    for (size_t k = 0; k < out.size(); ++k) outputs[k] = std::move(out[k]);
  }

 private:
  Driver& driver_;
  StageProgram program_;

  const ValueType& type_of_output(size_t k) const { return k ? program_.more[k - 1] : program_.nodes[0].type; }

  template <class ContextOf, class Refuse>
  std::vector<Batch> shaped(const BatchStageCall& call, std::span<const Batch> inputs, std::span<const ValueType> types,
                            const ContextOf& context, const Refuse& refuse) const {
    const StageNode& node = program_.nodes[0];
    const size_t count = 1 + program_.more.size();
    std::vector<Shape> shapes(call.size * count);
    std::vector<char> refused(call.size, 0);
    for (int i = 0; i < call.size; ++i) {
      std::vector<Shape> in;
      for (const Batch& b : inputs) in.push_back(b.shape(i));
      if (auto error =
              error_of([&] { node.op->shapes(context(i), in, types, std::span(&shapes[i * count], count)); })) {
        refuse(i, std::move(*error));
        refused[i] = 1;
      }
    }
    std::vector<Batch> out;
    for (size_t k = 0; k < count; ++k) {
      const ValueType& type = type_of_output(k);
      int ndim = type.ndim;
      for (int i = 0; i < call.size; ++i)
        if (!refused[i]) ndim = shapes[i * count + k].size();
      Batch& b = out.emplace_back(type.dtype, ndim, type.layout.size() == ndim ? type.layout : Layout{}, call.size);
      for (int i = 0; i < call.size; ++i) {
        if (refused[i]) shapes[i * count + k] = Shape::filled(std::max(ndim, 0), 0);
        b.sample(i).shape = shapes[i * count + k];
        if (!inputs.empty()) b.sample(i).source = inputs[0].sample(i).source;
      }
    }
    if (node.op->info->batch_wide) node.op->batch_shapes(inputs, types, out);
    return out;
  }

  // Operators need dense inputs.
  static std::span<const Batch> without_holes(const BatchStageCall& call, std::vector<Batch>& dense,
                                              Launches& launches) {
    const auto holes = [](const Batch& b) {
      for (int i = 0; i < b.size(); ++i)
        if (!b.sample(i).strides.empty() && !b.view(i).dense()) return true;
      return false;
    };
    if (std::none_of(call.inputs.begin(), call.inputs.end(), holes)) return call.inputs;
    std::vector<CopyStep> copies;
    for (const Batch& b : call.inputs) {
      dense.push_back(b);
      if (!holes(b)) continue;
      Batch& d = dense.back();
      d.allocate(launches.driver().memory(call.device), call.stream);
      for (int i = 0; i < b.size(); ++i)
        if (b.shape(i).volume() > 0) copies.push_back({b.view(i), d.view(i)});
    }
    enqueue_copies(copies, launches);
    return dense;
  }
};

}  // namespace

bool has_whole_form(const std::string& op) {
  const OpInfo* info = find_op(op);
  return info && info->family == Family::whole && info->make()->has_work();
}

bool is_whole(const StageProgram& program) {
  return program.nodes.size() == 1 && program.nodes[0].op->info->family == Family::whole;
}

std::unique_ptr<BatchStageRunner> make_whole_stage(const StageProgram& program, Driver& driver) {
  return std::make_unique<WholeStage>(program, driver);
}

}  // namespace penstock
