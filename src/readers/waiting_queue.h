// SPDX-License-Identifier: Apache-2.0
// What a program feeds, until the pipeline takes it.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace penstock {

template <class T> class WaitingQueue {
 public:
  void put(T fed) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(fed));
    }
    ready_.notify_all();
  }
  // Waits for put(). Error (cancelled) after cancel().
  T take() {
    std::unique_lock lock(mutex_);
    waits_ = true;
    ready_.wait(lock, [&] { return cancelled_ || !queue_.empty(); });
    waits_ = false;
    refuse_cancelled();
    T fed = std::move(queue_.front());
    queue_.pop_front();
    return fed;
  }
  void check() {
    std::lock_guard lock(mutex_);
    refuse_cancelled();
  }
  bool ready() {
    std::lock_guard lock(mutex_);
    return !queue_.empty();
  }
  bool starves() {
    std::lock_guard lock(mutex_);
    return waits_ && queue_.empty() && !cancelled_;
  }
  void cancel() {
    {
      std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    ready_.notify_all();
  }

 private:
  void refuse_cancelled() const {
    if (cancelled_) fail(ErrorKind::cancelled, "the pipeline is closing");
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> queue_;
  bool cancelled_ = false, waits_ = false;
};

}  // namespace penstock
