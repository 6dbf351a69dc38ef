// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/compile_apart.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "base/error.h"
#include "base/progress.h"
#include "cuda/runtime/apart/messages.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

std::string find_program() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<const void*>(&can_compile_apart), &here) || !here.dli_fname) return {};
  std::error_code ignored;
  const std::string path =
      (fs::weakly_canonical(here.dli_fname, ignored).parent_path() / "penstock_kernel_compiler").string();
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}
const std::string& program() {
  static const auto* const path = new std::string(find_program());
  return *path;
}

// Processes that wait for the next request. They end by themselves after a while, and with this process.
struct Idle {
  std::mutex mutex;
  std::vector<int> sockets;
  pid_t owner = 0;
};
Idle& idle() {
  static auto* const made = new Idle;
  return *made;
}

int take_idle() {  // -1: there is none
  Idle& all = idle();
  std::lock_guard lock(all.mutex);
  if (all.owner != ::getpid()) {  // a forked child's copies
    for (const int s : all.sockets) ::close(s);
    all.sockets.clear();
    all.owner = ::getpid();
  }
  if (all.sockets.empty()) return -1;
  const int socket = all.sockets.back();
  all.sockets.pop_back();
  return socket;
}
void give_back(int socket) {
  std::lock_guard lock(idle().mutex);
  idle().sockets.push_back(socket);
}

class SpawnSettings {
 public:
  explicit SpawnSettings(int socket) {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, socket, 0);
    // If a pipe of the program stayed open, its reader would keep waiting.
    ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_init(&attributes);
    sigset_t all;  // a Ctrl-C is for the program
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

int begin_process(const std::string& nvrtc) {  // -1: that failed
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  const SpawnSettings settings(ends[1]);
  std::string words[] = {program(), nvrtc};
  char* const arguments[] = {words[0].data(), words[1].data(), nullptr};
  pid_t begun = 0;
  bool good = ::posix_spawn(&begun, words[0].c_str(), &settings.files, &settings.attributes, arguments, environ) == 0;
  if (good) {  // it ends at once, and leaves the worker running
    int status = 0;
    pid_t ended;
    while ((ended = ::waitpid(begun, &status, 0)) < 0 && errno == EINTR) {
    }
    good = ended < 0 || status == 0;  // < 0: the program ignores the status of its children
  }
  ::close(ends[1]);
  if (good) return ends[0];
  ::close(ends[0]);
  return -1;
}

// Returns when there is something to receive, or nobody that could send it.
void wait_for(int socket, const std::string& entry) {
  constexpr int kBetween = 100;  // milliseconds
  Progress progress("compile the kernel " + entry, "kernel", -1);
  for (pollfd waited{socket, POLLIN, 0}; ::poll(&waited, 1, kBetween) == 0;) progress.look();
}

bool ask(int socket, const std::vector<std::string>& request, std::vector<std::string>& answer) {
  if (!apart::send(socket, request)) return ::close(socket), false;
  wait_for(socket, request[0]);
  if (apart::receive(socket, answer) && answer.size() == 2) {
    give_back(socket);
    return true;
  }
  ::close(socket);
  return false;
}

}  // namespace

bool can_compile_apart() { return !program().empty(); }

KernelImage compile_apart(const Nvrtc& nvrtc, const std::string& text, const std::string& entry,
                          const std::vector<std::string>& options) {
  if (!can_compile_apart()) return nvrtc.compile(text, entry, options);
  std::vector<std::string> request{entry, text}, answer;
  request.insert(request.end(), options.begin(), options.end());
  const int known = take_idle();
  if (known < 0 || !ask(known, request, answer)) {  // a process that was idle may have just ended
    const int begun = begin_process(nvrtc.path());
    if (begun < 0) return nvrtc.compile(text, entry, options);
    if (!ask(begun, request, answer))
      fail(ErrorKind::internal, "kernel {}: the compiler process ended before it returned the code", entry);
  }
  if (answer[0] == "error") fail(ErrorKind::internal, "{}", answer[1]);
  return {std::move(answer[1]), answer[0] == "ptx"};
}

}  // namespace penstock
