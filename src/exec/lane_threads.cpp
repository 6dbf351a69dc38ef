// SPDX-License-Identifier: Apache-2.0
#include "exec/lane_threads.h"

#include <algorithm>
#include <utility>

#include "base/begin_thread.h"

namespace penstock {
namespace {

// No step takes that long, but for those that meet a fault of the machine.
constexpr std::chrono::milliseconds kMostWork = std::chrono::seconds(10);

}  // namespace

int LaneThreads::add_lane() {
  own_.emplace_back();
  return static_cast<int>(own_.size()) - 1;
}

void LaneThreads::begin(int lane, std::function<void()> serve) {
  const bool calls = lane != kAnyStep;
  {
    std::lock_guard lock(mutex_);
    ++running_, calling_ += calls;
  }
  const auto ended = [this, calls] {
    std::lock_guard lock(mutex_);
    --running_, calling_ -= calls;
    ended_.notify_all();
  };
  try {
    threads_.reserve(threads_.size() + 1);  // a thread that has begun must not be lost for want of memory
    threads_.push_back(begin_thread([serve = std::move(serve), ended] {
      serve();
      ended();
    }));
  } catch (...) {
    ended();
    throw;
  }
}

void LaneThreads::wake(const Wake& w) {
  if (w.all) {
    any_.notify_all();
    for (auto& own : own_) own.notify_all();
  } else if (w.lane != kNobody) {
    sleepers(w.lane).notify_one();
  }
  if (w.consumer) consumers_.notify_all();
}

bool LaneThreads::watch(std::unique_lock<std::mutex>& lock) {
  if (watched_) {
    any_.wait(lock);
    return false;
  }
  watched_ = true;
  any_.wait_for(lock, std::chrono::milliseconds(2));
  watched_ = false;
  return true;
}

bool LaneThreads::ended_within(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + patience;
  ended_.wait_for(lock, std::max(kMostWork, patience), [&] { return running_ == calling_; });
  return ended_.wait_until(lock, until, [&] { return running_ == 0; });
}

void LaneThreads::join() {
  for (auto& t : threads_) t.join();
  threads_.clear();
}

}  // namespace penstock
