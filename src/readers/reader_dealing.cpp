// SPDX-License-Identifier: Apache-2.0
// deal="batch": the shards take the batches of one order in turn. The order, its position and its state are those of a
// pipeline without shards that has made whole rounds, a batch for each shard.
#include <algorithm>

#include "readers/reader_source.h"

namespace penstock {

bool ReaderSource::deal_round(SampleOrder::Cursor& at, int batch_size, EpochMode mode,
                              std::vector<Chosen>& counted) const {
  const BatchNumbers all = numbers(batch_size, mode);
  const int64_t size = unit(batch_size), round = size * dealing_.workers, mine = size * dealing_.worker;
  if (mode == EpochMode::stream) {
    SampleOrder::Cursor own = all.after(at, mine);
    for (int64_t i = 0; i < size; ++i) {
      const OrderedSample s = order_->next(own, size);
      counted.push_back({own.epoch, s});
    }
    at = all.after(at, round);
    return false;
  }
  // Whether the shard has a batch where so many of what the order counts are left for all shards.
  const auto some = [&](int64_t left) {
    return mode == EpochMode::drop ? left >= round : mode == EpochMode::even ? left > 0 : left > mine;
  };
  for (int tries = 0; !some(all.length(at.epoch) - at.taken); ++tries) {
    if (tries > 1)
      bad_argument("an epoch of this reader has no batch of {} for shard {} of {}", batch_size, dealing_.worker,
                   dealing_.workers);
    at = {at.epoch + 1, 0};
  }
  const int64_t end = all.length(at.epoch);
  // Another one for a shard without a batch: the last one of the epoch, with ids of its own.
  const int64_t last = at.taken + (end - at.taken - 1) / size * size, first = at.taken + mine;
  const int64_t again = first < end ? 0 : (first - last) / size;
  const int64_t begin = again ? last : first;
  for (int64_t k = begin; k < std::min(end, begin + size); ++k) {
    OrderedSample s = order_->at(at.epoch, k);
    if (again) s.position += again * settings_.size, s.repeated = true;
    counted.push_back({at.epoch, s});
  }
  at.taken = std::min(end, at.taken + round);
  return !some(end - at.taken);
}

int ReaderSource::announce_round(int batch_size, EpochMode mode) {
  std::vector<Chosen> counted;
  deal_round(ahead_, batch_size, mode, counted);
  int samples = 0;
  for (const auto& [epoch, s] : counted) samples += announce(epoch, s);
  return samples;
}

FirstEpoch ReaderSource::first_epoch_of_rounds(uint64_t epoch) const {
  const int64_t size = unit(batch_size_), left = order_->length(epoch);
  const int64_t whole = left / (size * dealing_.workers), rest = left % (size * dealing_.workers);
  const auto samples = [&](int64_t worker) {
    return whole * size + std::clamp(rest - worker * size, int64_t{0}, size);
  };
  return {samples(dealing_.worker), samples(0)};
}

}  // namespace penstock
