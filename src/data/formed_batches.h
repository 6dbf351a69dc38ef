// SPDX-License-Identifier: Apache-2.0
// Batches that a reader forms by the lengths of its samples.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/sample_order.h"

namespace penstock {

// How many batches there are, and how many samples each has, is the same in all epochs; which samples meet in a batch
// is a pure function of seed and epoch. A SampleOrder over the numbers of the batches shuffles and deals them.
class FormedBatches {
 public:
  virtual ~FormedBatches() = default;
  virtual int64_t samples() const = 0;
  virtual int64_t batches() const = 0;
  // The share of the lengths in what the batches hold with their padding: the least of any epoch.
  virtual double real_share() const = 0;
  // Of lengths and settings. Never 0.
  virtual uint64_t hash() const = 0;

  // Appends the samples of a batch: OrderedSample::index is its number. The id of a sample is its place in all batches;
  // in a repeated batch it is above that by a multiple of samples(), another one for each repetition.
  virtual void append(uint64_t seed, uint64_t epoch, bool shuffled, const OrderedSample& batch,
                      std::vector<OrderedSample>& out) const = 0;
  // A sample that may stand for the one with this id: the batch keeps its bound.
  virtual int64_t instead(uint64_t seed, uint64_t epoch, int64_t position, uint32_t attempt) const = 0;
};

// Error (argument), with the name of the sample, on a length that is negative, not finite, or above max_cost; 0: no
// bound. And on more samples than 32 bits count, or none.
void check_lengths(std::span<const float> lengths, float max_cost,
                   const std::function<std::string(int64_t sample)>& name_of);

// The numbers of the samples by group, in each the longest first; equal ones in their order.
std::vector<uint32_t> sorted_by_length(std::span<const float> lengths, std::span<const int64_t> groups);

}  // namespace penstock
