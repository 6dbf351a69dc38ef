// SPDX-License-Identifier: Apache-2.0
// Loads what will be read soon into the system's file cache, on its own thread: a disk is fastest with many
// concurrent requests, and opening a file may block. Ranges that are announced together are requested per file in the
// order of their offsets, with the gaps between close neighbors: records in random order become a few
// long reads.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "data/storage.h"

namespace penstock {

class ReadAhead {
 public:
  ReadAhead();
  ~ReadAhead();  // drops what is not yet requested
  // Bytes that will be read, soonest first; length -1: to the end of the file. Files that cannot be opened are ignored;
  // their reader reports them.
  void announce(std::span<const ByteRange> ranges);
  // How many requested reads found their start missing from memory. While this grows, read-ahead pays.
  uint64_t absent() const { return absent_.load(std::memory_order_relaxed); }
  // For tests: waits until all that was announced is requested.
  void wait();

 private:
  static constexpr size_t kMost = 1 << 16;  // pending ranges; the oldest are dropped
  void serve();
  void ask(const std::string& path, std::span<const ByteRange> ranges);

  std::atomic<uint64_t> absent_{0};
  std::mutex mutex_;  // guards the members below
  std::condition_variable work_, idle_;
  std::deque<ByteRange> ranges_;
  bool busy_ = false, ends_ = false;
  std::thread thread_;
};

// What read_ahead requests from the system: the ranges of each file by offset, the files in the order of their first
// range. Ranges with at most `gap` bytes between them are merged.
std::vector<ByteRange> joined_ranges(std::vector<ByteRange> ranges, int64_t gap);

}  // namespace penstock
