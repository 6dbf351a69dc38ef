// SPDX-License-Identifier: Apache-2.0
// Groups of samples that are decoded when they are needed: the last few are kept. A thread that needs a group that
// another one decodes waits for it, or decodes a later one in the meantime. Data that cannot be decoded are not tried
// again for each of their samples: the error is kept as a group is. Other errors, as of a network, may pass.
#pragma once
#include <algorithm>
#include <chrono>
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

  // load() returns a Group. Its error reaches all that wait; if it is not of the data, the next call tries again.
  template <class F> Group get(int number, F&& load) {
    return get(number, load, [] { return false; });
  }
  // While another thread loads the group, this one calls meanwhile() again and again, until that returns false.
  template <class F, class M> Group get(int number, F&& load, M&& meanwhile) {
    std::promise<Group> promise;
    const Begun begun = find_or_begin(number, promise);
    if (begun.own) {
      finish(number, promise, load);
    } else {
      while (begun.group.wait_for(std::chrono::seconds(0)) != std::future_status::ready && meanwhile()) {
      }
    }
    return own_error([&] { return begun.group.get(); });
  }
  // Loads the group if no thread has begun to. False: one had, or load() failed.
  template <class F> bool load_early(int number, F&& load) {
    std::promise<Group> promise;
    return find_or_begin(number, promise).own && finish(number, promise, load);
  }

 private:
  struct Begun {
    std::shared_future<Group> group;
    bool own;  // the caller fulfills the promise
  };
  Begun find_or_begin(int number, std::promise<Group>& promise) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.number == number; });
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return {found->group, false};
    }
    kept_.push_front({number, promise.get_future().share()});
    if (kept_.size() > most_) kept_.pop_back();
    return {kept_.front().group, true};
  }
  template <class F> bool finish(int number, std::promise<Group>& promise, F&& load) {
    try {
      promise.set_value(load());
      return true;
    } catch (...) {
      promise.set_exception(std::current_exception());
      if (is_of_data()) return false;
      const std::lock_guard lock(mutex_);
      std::erase_if(kept_, [&](const Kept& k) { return k.number == number; });
      return false;
    }
  }
  // Whether the exception that is being handled says that the data are damaged.
  static bool is_of_data() {
    try {
      throw;
    } catch (const Error& e) {
      return e.kind() == ErrorKind::data;
    } catch (...) {
      return false;
    }
  }
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
