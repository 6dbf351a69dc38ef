// SPDX-License-Identifier: Apache-2.0
#include "exec/iteration_queue.h"

#include <unistd.h>

#include <utility>

namespace penstock {

IterationQueue::IterationQueue(IterationRunner& runner, const Graph& graph, const Plan& plan, int threads,
                               bool stepping)
    : scheduler(runner, stepping ? 0 : threads),
      runner_(runner),
      graph_(graph),
      plan_(plan),
      consumer_(scheduler, threads),
      process_(getpid()) {}

bool IterationQueue::forked() const { return process_ != getpid(); }

// Before any lock: threads and the state of locks do not come along through a fork.
void IterationQueue::check_process() const {
  if (forked()) bad_argument("this pipeline was made before a fork; make it in the process that uses it");
}

std::shared_ptr<Iteration> IterationQueue::make() const {
  auto it = std::make_shared<Iteration>();
  for (const auto& n : graph_.nodes())
    for (int k = 0; k < n.outputs; ++k) it->values[{n.id, k}];
  for (const auto& s : plan_.steps)
    if (s.output.place != Place::made) it->values[s.output];
  return it;
}

bool IterationQueue::schedule(bool soon, size_t most) {
  check_process();
  auto it = make();
  std::lock_guard lock(listing_);
  if (lists_ && scheduler.size() < most) {
    if (listed_.empty()) return false;
    it->place = listed_.front();
    listed_.pop_front();
  }
  scheduler.add(std::move(it), soon, most);
  return true;
}

void IterationQueue::list(std::span<const BatchPlace> places) {
  std::lock_guard lock(listing_);
  if (places.empty()) listed_.clear();
  listed_.insert(listed_.end(), places.begin(), places.end());
  lists_ = !places.empty();
}

int IterationQueue::size() const {
  check_process();
  return static_cast<int>(scheduler.size());
}

std::shared_ptr<Iteration> IterationQueue::take(const JobConsumer::Poll& poll) {
  if (scheduler.size() == 0 && lists_)
    fail(ErrorKind::stopped, "all batches that were scheduled have been returned: schedule() others, or seek() one");
  if (scheduler.size() == 0) bad_argument("outputs() without a scheduled run");
  auto it = std::static_pointer_cast<Iteration>(consumer_.take(poll, [&](const Job& first) {
    if (const Node* source = runner_.starving(first))
      bad_argument(
          "nothing was fed to '{}': it has no source of its own: call feed_input() before the batch is "
          "requested",
          source->name);
  }));
  if (it->end_of_data) consumer_.drop_finished(poll);  // none may be left that asks its source after a reset()
  return it;
}

void IterationQueue::drop_all(const JobConsumer::Poll& poll) {
  check_process();
  consumer_.drop_all(poll);
}

}  // namespace penstock
