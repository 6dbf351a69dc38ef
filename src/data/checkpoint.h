// SPDX-License-Identifier: Apache-2.0
// The position of a reader: a few integers that do not depend on the number of ranks or on the batch size.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

enum class Shuffle {
  none,         // the order of the list
  once,         // one permutation for all epochs
  every_epoch,  // another permutation in each epoch
  dealt,        // the order of the list, dealt to the ranks one by one like a shuffled one
};

// What must be equal for a state to mean the same samples. Number of ranks, batch size and folder may change.
struct OrderFingerprint {
  int64_t size = 0;
  uint64_t seed = 0;
  uint64_t list_hash = 0;
  Shuffle shuffle = Shuffle::none;
  bool stick_to_shard = false;
  uint64_t batches = 0;  // FormedBatches::hash() where size counts batches, else 0
  bool operator==(const OrderFingerprint&) const = default;
};

// A part of an epoch in which `num_shards` ranks took `taken` samples each from contiguous shards.
struct ShardLeg {
  int32_t num_shards = 1;
  int64_t taken = 0;
  bool operator==(const ShardLeg&) const = default;
};

struct ReaderState {
  uint64_t epoch = 0;
  uint64_t consumed =
      0;  // samples (batches, if they are formed by length) that all ranks together have read in this epoch
  std::vector<ShardLeg> legs;  // how, if shards are contiguous; empty if samples are dealt round-robin
  OrderFingerprint fingerprint;
  bool operator==(const ReaderState&) const = default;

  std::string to_json() const;
  // Error (argument) on text that is not such a state. SampleOrder checks whether it fits the data.
  static ReaderState from_json(const std::string& text);
};

// Error (argument) that lists every difference between the state's data and the reader's.
void check_fingerprint(const OrderFingerprint& saved, const OrderFingerprint& now);

}  // namespace penstock
