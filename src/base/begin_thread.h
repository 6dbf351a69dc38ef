// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"

namespace penstock {

// Starts a std::thread. Where the system refuses, throws an Error that says what to change.
template <class F> std::thread begin_thread(F&& body) {
  try {
    return std::thread(std::forward<F>(body));
  } catch (const std::system_error& e) {
    fail(ErrorKind::out_of_memory,
         "the system refuses to start another thread ({}): raise the process' limit of threads (ulimit -u, or "
         "pids.max of its cgroup) or of memory (ulimit -v; each thread takes a stack of ulimit -s), or request fewer "
         "threads (num_threads; in C, penstock_set_threads)",
         e.code().message());
  }
}

}  // namespace penstock
