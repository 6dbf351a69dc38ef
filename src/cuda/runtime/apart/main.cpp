// SPDX-License-Identifier: Apache-2.0
// penstock_kernel_compiler: NVRTC in a separate process, for cuda/runtime/compile_apart.h. The argument is NVRTC's
// path, standard input the socket. A request is [entry, text, options...], the answer ["cubin" or "ptx", code] or
// ["error", why].
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>

#include "base/begin_thread.h"
#include "base/error.h"
#include "cuda/runtime/apart/messages.h"
#include "cuda/runtime/nvrtc.h"

namespace {

using namespace penstock;
constexpr int kSocket = 0;
constexpr int kIdleMs = 10'000;  // after that, a program that has its kernels needs no process in memory

// Ends with the program, also during a compilation.
void watch() {
  pollfd program{kSocket, POLLRDHUP, 0};
  while (::poll(&program, 1, -1) < 0 && errno == EINTR) {
  }
  _exit(0);
}

std::vector<std::string> answer(const std::vector<std::string>& request) {
  try {
    if (request.size() < 2) fail(ErrorKind::internal, "the request has no text");
    std::string why;
    const Nvrtc* nvrtc = Nvrtc::find(why);
    if (!nvrtc) fail(ErrorKind::internal, "{}", why);
    KernelImage image = nvrtc->compile(request[1], request[0], {request.begin() + 2, request.end()});
    return {image.ptx ? "ptx" : "cubin", std::move(image.bytes)};
  } catch (const std::exception& e) {
    return {"error", e.what()};
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  // The program waits for this process at once, and never for the worker: the worker must not be its child.
  const pid_t works = ::fork();
  if (works != 0) _exit(works > 0 ? 0 : 1);
  ::close_range(1, ~0u, 0);
  for (int i = 0; i < 2; ++i) static_cast<void>(::open("/dev/null", O_RDWR));
  ::setenv("PENSTOCK_NVRTC", arguments[1], 1);
  begin_thread(watch).detach();
  pollfd program{kSocket, POLLIN, 0};
  std::vector<std::string> request;
  for (int ready; (ready = ::poll(&program, 1, kIdleMs)) != 0;) {
    if (ready < 0 && errno == EINTR) continue;
    if (!apart::receive(kSocket, request) || !apart::send(kSocket, answer(request))) break;
  }
  _exit(0);
}
