// SPDX-License-Identifier: Apache-2.0
#include "data/replace_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "data/storage.h"

namespace penstock {

// A new file with an unpredictable name.
static int create_beside(const std::string& path, mode_t mode, std::string& name) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) fail_with_errno(path, "no random number", errno);
    name = fmt::format("{}.{:012x}", path, number >> 16);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST && errno != EINTR) break;
  }
  fail_with_errno(path, "cannot create a temporary file beside it", errno);
}

void replace_file(const std::string& path, std::span<const uint8_t> bytes) {
  struct stat old;
  const bool has_old = ::stat(path.c_str(), &old) == 0;
  std::string name;
  // The kernel applies the umask: reading it here would set it for all threads. An old file may be private.
  const int descriptor = create_beside(path, has_old ? 0600 : 0666, name);
  const auto give_up = [&](const char* what, int code) {
    ::close(descriptor);
    ::unlink(name.c_str());
    fail_with_errno(path, what, code);
  };
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) give_up("writing failed", n < 0 ? errno : ENOSPC);
    done += static_cast<size_t>(n);
  }
  if ((has_old && ::fchmod(descriptor, old.st_mode & 07777) != 0) || ::fsync(descriptor) != 0)
    give_up("writing failed", errno);
  if (::rename(name.c_str(), path.c_str()) != 0) give_up("cannot replace the old file", errno);
  ::close(descriptor);
}

}  // namespace penstock
