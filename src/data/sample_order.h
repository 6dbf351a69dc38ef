// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "data/checkpoint.h"
#include "data/permutation.h"

namespace penstock {

// How an epoch ends if the number of ranks does not divide the number of samples.
enum class EpochEnd {
  exact,        // every sample exactly once over all ranks; the lengths of ranks may differ by one
  wrap,         // all ranks get the larger length; samples from the start are repeated
  repeat_last,  // all ranks get the larger length; a rank repeats its last sample (DALI's pad_last_batch=True)
};

struct OrderSettings {
  int64_t size = 0;  // samples in the data set
  uint64_t seed = 0;
  Shuffle shuffle = Shuffle::none;
  EpochEnd epoch_end = EpochEnd::exact;
  int32_t num_shards = 1;
  int32_t shard_id = 0;
  bool stick_to_shard = false;
  uint64_t list_hash = 0;   // FileList::hash() or similar; only compared, when resuming
  uint64_t batches = 0;     // FormedBatches::hash() where size counts batches
  bool adopt_seed = false;  // the user gave no seed for the order: resuming adopts the state's
};

struct OrderedSample {
  int64_t index = 0;     // in the data set
  int64_t position = 0;  // in the global order of the epoch, its id there; repeated samples have ids of size and above
  bool repeated = false;
};

// The k-th sample that this rank gets in an epoch: a pure function of the settings, thread-safe.
//
// Shuffled: the global order of the epoch is dealt round-robin; rank r's k-th sample is position k * num_shards + r.
// Not shuffled, or stick_to_shard: shard s is the contiguous [size * s / num_shards, size * (s + 1) / num_shards);
// without stick_to_shard each rank moves to the next shard in each epoch. See docs/explanation/order.md.
class SampleOrder {
 public:
  explicit SampleOrder(const OrderSettings& settings);
  // Continues where `state` was saved; settings may have another number of ranks. In the state's epoch k counts from
  // there. Error (argument) if the state belongs to other data.
  SampleOrder(OrderSettings settings, ReaderState state);

  const OrderSettings& settings() const { return settings_; }
  OrderFingerprint fingerprint() const;
  bool resumed() const { return state_.consumed > 0; }  // in the middle of an epoch
  bool contiguous() const { return settings_.shuffle == Shuffle::none || settings_.stick_to_shard; }

  // The epoch to begin with: the state's, or the one after it where the state leaves no rank anything.
  uint64_t first_epoch() const;
  // The rank's own samples in the epoch (the rest of it after resuming); and the number including repeated ones.
  int64_t own_length(uint64_t epoch) const;
  int64_t length(uint64_t epoch) const;
  // The same for the rank with the fewest samples, and for the one with the most.
  int64_t smallest_share(uint64_t epoch) const { return left(epoch) / settings_.num_shards; }
  int64_t largest_share(uint64_t epoch) const;
  // length(epoch), plus one repeated sample if this rank would otherwise have fewer batches than others.
  int64_t even_length(uint64_t epoch, int64_t batch_size) const;
  // k >= 0. From length(epoch) on, further repeated samples, which can fill a last batch. For EpochEnd::exact,
  // k must be less than largest_share(epoch).
  OrderedSample at(uint64_t epoch, int64_t k) const;
  // The data set's sample at a position of the epoch's global order, to replay or replace one sample.
  int64_t index_at(uint64_t epoch, int64_t position) const;

  // Samples of the epoch in a stream that is cut into batches of batch_size: length(epoch). For EpochEnd::repeat_last,
  // plus the repeated ones that complete the last batch, so that no batch has samples of two epochs (as DALI pads).
  int64_t stream_length(uint64_t epoch, int64_t batch_size) const;
  // The endless stream: one epoch after the other.
  struct Cursor {
    uint64_t epoch = 0;
    int64_t taken = 0;
  };
  Cursor begin() const { return {first_epoch(), 0}; }
  OrderedSample next(Cursor& cursor, int64_t batch_size = 1) const;

  // The state after this rank received `taken` samples of the epoch (since resuming, if it is the state's epoch).
  // All ranks get the same state, with one exception: in the last round of an exact epoch, ranks with the shorter share
  // lag. Then save the state of a rank that still got a sample, or state_at(epoch + 1, 0) when the epoch is over.
  ReaderState state_at(uint64_t epoch, int64_t taken) const;

  // As DALI's reader_meta() counts them: over all ranks, without and with padding.
  int64_t epoch_size() const { return settings_.size; }
  int64_t epoch_size_padded() const;
  // Samples of the shard in a whole epoch, without repeated ones.
  int64_t shard_size(int32_t shard) const;

 private:
  struct Share {
    int64_t start = 0, size = 0;
  };
  bool resumed(uint64_t epoch) const { return epoch == state_.epoch && state_.consumed > 0; }
  int64_t left(uint64_t epoch) const;                      // samples of the epoch left for all ranks
  int64_t slot(uint64_t epoch) const;                      // the shard that this rank reads in the epoch
  Share share(uint64_t epoch) const;                       // this rank's contiguous part of the rest
  int64_t through_legs(size_t legs, int64_t place) const;  // maps a place in the rest after `legs` legs to a position

  OrderSettings settings_;
  ReaderState state_;
  std::vector<int64_t> left_before_;  // per leg of the state: samples left when it began
  int64_t left_ = 0;                  // samples left in the state's epoch
};

// A reader's arguments that determine its order, as the user gives them; -1 or none: the seed was not given.
struct ReaderArguments {
  bool random_shuffle = false;
  bool shuffle_after_epoch = false;
  bool stick_to_shard = false;
  bool pad_last_batch = false;
  int32_t num_shards = 1;
  int32_t shard_id = 0;
  std::optional<int64_t> seed = {};
  std::optional<int64_t> shuffle_after_epoch_seed = {};
};
// Settings for `size` samples; the epoch ends exact unless pad_last_batch. Error (argument) if shuffle_after_epoch
// is combined with random_shuffle or stick_to_shard.
OrderSettings order_settings(const ReaderArguments& arguments, uint64_t pipeline_seed, int64_t size,
                             uint64_t list_hash);

// The seed of a reader's order. All ranks must use the same one, but scripts often give each rank's pipeline its own
// seed. So with several shards the pipeline's seed is not used; a reader without a seed uses a fixed one.
uint64_t order_seed(std::optional<int64_t> reader_seed, uint64_t pipeline_seed, int32_t num_shards);

}  // namespace penstock
