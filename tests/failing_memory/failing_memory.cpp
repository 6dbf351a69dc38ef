// SPDX-License-Identifier: Apache-2.0
// usage: failing_memory FILE.json FIRST STEP BATCHES
// Loads and runs a saved pipeline again and again, each time in a process of its own in which one allocation fails: the
// FIRST-th, then the one STEP further on, until a run needs fewer. A run must end well or in a penstock::Error. Prints
// what ended otherwise, then a line of counts; ends with 1 if a run crashed, hung or ended in something else.
// STEP 0: one run in this process, for a debugger.
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>

#include "penstock/penstock.hpp"

namespace {

std::atomic<int64_t> left{INT64_MAX};  // allocations until the one that fails

// What nobody who links it can mend: libvorbis and libogg use what malloc gave without a look at it; the C library ends
// the process where it cannot note a thread's destructors or make room for its variables; the destructor of nlohmann's
// JSON, which reads saved pipelines, allocates.
bool unchecked(void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) && info.dli_fname)
    for (const char* name : {"libvorbis", "libogg", "libc.so", "ld-linux"})
      if (std::strstr(info.dli_fname, name)) return true;
  void* frames[24];
  const int depth = backtrace(frames, 24);
  for (int i = 0; i < depth; ++i) {  // the innermost function of the library that has a name
    if (!dladdr(frames[i], &info) || !info.dli_sname || !std::strstr(info.dli_fname, "libpenstock")) continue;
    for (const char* name : {"nlohmann", "9from_json"})
      if (std::strstr(info.dli_sname, name)) return true;
    return false;
  }
  return false;
}

bool fails(void* caller) { return left.fetch_sub(1, std::memory_order_relaxed) == 1 && !unchecked(caller); }

void show_stack(int number) {
  void* frames[32];
  backtrace_symbols_fd(frames, backtrace(frames, 32), 2);
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

// The C library's allocator under other names, so that these can call it.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* data, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  return fails(__builtin_return_address(0)) ? (errno = ENOMEM, nullptr) : __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  return fails(__builtin_return_address(0)) ? (errno = ENOMEM, nullptr) : __libc_calloc(count, bytes);
}
void* realloc(void* data, size_t bytes) {
  return fails(__builtin_return_address(0)) ? (errno = ENOMEM, nullptr) : __libc_realloc(data, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails(__builtin_return_address(0)) ? (errno = ENOMEM, nullptr) : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** data, size_t alignment, size_t bytes) {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *data = __libc_memalign(alignment, bytes);
  return *data ? 0 : ENOMEM;
}
}

namespace {

enum Ending { well = 0, error = 10, foreign_exception = 11, enough = 12 };

int run(const std::string& json, int64_t place, int batches) {
  void* frame;
  backtrace(&frame, 1);  // which loads a library at its first call
  for (int number : {SIGSEGV, SIGABRT, SIGBUS}) signal(number, show_stack);
  left = place;
  int ending = well;
  try {
    penstock::Pipeline pipeline = penstock::Pipeline::load(json);
    std::vector<penstock::Batch> outputs;
    for (int i = 0; i < batches && pipeline.next(outputs); ++i) {
    }
  } catch (const penstock::Error&) {
    ending = error;
  } catch (const std::bad_alloc&) {  // of this program's own containers
    ending = error;
  } catch (...) {
    ending = foreign_exception;
  }
  const int64_t rest = left.exchange(INT64_MAX);
  return rest > 0 ? enough : ending;  // the run had fewer allocations than that
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return std::fprintf(stderr, "usage: %s FILE.json FIRST STEP BATCHES\n", argv[0]), 2;
  setlinebuf(stdout);
  std::ifstream file(argv[1]);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  const int64_t first = std::atoll(argv[2]), step = std::atoll(argv[3]);
  if (step == 0) return run(json, first, std::atoi(argv[4]));
  int64_t count[2] = {0, 0}, wrong = 0, place = first;
  for (;; place += step) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // ends a run that hangs
      _exit(run(json, place, std::atoi(argv[4])));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return std::perror("failing_memory"), 2;
    const int ending = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (ending == enough) break;
    if (ending == well || ending == error) {
      ++count[ending == error];
      continue;
    }
    ++wrong;
    const bool signalled = WIFSIGNALED(status);
    std::printf("allocation %lld: %s %d\n", static_cast<long long>(place), signalled ? "signal" : "exit",
                signalled ? WTERMSIG(status) : ending);
  }
  std::printf("ended well %lld, in an error %lld, otherwise %lld; below %lld allocations\n",
              static_cast<long long>(count[0]), static_cast<long long>(count[1]), static_cast<long long>(wrong),
              static_cast<long long>(place));
  return wrong ? 1 : 0;
}
