// SPDX-License-Identifier: Apache-2.0
#include "data/replace_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "data/storage.h"

namespace penstock {

void replace_file(const std::string& path, std::span<const uint8_t> bytes) {
  std::string name = path + ".XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail_with_errno(path, "cannot write beside it", errno);
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
  struct stat old;
  mode_t mode = 0666;
  if (::stat(path.c_str(), &old) == 0) {
    mode = old.st_mode & 07777;
  } else {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode &= ~mask;
  }
  if (::fchmod(descriptor, mode) != 0 || ::fsync(descriptor) != 0) give_up("writing failed", errno);
  if (::rename(name.c_str(), path.c_str()) != 0) give_up("cannot take the place of the old file", errno);
  ::close(descriptor);
}

}  // namespace penstock
