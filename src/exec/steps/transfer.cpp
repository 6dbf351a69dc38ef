// SPDX-License-Identifier: Apache-2.0
// Steps that copy a value to the other device. Much data goes through pinned memory, which many threads write.
#include <utility>

#include "base/notice.h"
#include "batch/memory_reuse.h"
#include "batch/sample_lists.h"
#include "batch/transfer.h"
#include "exec/steps/gpu_copies.h"
#include "exec/steps/kinds.h"
#include "exec/steps/one_value.h"

namespace penstock {
namespace {

constexpr size_t kParallelBytes = size_t{256} << 10;  // less is copied by one thread

// Samples on their way through pinned memory: from memory that a copy would make the device wait for.
struct TransferState final : StepState {
  Batch from, staged, to;
};

class TransferStep final : public StatefulStep<TransferState> {
 public:
  TransferStep(StepContext& context, size_t index)
      : StatefulStep(context, index), shares_(step.gpu && read_by_operators_alone(context.plan, step.output)) {
    rules.allocates = rules.runs_here = true;
    rules.makes_output = makes_output();
    rules.replaceable = !step.gpu;  // not for one sample
  }

  void prepare(Iteration& it, Worker&) override;
  void run(Iteration& it, int first, int count, Worker&) override {
    TransferState& t = state_of(it);
    for (int i = first; i < first + count; ++i)
      copy_strided(t.from.view(i), t.staged.view(i)), clear_gap_after(t.staged, i);
  }
  void finish(Iteration& it) override;

 private:
  void move_some(Iteration& it, const Batch& from) const;
  void warn(const Iteration& it, size_t bytes) const;
  void stage(Iteration& it, Batch from) const;

  const bool shares_;  // samples of one memory are one copy
};

// Once for a pipeline, when it is under way: of a copy that nobody asked for and that costs more than the operator is
// worth.
void TransferStep::warn(const Iteration& it, size_t bytes) const {
  constexpr uint64_t kUnderWay = 4;
  constexpr size_t kLarge = size_t{4} << 20;  // a tenth of a millisecond of the bus
  if (step.moved_for < 0 || it.number < kUnderWay || bytes < kLarge || context_.warned_of_transfer.exchange(true))
    return;
  const Graph& graph = context_.plan.graph;
  const Node& n = graph.node(step.moved_for);
  notice(fmt::format(
      "[{}] each batch of its inputs is copied from the {}: {} bytes ({} to {}, {}); the plan's text shows all "
      "copies\n  at {}",
      n.op, step.gpu ? "CPU to the GPU" : "GPU to the CPU", bytes, graph.value_text(step.inputs[0]),
      graph.value_text(step.output), step.reason, n.user_line));
}

// Copies those samples that have a value, where a variable is set for some alone.
void TransferStep::move_some(Iteration& it, const Batch& from) const {
  const std::vector<int> present = samples_with_values(from);
  Batch moved = from;
  if (!present.empty()) {
    const Batch some = gathered(from, present);
    moved =
        spread(step.gpu ? to_gpu(context_, it, some, false) : to_host(context_, it, some, false), present, from.size());
  }
  it.values.at(step.output) = std::move(moved);
}

void TransferStep::prepare(Iteration& it, Worker&) {
  Batch from = it.values.at(step.inputs[0]);
  if (!every_sample_has_a_value(from)) return move_some(it, from);
  Batch& out = it.values.at(step.output);
  if (shares_ && is_one_memory(from)) {
    const Batch one = repeated(from, 1);
    warn(it, one.bytes());
    out = repeated(to_gpu(context_, it, one, false), from.size());
    return;
  }
  warn(it, from.bytes());
  if (!step.gpu) {
    for (int i = 0; i < from.size(); ++i)
      if (!from.view(i).dense()) bad_argument("a sample on the GPU has gaps: fn.copy() makes it dense");
    out = to_host(context_, it, from, rules.makes_output);
  } else if (from.device().kind == DeviceKind::gpu || (!step.pinned && from.bytes() < kParallelBytes)) {
    out = to_gpu(context_, it, from, rules.makes_output);
  } else {
    stage(it, std::move(from));
  }
}

void TransferStep::stage(Iteration& it, Batch from) const {
  GpuWork& gpu = *context_.gpu;
  Batch to = of_same_shapes(from);
  to.allocate(context_.gpu_memory(it, rules.makes_output), it.stream);
  if (step.pinned) {
    gpu.copy(from, to, it.stream);
    it.values.at(step.output) = std::move(to);
    return;
  }
  auto t = std::make_shared<TransferState>();
  t->staged = of_same_shapes(from);
  t->from = std::move(from), t->to = std::move(to);
  t->staged.allocate(gpu.pinned(), it.stream);
  it.items = it.size;
  it.step_state = std::move(t);
}

void TransferStep::finish(Iteration& it) {
  if (!it.step_state || it.failure) return;
  TransferState& t = state_of(it);
  context_.gpu->copy(t.staged, t.to, it.stream);
  it.values.at(step.output) = std::move(t.to);
}

}  // namespace

std::unique_ptr<StepRunner> make_transfer_step(StepContext& context, size_t index) {
  return std::make_unique<TransferStep>(context, index);
}

}  // namespace penstock
