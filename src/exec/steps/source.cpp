// SPDX-License-Identifier: Apache-2.0
// Steps that ask a source for the next batch, and load its samples.
#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "batch/transfer.h"
#include "exec/steps/gpu_copies.h"
#include "exec/steps/kinds.h"

namespace penstock {
namespace {

class SourceStep final : public StepRunner {
 public:
  SourceStep(StepContext& context, size_t index)
      : StepRunner(context, index),
        id_(step.nodes[0]),
        loads_(context.sources.loads_samples(id_)),
        fed_(context.sources.external(id_)) {
    rules.in_order = true;
    rules.allocates = loads_;
    rules.brings_samples = true;
    rules.computes = false;
    rules.own_threads = fed_ ? 1 : 0;
  }

  void prepare(Iteration& it, Worker&) override;
  void run(Iteration& it, int first, int count, Worker&) override {
    for (int i = first; i < first + count; ++i)
      if (auto error = error_of([&] { context_.sources.load(it, id_, i); })) add_error(it, i, std::move(*error));
  }
  void finish(Iteration& it) override { PipelineSources::take_values(it, id_); }
  bool settled(Iteration& it) override;
  bool ready() const override { return fed_ && fed_->feed()->ready(); }
  bool starves(bool alone) const override {
    return fed_ && (alone ? fed_->feed()->is_empty() : fed_->feed()->starves());
  }

 private:
  void load_all(Iteration& it) const;
  void take_outputs(Iteration& it, SourceBatch& batch);

  const int id_;
  const bool loads_;
  ExternalSource* const fed_;
};

void SourceStep::prepare(Iteration& it, Worker&) {
  if (it.given.count({id_, 0})) return;  // the iteration has begun again
  const bool brings = !it.late || it.late->kind == LatePart::Kind::bringing;
  if (!brings) return load_all(it);
  PipelineSources& sources = context_.sources;
  const bool primary = id_ == sources.primary();
  SourceBatch batch;
  batch.primary = primary, batch.stream = it.stream;
  const int n = sources.next(id_, it, batch);
  if (n == 0) {
    it.end_of_data = true;
    return;
  }
  if (it.size && it.size != n)
    bad_argument("the sources of the pipeline differ in their number of samples: {} and {}", it.size, n);
  it.size = n;
  if (primary) it.origin = std::move(batch.origin);
  if (static_cast<int>(it.origin.size()) < n) it.origin.resize(n);
  if (primary) {
    it.taken = n, it.last_of_epoch = sources.at(id_).at_end_of_epoch();
    for (int i = 0; i < n; ++i) it.origin[i].number = i;
    sources.replays.set(it);
  }
  it.states[id_] = sources.at(id_).state();
  if (!loads_) take_outputs(it, batch);
  if (!batch.indices.empty()) it.sources.insert_or_assign(id_, std::move(batch));
  if (loads_ && !it.late) load_all(it);
}

void SourceStep::load_all(Iteration& it) const {
  it.items = it.size;
  it.together = context_.sources.at(id_).loaded_together();
}

void SourceStep::take_outputs(Iteration& it, SourceBatch& batch) {
  for (int k = 0; k < static_cast<int>(batch.outputs.size()); ++k) {
    Batch& b = it.values.at({id_, k});
    b = std::move(batch.outputs[k]);
    if (step.gpu && b.device().kind == DeviceKind::gpu && b.device().id == context_.gpu->device())
      b = taken_over(std::move(b), it.stream);
    else if (step.gpu) b = to_gpu(context_, it, b, false);
    else if (b.device().kind == DeviceKind::gpu)
      bad_argument("returns batches on a GPU: set device='gpu' where the source is created");
  }
  batch.outputs.clear();
}

bool SourceStep::settled(Iteration& it) {
  if (it.failure || it.end_of_data || it.given.count({id_, 0})) return false;
  if (it.late && it.late->kind == LatePart::Kind::bringing) return false;
  if (loads_) context_.sources.loaded(it, id_);
  if (context_.options.on_error != OnError::replace) return false;
  for (int k = 0; k < node.outputs; ++k) it.given[{id_, k}] = it.values.at({id_, k});
  return false;
}

}  // namespace

std::unique_ptr<StepRunner> make_source_step(StepContext& context, size_t index) {
  return std::make_unique<SourceStep>(context, index);
}

}  // namespace penstock
