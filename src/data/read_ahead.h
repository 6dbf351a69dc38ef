// SPDX-License-Identifier: Apache-2.0
// Loads what will be read soon into the system's file cache, on a thread of its own: a disk is fastest with many requests
// at once, and opening a file may wait for it.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <thread>

#include "data/storage.h"

namespace penstock {

class ReadAhead {
 public:
  ReadAhead();
  ~ReadAhead();  // drops what was not asked for yet
  // Bytes that will be read, in this order; length -1: to the end of the file. Files that cannot be opened are left to
  // those who read them.
  void announce(std::span<const ByteRange> ranges);
  // For tests: after all that was announced has been asked for.
  void wait();

 private:
  static constexpr size_t kMost = 1 << 14;  // ranges that wait; the oldest are dropped
  void serve();

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_, idle_;
  std::deque<ByteRange> ranges_;
  bool busy_ = false, ends_ = false;
  std::thread thread_;
};

}  // namespace penstock
