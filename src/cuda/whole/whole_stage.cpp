// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/whole_stage.h"

#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "batch/memory_reuse.h"
#include "batch/transfer.h"
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
    std::vector<Batch> own;
    const std::span<const Batch> inputs = prepared(*op.info, call, own, launches);
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
      if (e.op.empty()) e.op = op.info->follows.empty() ? op.info->name : op.info->follows;
      if (!std::exchange(bad[i], 1)) errors.push_back({i, std::move(e)});
    };
    const auto inputs_of = [&](int i) {
      std::vector<View> in;
      for (size_t k = 0; k < inputs.size(); ++k) in.push_back(inputs[k].view(i)), in.back().layout = types[k].layout;
      return in;
    };
    std::vector<int64_t> measured;
    if (op.measures()) measured = measure(call, launches, context, inputs_of, refuse);
    const auto with_measured = [&](int i) {
      SampleContext c = context(i);
      if (op.measures()) c.batch_state = measured.data() + static_cast<size_t>(i) * kMostMeasured;
      return c;
    };
    std::vector<Batch> out = shaped(call, inputs, types, with_measured, bad, refuse);
    for (size_t k = 0; k < out.size(); ++k) {
      if (k > 0 || call.in_place.empty()) out[k].allocate(call.memory, call.stream);
      else allocate_others(out[k], call.inputs[0], call.in_place, call.memory, call.stream);
    }
    if (op.has_work()) {
      DeviceWork work(launches);
      for (int i = 0; i < call.size; ++i) {
        if (bad[i]) continue;
        std::vector<View> to;
        for (const Batch& b : out) to.push_back(b.view(i));
        for (size_t k = 0; k < to.size(); ++k) to[k].layout = type_of_output(k).layout;
        work.begin_sample(i);
        if (auto error = error_of([&] { op.work(with_measured(i), inputs_of(i), to, work); }))
          refuse(i, std::move(*error));
      }
      work.enqueue(launches);
      launches.run();
      work.settle(refuse);
    } else if (call.size > 0) {
      draw_on_host(call, context, out[0], refuse);
    }
    for (size_t k = 0; k < out.size(); ++k) outputs[k] = std::move(out[k]);
  }

 private:
  Driver& driver_;
  StageProgram program_;

  // The numbers of all samples. Waits for the device: shapes depend on them.
  template <class ContextOf, class InputsOf, class Refuse>
  std::vector<int64_t> measure(const BatchStageCall& call, Launches& launches, const ContextOf& context,
                               const InputsOf& inputs_of, const Refuse& refuse) const {
    std::vector<int64_t> numbers(static_cast<size_t>(call.size) * kMostMeasured);
    if (numbers.empty()) return numbers;
    const size_t bytes = numbers.size() * sizeof(int64_t);
    auto* there = static_cast<int64_t*>(launches.scratch(bytes));
    driver_.set_zero(call.device, there, bytes, call.stream);
    DeviceWork work(launches);
    for (int i = 0; i < call.size; ++i) {
      work.begin_sample(i);
      int64_t* own = there + static_cast<size_t>(i) * kMostMeasured;
      if (auto error = error_of([&] { program_.nodes[0].op->measure(context(i), inputs_of(i), work, own); }))
        refuse(i, std::move(*error));
    }
    work.enqueue(launches);
    launches.run();
    driver_.copy(call.device, numbers.data(), there, bytes, call.stream);
    driver_.synchronize(call.device, call.stream);
    work.settle(refuse);
    return numbers;
  }

  // Numbers that the operator draws for all samples together, in order.
  template <class ContextOf, class Refuse>
  void draw_on_host(const BatchStageCall& call, const ContextOf& context, Batch& out, const Refuse& refuse) const {
    std::vector<SampleContext> samples;
    for (int i = 0; i < call.size; ++i) samples.push_back(context(i));
    const size_t bytes = static_cast<size_t>(call.size) * size_of(out.dtype());
    const auto drawn = allocate_shared(driver_.pinned_memory(), bytes, call.stream);
    if (auto error = error_of([&] { program_.nodes[0].op->draw_scalars(samples, out.dtype(), drawn.get()); }))
      return refuse(0, std::move(*error));
    driver_.copy(call.device, out.sample(0).data, drawn.get(), bytes, call.stream);
  }

  const ValueType& type_of_output(size_t k) const { return k ? program_.more[k - 1] : program_.nodes[0].type; }

  template <class ContextOf, class Refuse>
  std::vector<Batch> shaped(const BatchStageCall& call, std::span<const Batch> inputs, std::span<const ValueType> types,
                            const ContextOf& context, const std::vector<char>& refused, const Refuse& refuse) const {
    const StageNode& node = program_.nodes[0];
    const size_t count = 1 + program_.more.size();
    std::vector<Shape> shapes(call.size * count);
    for (int i = 0; i < call.size; ++i) {
      if (refused[i]) continue;
      std::vector<Shape> in;
      for (const Batch& b : inputs) in.push_back(b.shape(i));
      const std::span<Shape> own(&shapes[i * count], count);
      if (auto error = error_of([&] {
            if (node.op->measures()) node.op->measured_shapes(context(i), in, types, own);
            else node.op->shapes(context(i), in, types, own);
          })) {
        refuse(i, std::move(*error));
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

  static bool there(const Batch& b) { return b.device().kind == DeviceKind::gpu; }

  // Operators need dense inputs, and some of them on the host.
  static std::span<const Batch> prepared(const OpInfo& info, const BatchStageCall& call, std::vector<Batch>& own,
                                         Launches& launches) {
    const auto holes = [](const Batch& b) {
      for (int i = 0; i < b.size(); ++i)
        if (!b.sample(i).strides.empty() && !b.view(i).dense()) return true;
      return false;
    };
    const auto comes = [&](size_t k) { return info.reads_on_host(k) && there(call.inputs[k]); };
    bool as_given = std::none_of(call.inputs.begin(), call.inputs.end(), holes), waits = false;
    for (size_t k = 0; k < call.inputs.size(); ++k) waits |= comes(k);
    if (as_given && !waits) return call.inputs;
    std::vector<CopyStep> copies;
    for (const Batch& b : call.inputs) {
      own.push_back(b);
      if (!holes(b)) continue;
      Batch& d = own.back();
      if (there(b)) d.allocate(launches.driver().memory(call.device), call.stream);
      else d.allocate();
      for (int i = 0; i < b.size(); ++i) {
        if (b.shape(i).volume() == 0) continue;
        if (there(b)) copies.push_back({b.view(i), d.view(i)});
        else copy_strided(b.view(i), d.view(i));
      }
    }
    enqueue_copies(copies, launches);
    if (!waits) return own;
    launches.run();
    for (size_t k = 0; k < own.size(); ++k)
      if (comes(k)) own[k] = copy_to(own[k], {}, call.stream);
    launches.driver().synchronize(call.device, call.stream);
    return own;
  }
};

}  // namespace

bool has_whole_form(const std::string& op) {
  const OpInfo* info = find_op(op);
  if (!info || info->family != Family::whole) return false;
  const auto made = info->make();
  return made->has_work() || made->draws_scalars();
}

bool is_whole(const StageProgram& program) {
  return program.nodes.size() == 1 && program.nodes[0].op->info->family == Family::whole;
}

std::unique_ptr<BatchStageRunner> make_whole_stage(const StageProgram& program, Driver& driver) {
  return std::make_unique<WholeStage>(program, driver);
}

}  // namespace penstock
