// SPDX-License-Identifier: Apache-2.0
// Batches whose samples fit together into one row.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/formed_batches.h"

namespace penstock {

struct PackedSettings {
  int64_t batch_size = 1;  // the most samples of a batch
  float max_cost = 0;      // the most that the lengths of a batch add up to
  int64_t window = 1;      // how many samples are placed together
  bool shuffled = false;   // a window has samples of the whole data set, else those that follow each other
};

// Packs the samples into batches (data/row_packing.h). The lengths alone decide which lengths meet in a batch; in each
// epoch samples of equal length are permuted among the places of that length.
class PackedBatches final : public FormedBatches {
 public:
  // Error (argument), with the name of the sample, on lengths that check_lengths() refuses.
  PackedBatches(std::span<const float> lengths, const PackedSettings& settings,
                const std::function<std::string(int64_t sample)>& name_of);

  int64_t samples() const override { return static_cast<int64_t>(order_.size()); }
  int64_t batches() const override { return static_cast<int64_t>(first_.size()) - 1; }
  // Of rows of max_cost.
  double real_share() const override { return real_share_; }
  uint64_t hash() const override { return hash_; }
  void append(uint64_t seed, uint64_t epoch, bool shuffled, const OrderedSample& batch,
              std::vector<OrderedSample>& out) const override;
  // A sample that is not longer.
  int64_t instead(uint64_t seed, uint64_t epoch, int64_t position, uint32_t attempt) const override;

 private:
  size_t run_of(int64_t rank) const;
  int64_t end_of(size_t run) const { return run + 1 < runs_.size() ? runs_[run + 1] : samples(); }
  int64_t rank_at(int64_t position, uint64_t seed, uint64_t epoch, bool shuffled) const;

  std::vector<uint32_t> order_;  // the samples, the longest first: a sample's rank is its place here
  std::vector<int64_t> runs_;    // the first rank of each length
  std::vector<uint32_t> ranks_;  // of batch after batch, before samples of equal length are permuted
  std::vector<int64_t> first_;   // batch b has ranks_[first_[b]] to ranks_[first_[b + 1] - 1]
  double real_share_ = 1;
  uint64_t hash_ = 1;
};

}  // namespace penstock
