// SPDX-License-Identifier: Apache-2.0
#include "base/thread_times.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

namespace penstock {

static constinit thread_local int64_t waited_for_lock = 0;

int system_id_of_thread() {
  static thread_local const int id = static_cast<int>(::syscall(SYS_gettid));
  return id;
}

ThreadTimes times_of_thread(int id) {
  ThreadTimes t;
  std::ifstream file(fmt::format("/proc/self/task/{}/schedstat", id));
  if (file >> t.ran_ns >> t.queued_ns) return t;
  return {};
}

int64_t process_ns() {
  timespec t{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return 0;
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int64_t lock_wait_ns() { return waited_for_lock; }
void add_lock_wait(int64_t ns) { waited_for_lock += ns; }

}  // namespace penstock
