// SPDX-License-Identifier: Apache-2.0
// Preloaded, it makes each read of a .jpg file one of a disk: nothing is in memory, and a read takes 5 ms.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int is_picture(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  return n > 4 && memcmp(path + n - 4, ".jpg", 4) == 0;
}

ssize_t preadv2(int descriptor, const struct iovec* to, int count, off_t at, int flags) {
  static ssize_t (*real)(int, const struct iovec*, int, off_t, int);
  if (!real) real = (ssize_t (*)(int, const struct iovec*, int, off_t, int))dlsym(RTLD_NEXT, "preadv2");
  if (!is_picture(descriptor)) return real(descriptor, to, count, at, flags);
  errno = EAGAIN;
  return -1;
}

ssize_t pread(int descriptor, void* to, size_t length, off_t at) {
  static ssize_t (*real)(int, void*, size_t, off_t);
  if (!real) real = (ssize_t (*)(int, void*, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  const struct timespec wait = {0, 5000000};
  if (is_picture(descriptor)) nanosleep(&wait, NULL);
  return real(descriptor, to, length, at);
}
