// SPDX-License-Identifier: Apache-2.0
#include "exec/job_queue.h"

#include <algorithm>

namespace penstock {
namespace {

// A batch that the user still holds delays the next one's memory at most this long.
constexpr auto kHoldTime = std::chrono::milliseconds(20);

}  // namespace

bool JobQueue::in_turn(size_t position) const {
  const Job& job = *jobs[position];
  if (!job.in_order) return true;
  return std::all_of(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(position), [&](const auto& earlier) {
    return earlier->unordered || earlier->finished || earlier->step > job.step ||
           (earlier->step == job.step && earlier->prepared);
  });
}

bool JobQueue::take_prepare(Task& task, size_t position) {
  Job& job = *jobs[position];
  if (job.preparing || job.waits) return false;
  Room room = work_.room_for(job, position, position == 0 && consumed);
  if (room != Room::full && !in_turn(position)) room = Room::later;
  if (room != Room::yes) {
    starved = true;
    if (room == Room::full) return false;
    const auto now = std::chrono::steady_clock::now();
    if (!job.blocked) job.blocked = true, job.blocked_since = now;
    if (room == Room::later || now - job.blocked_since < kHoldTime) return false;
  }
  job.blocked = false;
  job.preparing = true;
  work_.taken(job);
  task = {jobs[position], true, 0};
  return true;
}

bool JobQueue::take_prepare(Task& task, const std::shared_ptr<Job>& job) {
  const auto at = std::find(jobs.begin(), jobs.end(), job);
  return at != jobs.end() && take_prepare(task, static_cast<size_t>(at - jobs.begin()));
}

// The first job goes first, but for a step that follows the one this thread has just made: what that wrote is in this
// core's caches.
bool JobQueue::find(Task& task, int lane, const Job* last) {
  if (last && !last->finished && !last->prepared && last->lane == lane)
    for (size_t i = 0; i < jobs.size(); ++i)
      if (jobs[i].get() == last && take_prepare(task, i)) return true;
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = *jobs[i];
    if (job.finished) continue;
    if (!job.prepared) {
      if (job.lane != lane || !take_prepare(task, i)) continue;
      return true;
    }
    if (job.next_item < job.items && lane == kAnyStep) {
      // Near the end one by one, so that all threads have work.
      const int64_t left = job.items - job.next_item;
      const bool together = job.leaves || left > int64_t{threads} * job.together;  // of those that leave there are many
      task = {jobs[i], false, job.next_item, together ? static_cast<int>(std::min<int64_t>(left, job.together)) : 1};
      job.next_item += task.count;
      return true;
    }
  }
  return false;
}

void JobQueue::add(std::shared_ptr<Job> job) {
  const bool last = job->leaves || jobs.empty() || !jobs.back()->leaves;
  const auto at =
      last ? jobs.end() : std::find_if(jobs.begin(), jobs.end(), [](const auto& other) { return other->leaves; });
  jobs.insert(at, std::move(job));
}

void JobQueue::leave(const Job& job) {
  jobs.erase(std::find_if(jobs.begin(), jobs.end(), [&](const auto& other) { return other.get() == &job; }));
}

std::vector<std::shared_ptr<Job>> JobQueue::abandon() {
  std::vector<std::shared_ptr<Job>> ended;
  for (const auto& job : jobs) {
    if (job->finished) continue;
    const bool ends = work_.abandon(*job);
    if (!job->prepared && !job->preparing && !job->waits && ends) job->finished = true;
    if (!job->prepared || job->next_item >= job->items) continue;
    job->items = job->next_item;
    if (job->done_items == job->items) ended.push_back(job);
  }
  return ended;
}

bool JobQueue::any_blocked() const {
  return std::any_of(jobs.begin(), jobs.end(), [](const auto& job) { return job->blocked && !job->finished; });
}

bool JobQueue::all_finished() const {
  return std::all_of(jobs.begin(), jobs.end(), [](const auto& job) { return job->finished; });
}

}  // namespace penstock
