// SPDX-License-Identifier: Apache-2.0
// Steps of values that are equal for all samples of all batches: each is computed once, and every sample is a view of
// it.
#include "exec/steps/one_value.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "batch/sample_lists.h"
#include "exec/call.h"
#include "exec/steps/kinds.h"
#include "graph/arrangement.h"

namespace penstock {

bool read_by_operators_alone(const Plan& plan, ValueRef v) {
  const auto& outputs = plan.graph.outputs();
  if (std::find(outputs.begin(), outputs.end(), v) != outputs.end()) return false;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    if (s.reuses && s.inputs[0] == v) return false;  // it writes there, rather than copy
    if (s.kind == Step::Kind::whole || s.kind == Step::Kind::stage || s.kind == Step::Kind::transfer) continue;
    bool read = false;
    for_each_read(plan, i, [&](ValueRef w) { read |= w == v; });
    if (read) return false;
  }
  return true;
}

bool makes_one_value(const Plan& plan, const Step& step) {
  if (step.kind != Step::Kind::whole || step.gpu || step.nodes.size() != 1) return false;
  const Node& n = plan.graph.node(step.nodes[0]);
  const bool of_samples = std::any_of(n.constants.begin(), n.constants.end(),
                                      [](const auto& c) { return c.first == "samples"; });  // one for each of them
  return n.outputs == 1 && fits_all(n) && !of_samples && read_by_operators_alone(plan, {n.id, 0});
}

bool is_one_memory(const Batch& b) {
  if (b.size() < 2 || !b.sample(0).data) return false;
  const Batch::Sample& first = b.sample(0);
  for (int i = 1; i < b.size(); ++i) {
    const Batch::Sample& s = b.sample(i);
    if (s.data != first.data || s.shape != first.shape || s.strides != first.strides) return false;
  }
  return first.shape.volume() > 0;
}

Batch repeated(const Batch& one, int size) { return gathered(one, std::vector<int>(static_cast<size_t>(size), 0)); }

namespace {

class OneValueStep final : public StepRunner {
 public:
  OneValueStep(StepContext& context, size_t index) : StepRunner(context, index) { rules.runs_here = true; }

  void prepare(Iteration& it, Worker&) override {
    context_.fill_batch(it);
    std::lock_guard lock(mutex_);
    if (!value_) value_ = computed(it);
    it.values[{node.id, 0}] = repeated(*value_, it.size);
  }

 private:
  Batch computed(Iteration& it) const {
    const std::shared_ptr<BoundOp> op = context_.bind(it, node);
    ValueType type[1];
    op->infer({}, type);
    std::vector<Batch> made{Batch(type[0].dtype, type[0].ndim, type[0].layout, 1)};
    const auto context = [&](int) { return SampleContext{}; };
    run_whole_shapes(*op, {}, {}, context, made, [](int, Error e) { throw std::move(e); });
    made[0].allocate(context_.options.memory);
    run_whole_sample(*op, {}, {}, SampleContext{}, made);
    return std::move(made[0]);
  }

  std::mutex mutex_;
  std::optional<Batch> value_;  // held here, so that no operator takes the memory for its result
};

}  // namespace

std::unique_ptr<StepRunner> make_one_value_step(StepContext& context, size_t index) {
  return std::make_unique<OneValueStep>(context, index);
}

}  // namespace penstock
