// SPDX-License-Identifier: Apache-2.0
// Threads in reserve: more than may work at once. While one is in a task that takes many times as long as others of its
// step, another one works in its place. Guarded by the scheduler's mutex.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/clock.h"

namespace penstock {

class Reserve {
 public:
  // So many threads may work at once; 0: all.
  void begin(int most) { most_ = most; }
  // Threads from this number on sleep until it is larger: a pipeline that tunes itself has more than it uses.
  void keep_awake(int threads) { awake_ = threads; }
  bool is_awake(int thread) const { return thread < awake_; }
  bool is_kept() const { return most_ > 0; }
  bool lets_work() const { return most_ == 0 || working_ - late_ < most_; }

  void begins(int thread, size_t step, int count, int64_t now_ns) {
    if (tasks_.size() <= static_cast<size_t>(thread)) tasks_.resize(static_cast<size_t>(thread) + 1);
    tasks_[static_cast<size_t>(thread)] = {now_ns, step, count, true, false};
    ++working_;
  }
  void ends(int thread, int64_t now_ns) {
    Task& t = tasks_[static_cast<size_t>(thread)];
    --working_, late_ -= t.late;
    t.runs = false;
    double& usual = usual_ns(t.step);
    const double own = static_cast<double>(now_ns - t.begin_ns) / t.count;
    // A task that takes long moves it little.
    usual += usual == 0 ? own : (std::min(own, 4 * usual) - usual) / 16;
  }
  bool finds_late() { return is_kept() && look(clock_ns()) > 0; }
  // How many tasks have become late since it last looked.
  int look(int64_t now_ns) {
    int found = 0;
    for (Task& t : tasks_) {
      if (!t.runs || t.late) continue;
      const double usual = usual_ns(t.step) * t.count;
      if (usual == 0 || static_cast<double>(now_ns - t.begin_ns) < std::max(kLeastNs, 8 * usual)) continue;
      t.late = true;
      ++found;
    }
    late_ += found;
    return found;
  }

 private:
  static constexpr double kLeastNs = 2e6;  // less is not worth another thread
  struct Task {
    int64_t begin_ns = 0;
    size_t step = 0;
    int count = 1;
    bool runs = false, late = false;
  };
  double& usual_ns(size_t step) {
    if (usual_.size() <= step) usual_.resize(step + 1, 0.0);
    return usual_[step];
  }

  int most_ = 0, working_ = 0, late_ = 0;
  int awake_ = std::numeric_limits<int>::max();
  std::vector<Task> tasks_;    // by thread
  std::vector<double> usual_;  // by step, for one item
};

}  // namespace penstock
