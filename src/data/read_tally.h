// SPDX-License-Identifier: Apache-2.0
// Counts what a thread reads: whole files, records of containers, remote objects.
#pragma once
#include <cstdint>

namespace penstock {

struct ReadTally {
  int64_t reads = 0;   // of a file or a record
  int64_t remote = 0;  // of those, from URLs
  int64_t waited = 0;  // that waited for the medium, or whose file system does not say
  int64_t bytes = 0;
  int64_t ns = 0;  // with the time that it takes to open

  ReadTally& operator+=(const ReadTally& t);
  friend ReadTally operator-(ReadTally a, const ReadTally& b) {
    return {a.reads - b.reads, a.remote - b.remote, a.waited - b.waited, a.bytes - b.bytes, a.ns - b.ns};
  }
};

ReadTally reads_of_thread();  // of the calling thread, since it began

// Counts one read while it lives; a read inside another one is part of it.
class CountedRead {
 public:
  explicit CountedRead(bool remote);
  ~CountedRead();
  CountedRead(const CountedRead&) = delete;
  CountedRead& operator=(const CountedRead&) = delete;
  void of(int64_t bytes);
  static void waits();  // the read of the calling thread waits for the medium

 private:
  int64_t begin_ns_ = 0;
  const bool outermost_;
};

}  // namespace penstock
