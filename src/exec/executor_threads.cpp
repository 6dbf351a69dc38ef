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
  {
    std::lock_guard lock(slots_->mutex);
    slots_->wake = nullptr;
  }
  ask_to_stop();
  stop();
}

void Executor::ask_to_stop() {
  if (stop_) return;
  for (auto& [id, s] : sources_)
    if (auto* e = dynamic_cast<ExternalSource*>(s.get())) e->feed()->cancel();
  {
    std::unique_lock lock(mutex_);
    const auto callbacks = callbacks_;
    lock.unlock();
    for (const auto& [node, callback] : callbacks) callback->cancel();
    lock.lock();
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
  decoders_.clear();
  sources_.clear();  // what they have enqueued is on gpu_
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
  const Step& s = plan.steps[it.step];
  if (it.finished || it.prepared || s.kind != Step::Kind::source) return nullptr;
  const auto* fed = dynamic_cast<const ExternalSource*>(sources_.at(s.nodes[0]).get());
  return fed && fed->feed()->starves() ? &graph.node(s.nodes[0]) : nullptr;
}

}  // namespace penstock
