// SPDX-License-Identifier: Apache-2.0
// The source of each position of a mixed epoch: a pure function of seed, epoch and position.
#pragma once
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

namespace penstock {

// When an epoch of a mix ends: when all samples of the first finished source are read, or when those of every source
// are.
enum class MixStop { first, all };

// The number of samples that an epoch reads from each source. weights: in any unit, one per source, or empty: its size.
// The source that determines the end of the epoch gives each of its samples once, the others in proportion, rounded. If
// `epoch_size` > 0, all give their share of it, by largest remainders. Error (argument) if a weight is not
// positive.
std::vector<int64_t> mix_shares(std::span<const int64_t> sizes, std::span<const double> weights, MixStop stop,
                                int64_t epoch_size);

struct MixedSample {
  int source = 0;
  uint64_t pass = 0;  // epoch of the source
  int64_t place = 0;  // position in that epoch
};

// The samples of the epoch are spread evenly: element i of a source that has n of N is at time (2 i + 1) N / (2 n),
// rounded down to an integer; at equal times, the first source comes first. Each block of 4,096 in that order is
// shuffled. So a run of blocks holds each source in proportion to within a sample or two per source, a position costs
// at most one block, and the samples of a source keep their order. The passes of a source continue from epoch to epoch:
// no sample is read twice before all are read once.
class MixOrder {
 public:
  static constexpr int64_t kBlock = 4096;
  // Error (argument) if a source has no share; at most 32,767 sources and 2^40 samples.
  MixOrder(std::vector<int64_t> sizes, std::vector<int64_t> shares);
  int64_t size() const { return size_; }  // of an epoch
  const std::vector<int64_t>& shares() const { return shares_; }
  // 0 <= position < size(); from any thread.
  MixedSample at(uint64_t seed, uint64_t epoch, int64_t position) const;
  // How many of the first `taken` samples in order of time belong to each source.
  std::vector<int64_t> counts(int64_t taken) const;

 private:
  struct Block {
    uint64_t seed = 0, epoch = 0;
    int64_t number = 0;
    std::vector<int16_t> sources;
    std::vector<int64_t> places;  // of the source's samples in this epoch
  };
  static constexpr size_t kMostBlocks = 4;
  Block made(uint64_t seed, uint64_t epoch, int64_t number) const;

  std::vector<int64_t> sizes_, shares_;
  int64_t size_ = 0;
  mutable std::mutex mutex_;         // guards the members below
  mutable std::list<Block> recent_;  // most recent first
};

}  // namespace penstock
