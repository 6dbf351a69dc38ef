// SPDX-License-Identifier: Apache-2.0
// What the headers of a newer glibc or the code of a newer libstdc++ call and glibc 2.28 does not have.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Of glibc 2.32: zero makes counters of shared pointers atomic, which is always right.
char __libc_single_threaded = 0;

static struct timespec later(struct timespec from, struct timespec by, struct timespec minus) {
  long seconds = from.tv_sec + by.tv_sec - minus.tv_sec;
  long nanoseconds = from.tv_nsec + by.tv_nsec - minus.tv_nsec;
  for (; nanoseconds < 0; nanoseconds += 1000000000) --seconds;
  for (; nanoseconds >= 1000000000; nanoseconds -= 1000000000) ++seconds;
  return (struct timespec){seconds, nanoseconds};
}

// Of glibc 2.30: waits until a time of CLOCK_MONOTONIC. Where glibc has it, that one runs. Elsewhere the time is converted
// to the clock of the day: std::condition_variable looks at its own clock after that, and its callers wait in a loop.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  typedef int Wait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  static Wait* wait = 0;
  static int known = 0;
  if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&wait, (Wait*)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"), __ATOMIC_RELAXED);
    __atomic_store_n(&known, 1, __ATOMIC_RELEASE);
  }
  Wait* found = __atomic_load_n(&wait, __ATOMIC_RELAXED);
  if (found && found != pthread_cond_clockwait) return found(condition, mutex, clock, until);
  struct timespec now, of_day;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  if (clock_gettime(clock, &now) || clock_gettime(CLOCK_REALTIME, &of_day)) return EINVAL;
  of_day = later(*until, of_day, now);
  return pthread_cond_timedwait(condition, mutex, &of_day);
}

// Of glibc 2.34.
int close_range(unsigned first, unsigned last, int flags) { return (int)syscall(SYS_close_range, first, last, flags); }
