// SPDX-License-Identifier: Apache-2.0
// Batches of the samples that are ready.
#include <algorithm>
#include <utility>

#include "exec/late_samples.h"

namespace penstock {

std::shared_ptr<Iteration> make_iteration(const Plan& plan, const Graph& graph) {
  auto it = std::make_shared<Iteration>();
  for (const auto& n : graph.nodes())
    for (int k = 0; k < n.outputs; ++k) it->values[{n.id, k}];
  for (const auto& s : plan.steps)
    if (s.output.place != Place::made) it->values[s.output];
  return it;
}

std::shared_ptr<Iteration> LateSamples::empty_batch() {
  auto batch = make_iteration(context_.plan, context_.graph);
  batch->late = std::make_unique<LatePart>(LatePart::Kind::batch);
  batch->number = batches_++;
  batch->has_number = true;
  batch->left_out = std::exchange(left_out_, {});
  batch->late->members = std::exchange(left_, {});
  return batch;
}

// A batch of the first ones. None: it has no samples, and is ready at once.
std::shared_ptr<Iteration> LateSamples::batch_of(std::deque<ReadySample>& ready, size_t size) {
  auto batch = empty_batch();
  for (; size > 0; --size) {
    ReadySample s = std::move(ready.front());
    ready.pop_front();
    const Iteration& of = *s.of;
    const SampleOrigin& origin = of.origin[static_cast<size_t>(s.index)];
    for (const BroughtSample& m : of.late->members)
      if (m.place == origin.number) batch->late->members.push_back(m);
    batch->origin.push_back(origin);
    batch->late->ready.push_back(std::move(s));
  }
  batch->size = static_cast<int>(batch->origin.size());
  batch->taken = static_cast<int>(batch->late->members.size());
  batch->finished = batch->skipped = batch->size == 0;
  return batch;
}

// The last batches of an epoch wait for what is out.
void LateSamples::form(Jobs& made) {
  const auto size = static_cast<size_t>(context_.options.batch_size);
  while (!epochs_.empty()) {
    Epoch& e = epochs_.front();
    const bool all = e.closed && e.out == 0;
    while (e.ready.size() >= size && !(all && e.cut && e.ready.size() == size)) made.push_back(batch_of(e.ready, size));
    if (!all) return;
    if (e.cut) {
      const bool drops = context_.options.epoch_mode == EpochMode::drop && e.ready.size() < size;
      if (drops)
        for (const ReadySample& s : std::exchange(e.ready, {}))
          for (const BroughtSample& m : s.of->late->members)
            if (m.place == s.of->origin[static_cast<size_t>(s.index)].number) left_.push_back(m);
      auto last = batch_of(e.ready, e.ready.size());
      last->last_of_epoch = true;
      made.push_back(std::move(last));
    } else if (epochs_.size() > 1) {  // a batch may have samples of two epochs
      auto& next = epochs_[1].ready;
      next.insert(next.begin(), std::make_move_iterator(e.ready.begin()), std::make_move_iterator(e.ready.end()));
    } else if (!ends_) {
      return;
    } else if (!e.ready.empty()) {
      made.push_back(batch_of(e.ready, e.ready.size()));
    }
    epochs_.pop_front();
  }
  if (!std::exchange(ends_, false)) return;
  auto end = empty_batch();
  end->end_of_data = end->finished = true;
  made.push_back(std::move(end));
}

}  // namespace penstock
