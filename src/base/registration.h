// SPDX-License-Identifier: Apache-2.0
// What static objects register: operators and formats. Those of the library itself enter their lists at once. While a
// plug-in is loaded (base/plugin.h), they wait until all of its registrations have been checked, so that a plug-in that
// is refused leaves nothing.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace penstock {

struct Registration {
  std::string what;                          // "an operator 'flip'": each exists once
  std::function<std::string()> why_refused;  // a sentence without a period; empty: it may enter
  std::function<void()> add;                 // called once, after all have been checked
};

// Whether a plug-in is being loaded by this thread. Then registrations wait.
bool plugin_is_loading();
void wait_for_checks(Registration registration);

// Collects what is registered on this thread, as long as it exists.
class PluginRegistrations {
 public:
  PluginRegistrations();
  ~PluginRegistrations();
  PluginRegistrations(const PluginRegistrations&) = delete;
  size_t size() const { return waiting_.size(); }
  std::string why_refused() const;  // the first of all; empty: all may enter
  void add_all();

 private:
  friend void wait_for_checks(Registration registration);
  std::vector<Registration> waiting_;
};

// A list that threads read while a plug-in extends it: they keep the one that they have. Old ones are never freed.
template <class List>
class SharedList {
 public:
  template <class... A>
  explicit SharedList(A&&... of_list) : now_(new List(std::forward<A>(of_list)...)) {}
  const List& get() const { return *now_.load(std::memory_order_acquire); }
  // f(list) at start-up, when there is one thread.
  template <class F>
  void fill(F&& f) {
    f(*now_.load(std::memory_order_relaxed));
  }
  // f(copy), and the copy takes the list's place. One thread at a time.
  template <class F>
  void extend(F&& f) {
    auto* next = new List(get());
    f(*next);
    now_.store(next, std::memory_order_release);
  }

 private:
  std::atomic<List*> now_;
};

}  // namespace penstock
