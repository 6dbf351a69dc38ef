// SPDX-License-Identifier: Apache-2.0
#include "exec/late_batches.h"

#include <algorithm>
#include <utility>

namespace penstock {

std::shared_ptr<Iteration> make_iteration(const Plan& plan, const Graph& graph) {
  auto it = std::make_shared<Iteration>();
  for (const auto& n : graph.nodes())
    for (int k = 0; k < n.outputs; ++k) it->values[{n.id, k}];
  for (const auto& s : plan.steps)
    if (s.output.place != Place::made) it->values[s.output];
  return it;
}

static const BroughtSample& member_of(const ReadySample& s) {
  const int place = s.of->origin[static_cast<size_t>(s.index)].number;
  const auto& members = s.of->late->members;
  return *std::find_if(members.begin(), members.end(), [&](const BroughtSample& m) { return m.place == place; });
}

std::shared_ptr<Iteration> LateBatches::empty() {
  auto batch = make_iteration(context_.plan, context_.graph);
  batch->late = std::make_unique<LatePart>(LatePart::Kind::batch);
  batch->number = batches_++;
  batch->has_number = true;
  batch->left_out = std::exchange(left_out, {});
  batch->late->members = std::exchange(left, {});
  return batch;
}

std::shared_ptr<Iteration> LateBatches::take(std::deque<ReadySample>& ready, size_t size) {
  auto batch = empty();
  for (; size > 0; --size) {
    ReadySample s = std::move(ready.front());
    ready.pop_front();
    batch->late->members.push_back(member_of(s));
    batch->origin.push_back(s.of->origin[static_cast<size_t>(s.index)]);
    batch->late->ready.push_back(std::move(s));
  }
  batch->size = static_cast<int>(batch->origin.size());
  batch->taken = static_cast<int>(batch->late->members.size());
  batch->finished = batch->skipped = batch->size == 0;
  return batch;
}

std::shared_ptr<Iteration> LateBatches::failed(const Iteration& it) {
  auto batch = empty();
  if (it.failure) batch->failure = std::make_unique<Error>(*it.failure);  // by which that one ends as well
  batch->no_memory = it.no_memory.load();
  batch->finished = true;
  batch->late->members.insert(batch->late->members.end(), it.late->members.begin(), it.late->members.end());
  return batch;
}

void LateBatches::drop(std::deque<ReadySample>& ready) {
  for (const ReadySample& s : std::exchange(ready, {})) left.push_back(member_of(s));
}

}  // namespace penstock
