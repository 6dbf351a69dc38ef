// SPDX-License-Identifier: Apache-2.0
#include "data/read_ahead.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/begin_thread.h"

namespace penstock {

ReadAhead::ReadAhead() : thread_(begin_thread([this] { serve(); })) {}

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

std::vector<ByteRange> joined_ranges(std::vector<ByteRange> ranges, int64_t gap) {
  std::unordered_map<std::string_view, size_t> first;  // per file
  std::vector<std::pair<size_t, size_t>> order;        // index of its file, own index
  order.reserve(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) order.push_back({first.emplace(ranges[i].path, i).first->second, i});
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.first, ranges[a.second].offset, a.second) <
           std::tuple(b.first, ranges[b.second].offset, b.second);
  });
  std::vector<ByteRange> joined;
  size_t file = ranges.size();
  for (const auto& [of, i] : order) {
    ByteRange& r = ranges[i];
    if (of == file) {
      ByteRange& last = joined.back();
      if (last.length < 0) continue;  // up to the end of the file
      const int64_t end = last.offset + last.length;
      if (r.length >= 0 && r.offset - end <= gap) {
        last.length = std::max(end, r.offset + r.length) - last.offset;
        continue;
      }
    }
    file = of;
    joined.push_back({ranges[of].path, r.offset, r.length});
  }
  return joined;
}

// A read-ahead request covers as many bytes as the device takes at once; the rest is ignored. So it is sent in pieces.
void ReadAhead::ask(const std::string& path, std::span<const ByteRange> ranges) {
  constexpr int64_t kPiece = 1 << 17;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return;
  for (const ByteRange& r : ranges) {
    const int64_t length = std::max<int64_t>(r.length, 1);
    for (int64_t at = 0; at < length; at += kPiece) {
      uint8_t byte;
      iovec one{&byte, 1};
      if (::preadv2(descriptor, &one, 1, r.offset + at, RWF_NOWAIT) < 0)
        absent_.fetch_add(1, std::memory_order_relaxed);
      const int64_t piece = r.length < 0 ? 0 : std::min(kPiece, length - at);  // 0: to the end
      ::posix_fadvise(descriptor, r.offset + at, piece, POSIX_FADV_WILLNEED);
    }
  }
  ::close(descriptor);
}

void ReadAhead::serve() {
  constexpr int64_t kGap = 1 << 16;  // bytes that are read in the time of one more request
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return ends_ || !ranges_.empty(); });
    if (ends_) return;
    std::vector<ByteRange> ranges(std::make_move_iterator(ranges_.begin()), std::make_move_iterator(ranges_.end()));
    ranges_.clear();
    busy_ = true;
    lock.unlock();
    ranges = joined_ranges(std::move(ranges), kGap);
    for (size_t begin = 0, end; begin < ranges.size(); begin = end) {
      for (end = begin + 1; end < ranges.size() && ranges[end].path == ranges[begin].path;) ++end;
      ask(ranges[begin].path, std::span(ranges).subspan(begin, end - begin));
      lock.lock();
      const bool ends = ends_;
      lock.unlock();
      if (ends) break;
    }
    lock.lock();
    busy_ = false;
    if (ranges_.empty()) idle_.notify_all();
  }
}

}  // namespace penstock
