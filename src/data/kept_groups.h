// SPDX-License-Identifier: Apache-2.0
// Groups of samples that are decoded when they are needed: the last few are kept. A thread that needs a group that
// another one decodes waits for it.
#pragma once
#include <algorithm>
#include <future>
#include <list>
#include <memory>
#include <mutex>

#include "base/error.h"

namespace penstock {

template <class T> class KeptGroups {
 public:
  using Group = std::shared_ptr<const T>;
  explicit KeptGroups(size_t most) : most_(std::max<size_t>(1, most)) {}

  // load() returns a Group. Its error reaches all that wait, and the next call tries again.
  template <class F> Group get(int number, F&& load) {
    std::promise<Group> promise;
    std::shared_future<Group> future, made;  // of another thread, of this one
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.number == number; });
      if (found != kept_.end()) {
        kept_.splice(kept_.begin(), kept_, found);
        future = found->group;
      } else {
        made = promise.get_future().share();
        kept_.push_front({number, made});
        if (kept_.size() > most_) kept_.pop_back();
      }
    }
    if (future.valid()) return own_error([&] { return future.get(); });
    try {
      Group group = load();
      promise.set_value(group);
      return group;
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(mutex_);
      std::erase_if(kept_, [&](const Kept& k) { return k.number == number; });
    }
    return own_error([&] { return made.get(); });
  }

 private:
  // A future throws one object in all threads, and who catches an Error adds to it.
  template <class F> static Group own_error(F&& body) {
    try {
      return body();
    } catch (const Error& e) {
      throw Error(e);
    }
  }
  struct Kept {
    int number;
    std::shared_future<Group> group;
  };
  size_t most_;
  std::mutex mutex_;      // guards the member below
  std::list<Kept> kept_;  // most recent first
};

}  // namespace penstock
