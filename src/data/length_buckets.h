// SPDX-License-Identifier: Apache-2.0
// Batches of samples of near length, whose cost has a bound.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/formed_batches.h"

namespace penstock {

struct BucketSettings {
  int64_t batch_size = 1;  // the most samples of a batch
  float max_cost = 0;      // the most that the longest sample times the number of samples may be; 0: no bound
  float width = .05f;      // of a bucket: how much shorter than its longest sample the others may be
};

// Divides samples into buckets and those into batches.
//
// The samples are sorted by length, the longest first. A bucket begins with the longest sample that is left, which
// decides how many samples a batch of the bucket has: batch_size, or fewer so that they times its length are within
// max_cost. It takes the samples that are at most `width` shorter, as many as fill whole batches. If they do not fill
// one, it takes samples of half the length too; where there are none the batch has fewer samples: to fill it up with
// much shorter ones costs more padding than a further batch. In each epoch the samples of a bucket are permuted. The
// numbers of the batches count through the buckets.
class LengthBuckets final : public FormedBatches {
 public:
  // groups: empty, or a number for each sample: a batch has samples of one group. Error (argument), with the name of
  // the sample, on a length that is negative, not finite, or above max_cost.
  LengthBuckets(std::span<const float> lengths, std::span<const int64_t> groups, const BucketSettings& settings,
                const std::function<std::string(int64_t sample)>& name_of);

  int64_t samples() const override { return static_cast<int64_t>(order_.size()); }
  int64_t batches() const override { return batches_; }
  // Of batches that are padded to the longest sample of their bucket.
  double real_share() const override { return real_share_; }
  uint64_t hash() const override { return hash_; }
  void append(uint64_t seed, uint64_t epoch, bool shuffled, const OrderedSample& batch,
              std::vector<OrderedSample>& out) const override;
  // A sample of the same bucket.
  int64_t instead(uint64_t seed, uint64_t epoch, int64_t position, uint32_t attempt) const override;

 private:
  struct Bucket {
    int64_t sample = 0, batch = 0;  // the first ones
    int64_t batch_size = 1;
  };
  size_t bucket_of(int64_t Bucket::* first, int64_t number) const;  // the one that a batch or a sample is in
  int64_t end_of(size_t bucket) const;                              // the sample after its last one
  void divide(std::span<const float> lengths, std::span<const int64_t> groups, const BucketSettings& settings);

  std::vector<uint32_t> order_;  // the samples, sorted
  std::vector<Bucket> buckets_;
  int64_t batches_ = 0;
  double real_share_ = 1;
  uint64_t hash_ = 1;
};

}  // namespace penstock
