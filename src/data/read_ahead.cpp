// SPDX-License-Identifier: Apache-2.0
#include "data/read_ahead.h"

#include <fcntl.h>
#include <unistd.h>

namespace penstock {

ReadAhead::ReadAhead() : thread_([this] { serve(); }) {}

ReadAhead::~ReadAhead() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  work_.notify_all();
  thread_.join();
}

void ReadAhead::announce(std::span<const ByteRange> ranges) {
  {
    std::lock_guard lock(mutex_);
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
    while (ranges_.size() > kMost) ranges_.pop_front();
  }
  work_.notify_one();
}

void ReadAhead::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return ranges_.empty() && !busy_; });
}

void ReadAhead::serve() {
  std::string path;  // of the descriptor: records of one container follow each other
  int descriptor = -1;
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return ends_ || !ranges_.empty(); });
    if (ends_) break;
    const ByteRange range = std::move(ranges_.front());
    ranges_.pop_front();
    busy_ = true;
    lock.unlock();
    if (range.path != path) {
      if (descriptor >= 0) ::close(descriptor);
      descriptor = ::open(range.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
      path = range.path;
    }
    if (descriptor >= 0)  // 0: to the end
      ::posix_fadvise(descriptor, range.offset, range.length < 0 ? 0 : std::max<int64_t>(range.length, 1), POSIX_FADV_WILLNEED);
    lock.lock();
    busy_ = false;
    if (!ranges_.empty()) continue;
    idle_.notify_all();
    lock.unlock();  // nothing to do: no file stays open
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
    path.clear();
    lock.lock();
  }
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace penstock
