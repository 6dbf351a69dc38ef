// SPDX-License-Identifier: Apache-2.0
// How far a long piece of work is, for a program that shows it. Its first seconds are not reported.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace penstock {

// ended: the work is done, or an error ended it. total -1: not known.
struct ProgressState {
  uint64_t id;  // of the piece of work
  const char* what;
  const char* unit;
  int64_t done, total;
  bool ended;
};
using ProgressReport = void (*)(const ProgressState&);
// nullptr: nobody wants to know. quiet: work that takes no longer is not reported.
void set_progress_report(ProgressReport report, std::chrono::milliseconds quiet = std::chrono::seconds(2));

// For one thread, which calls the report now and then: not while it holds a lock.
class Progress {
 public:
  Progress(std::string what, const char* unit, int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void add(int64_t n) { reach(done_ + n); }
  void reach(int64_t done) {
    done_ = done;
    if (++calls_ % kCalls == 0) tell(false);
  }
  void look() { tell(false); }  // after a call that may have taken long

 private:
  static constexpr unsigned kCalls = 16;  // between two looks at the clock
  void tell(bool ended);
  std::string what_;
  const char* unit_;
  int64_t total_, done_ = 0;
  unsigned calls_ = 0;
  uint64_t id_ = 0;  // 0: nothing was told
  std::chrono::steady_clock::time_point next_;
};

}  // namespace penstock
