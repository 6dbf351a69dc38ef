// SPDX-License-Identifier: Apache-2.0
// Loads what will be read soon into the system's file cache, on a thread of its own: a disk is fastest with many
// requests at once, and opening a file may wait for it. Of what is announced together the ranges of a file are asked
// for in the order in which they lie there, with the gaps between close neighbors: records in random order become a few
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
  ~ReadAhead();  // drops what was not asked for yet
  // Bytes that will be read, the soonest first; length -1: to the end of the file. Files that cannot be opened are left
  // to those who read them.
  void announce(std::span<const ByteRange> ranges);
  // How many of the reads that were asked for found their begin absent from memory; while it grows, asking pays.
  uint64_t absent() const { return absent_.load(std::memory_order_relaxed); }
  // For tests: after all that was announced has been asked for.
  void wait();

 private:
  static constexpr size_t kMost = 1 << 16;  // ranges that wait; the oldest are dropped
  void serve();
  void ask(const std::string& path, std::span<const ByteRange> ranges);

  std::atomic<uint64_t> absent_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable work_, idle_;
  std::deque<ByteRange> ranges_;
  bool busy_ = false, ends_ = false;
  std::thread thread_;
};

// What read_ahead asks the system for: of each file in the order of offsets, files in the order of their first range.
// Ranges with at most `gap` bytes between them become one.
std::vector<ByteRange> joined_ranges(std::vector<ByteRange> ranges, int64_t gap);

}  // namespace penstock
