// SPDX-License-Identifier: Apache-2.0
// How long threads ran on a core and how long they waited for one, as the system counts it; and how long the calling
// thread has waited for the lock of the program's interpreter.
#pragma once
#include <cstdint>

namespace penstock {

struct ThreadTimes {
  int64_t ran_ns = 0;
  int64_t queued_ns = 0;  // ready to run, while others had the cores
};

int system_id_of_thread();            // of the calling thread
ThreadTimes times_of_thread(int id);  // of this process; zeros where the system does not say, or it has ended
int64_t process_ns();                 // on cores, of all threads

int64_t lock_wait_ns();  // of the calling thread, since it began
void add_lock_wait(int64_t ns);

}  // namespace penstock
