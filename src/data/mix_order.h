// SPDX-License-Identifier: Apache-2.0
// Which source each position of a mixed epoch is read from: a pure function of seed, epoch and position.
#pragma once
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

namespace penstock {

// Where an epoch of a mix ends: with the first source whose samples are all read, or when those of each one are.
enum class MixStop { first, all };

// Samples that an epoch reads of each source. weights: in any unit, one for each source, or empty: its size. The source
// that decides where the epoch ends gives each of its samples once, the others in proportion, rounded; with an epoch of
// `epoch_size` > 0 all give their share of it, by largest remainders. Error (argument) on weights that are not
// positive.
std::vector<int64_t> mix_shares(std::span<const int64_t> sizes, std::span<const double> weights, MixStop stop,
                                int64_t epoch_size);

struct MixedSample {
  int source = 0;
  uint64_t pass = 0;  // epoch of the source
  int64_t place = 0;  // position in it
};

// The epoch's samples are spread evenly: element i of a source that has n of N stands at time (2 i + 1) N / (2 n), cut
// to a whole number; of one time the first source is first. What stands in each 4,096 of that order is shuffled. So a
// run of blocks holds each source in proportion to within a sample or two for each source, a position costs a block at
// most, and a source's samples keep their order. A source's passes go on from epoch to epoch: none of its samples is
// read twice before all are read once.
class MixOrder {
 public:
  static constexpr int64_t kBlock = 4096;
  // Error (argument) where a source has no share; at most 32,767 sources and 2^40 samples.
  MixOrder(std::vector<int64_t> sizes, std::vector<int64_t> shares);
  int64_t size() const { return size_; }  // of an epoch
  const std::vector<int64_t>& shares() const { return shares_; }
  // 0 <= position < size(); from any thread.
  MixedSample at(uint64_t seed, uint64_t epoch, int64_t position) const;
  // How many of the first `taken` in order of time are of each source.
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
  mutable std::mutex mutex_;         // guards what follows
  mutable std::list<Block> recent_;  // the latest first
};

}  // namespace penstock
