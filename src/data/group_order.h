// SPDX-License-Identifier: Apache-2.0
// A shuffle for data that is decoded in groups: the groups in random order, and the samples of a few neighboring groups
// (a window) in random order. A pure function of the seed and the epoch, so it resumes anywhere.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

namespace penstock {

class GroupOrder {
 public:
  // first: the first sample of each group, and after them the number of samples. window: groups, at least 1.
  GroupOrder(std::vector<int64_t> first, int64_t window);
  // The sample at a place of the epoch; any thread may call it.
  int64_t at(uint64_t seed, uint64_t epoch, int64_t place) const;
  // The other groups of a group's window and those of the next window, in their order. None if at() was last called for
  // another epoch.
  std::vector<int> near(uint64_t epoch, int group) const;

 private:
  struct Epoch {
    uint64_t seed = 0, epoch = ~uint64_t{0};
    std::vector<int> groups;     // in their order
    std::vector<int64_t> first;  // the place where each window begins, and the end
  };
  void set(uint64_t seed, uint64_t epoch) const;

  std::vector<int64_t> first_;
  int64_t window_;
  mutable std::mutex mutex_;  // guards the member below
  mutable Epoch now_;
};

}  // namespace penstock
