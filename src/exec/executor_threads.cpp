// SPDX-License-Identifier: Apache-2.0
// Threads of an executor: how they begin and end, and that none waits for itself.
#include <algorithm>

#include "base/begin_thread.h"
#include "exec/executor.h"

namespace penstock {
namespace {

// No step takes that long, but for those that meet a fault of the machine.
constexpr std::chrono::milliseconds kMostWork = std::chrono::seconds(10);

}  // namespace

constinit thread_local Executor::Serving Executor::serving;

Executor::~Executor() {
  ask_to_stop();
  stop();
}

void Executor::ask_to_stop() {
  if (stop_) return;
  sources.cancel();
  callbacks.cancel();
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake({kNobody, true});
}

const void* calling_pipeline() { return Executor::serving.executor; }
void call_for_pipeline(const void* pipeline) { Executor::serving = {static_cast<const Executor*>(pipeline), 0}; }

bool Executor::stop_within(std::chrono::milliseconds patience) {
  ask_to_stop();
  std::unique_lock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + patience;
  ended_.wait_for(lock, std::max(kMostWork, patience), [&] { return running_ == calling_; });
  return ended_.wait_until(lock, until, [&] { return running_ == 0; });
}

void Executor::begin_thread_of(int thread, int lane) {
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
    threads_.push_back(begin_thread([this, thread, lane, ended] {
      serve(thread, lane);
      ended();
    }));
  } catch (...) {
    ended();
    throw;
  }
}

void Executor::check_caller() const {
  for (const Executor* e = serving.lane == kConsumer ? nullptr : serving.executor; e; e = e->waits_in_)
    if (e == this)
      bad_argument(
          "a function that this pipeline calls (a source or a python_function) uses the pipeline itself: it would "
          "wait for itself");
}

void Executor::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake({kNobody, true});
  for (auto& t : threads_) t.join();
  steps_.clear();   // and their decoders
  sources.clear();  // what they have enqueued is on gpu_
}

void Executor::wait_for_consumer(std::unique_lock<std::mutex>& lock, const std::function<void()>& poll,
                                 const std::function<bool()>& done) {
  waits_in_ = serving.lane == kConsumer ? nullptr : serving.executor;
  struct Leave {
    std::atomic<const Executor*>& waits_in;
    ~Leave() { waits_in = nullptr; }
  } leave{waits_in_};
  while (!done()) {
    ready_.wait_for(lock, std::chrono::milliseconds(50));
    if (!poll || done()) continue;
    lock.unlock();
    poll();
    lock.lock();
  }
}

const Node* Executor::starving(const Iteration& it) const {
  if (it.finished || it.prepared || !current(it).starves()) return nullptr;
  return &graph.node(current(it).node.id);
}

// Steps that wait for the program have threads of their own.
void Executor::start_callers() {
  lanes_.assign(steps_.size(), kAnyStep);
  int lane = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i]->rules.own_threads == 0) continue;
    lanes_[i] = lane;
    lane_work_.emplace_back();
    for (int k = 0; k < steps_[i]->rules.own_threads; ++k) begin_thread_of(options.threads, lane);
    ++lane;
  }
  if (lane == 0) lanes_.clear();
}

}  // namespace penstock
