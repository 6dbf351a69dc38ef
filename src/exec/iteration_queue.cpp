// SPDX-License-Identifier: Apache-2.0
#include "exec/iteration_queue.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace penstock {

IterationQueue::IterationQueue(IterationRunner& runner, const Graph& graph, const Plan& plan, int threads, int working)
    : scheduler(runner, threads, working),
      runner_(runner),
      graph_(graph),
      plan_(plan),
      consumer_(scheduler, threads),
      process_(getpid()) {}

// Whether all are at sources.
static bool waits_for_data(const std::deque<std::shared_ptr<Job>>& jobs) {
  return std::all_of(jobs.begin(), jobs.end(), [](const auto& job) {
    const auto& late = static_cast<const Iteration&>(*job).late;
    return late && late->kind == LatePart::Kind::bringing;
  });
}

bool IterationQueue::forked() const { return process_ != getpid(); }

// Before any lock: threads and the state of locks do not come along through a fork.
void IterationQueue::check_process() const {
  if (forked()) bad_argument("this pipeline was made before a fork; make it in the process that uses it");
}

std::shared_ptr<Iteration> IterationQueue::make() const { return make_iteration(plan_, graph_); }

bool IterationQueue::schedule(bool soon, size_t most, bool needed) {
  check_process();
  if (late && !late->ask_for_one(needed)) return false;
  auto it = make_iteration(plan_, graph_);
  if (late) it->late = std::make_unique<LatePart>(LatePart::Kind::bringing), it->leaves = true, soon = false;
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
  if (scheduler.size() == 0 && !late) bad_argument("outputs() without a scheduled run");
  auto it = std::static_pointer_cast<Iteration>(consumer_.take(poll, [&](const auto& jobs) {
    const Node* source = runner_.starving(*jobs.front());
    if (source && (!late || waits_for_data(jobs)))
      bad_argument(
          "nothing was fed to '{}': it has no source of its own: feed it before the batch is requested, by "
          "feed_input() in Python, feed() in C++, penstock_pipeline_feed() in C",
          source->name);
  }));
  if (!it) return nullptr;
  if (late) late->taken(*it);
  if (it->end_of_data) consumer_.drop_finished(poll);  // none may be left that asks its source after a reset()
  return it;
}

void IterationQueue::drop_all(const JobConsumer::Poll& poll) {
  check_process();
  consumer_.drop_all(poll);
}

}  // namespace penstock
