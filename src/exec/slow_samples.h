// SPDX-License-Identifier: Apache-2.0
// The slowest samples of a step. A file that is slow again is the same entry.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

struct SlowSample {
  int64_t ns = 0;  // of its slowest visit
  uint64_t epoch = 0, position = 0;
  std::string source;    // the file or record; "": not known
  int64_t visits = 1;    // that were among the slowest when they came
  int64_t least_ns = 0;  // of the quickest of these
};

class SlowSamples {
 public:
  static constexpr size_t kMost = 8;

  int64_t least() const { return kept_.size() < kMost ? 0 : least_; }  // a quicker one is of no interest
  void add(SlowSample s);                                              // one visit, or what another thread has
  const std::vector<SlowSample>& all() const { return kept_; }
  std::vector<SlowSample> sorted() const;

 private:
  SlowSample* same(const SlowSample& s);
  std::vector<SlowSample> kept_;
  int64_t least_ = 0;
};

}  // namespace penstock
