// SPDX-License-Identifier: Apache-2.0
#include "data/sample_order.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace penstock {

// Where contiguous shard `shard` of `shards` begins among `size` samples.
static int64_t shard_start(int64_t size, int64_t shards, int64_t shard) {
  return static_cast<int64_t>(static_cast<__int128>(size) * shard / shards);
}

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// The number of round-robin positions r, r + shards, r + 2 shards ... below size.
static int64_t dealt(int64_t size, int64_t shards, int64_t r) { return size > r ? (size - r - 1) / shards + 1 : 0; }

SampleOrder::SampleOrder(const OrderSettings& settings) : settings_(settings), left_(settings.size) {
  const OrderSettings& s = settings_;
  if (s.num_shards < 1) bad_argument("num_shards must be at least 1, got {}", s.num_shards);
  if (s.shard_id < 0 || s.shard_id >= s.num_shards)
    bad_argument("shard_id must be in [0, num_shards), got {} of {}", s.shard_id, s.num_shards);
  if (s.size >= int64_t{1} << 62) bad_argument("a data set of {} samples is too large", s.size);
  if (s.size < s.num_shards)
    bad_argument("the data set has {} samples, fewer than num_shards = {}", s.size, s.num_shards);
}

SampleOrder::SampleOrder(OrderSettings settings, ReaderState state) : SampleOrder(settings) {
  if (settings.adopt_seed) settings_.seed = state.fingerprint.seed;
  check_fingerprint(state.fingerprint, fingerprint());
  state_ = std::move(state);
  auto damaged = [](const char* what) { bad_argument("the reader's checkpoint is damaged: {}", what); };
  if (!contiguous()) {
    if (!state_.legs.empty()) damaged("it has legs, but samples are dealt round-robin");
    if (state_.consumed > static_cast<uint64_t>(settings_.size)) damaged("more consumed than there are samples");
    left_ = settings_.size - static_cast<int64_t>(state_.consumed);
    return;
  }
  for (const ShardLeg& leg : state_.legs) {
    if (leg.num_shards < 1 || leg.taken < 1 || leg.taken > ceil_div(left_, leg.num_shards))
      damaged("a leg takes more than was left");
    left_before_.push_back(left_);
    const int64_t whole = left_ / leg.num_shards;
    left_ -= leg.taken > whole ? left_ : leg.num_shards * leg.taken;
  }
  if (static_cast<uint64_t>(settings_.size - left_) != state_.consumed) damaged("its legs do not add up to consumed");
}

OrderFingerprint SampleOrder::fingerprint() const {
  return {settings_.size,    settings_.seed,           settings_.list_hash,
          settings_.shuffle, settings_.stick_to_shard, settings_.batches};
}

int64_t SampleOrder::left(uint64_t epoch) const { return resumed(epoch) ? left_ : settings_.size; }

int64_t SampleOrder::slot(uint64_t epoch) const {
  if (!contiguous() || settings_.stick_to_shard) return settings_.shard_id;
  const auto shards = static_cast<uint64_t>(settings_.num_shards);
  return static_cast<int64_t>((static_cast<uint64_t>(settings_.shard_id) + epoch % shards) % shards);
}

SampleOrder::Share SampleOrder::share(uint64_t epoch) const {
  const int64_t start = shard_start(left(epoch), settings_.num_shards, slot(epoch));
  return {start, shard_start(left(epoch), settings_.num_shards, slot(epoch) + 1) - start};
}

uint64_t SampleOrder::first_epoch() const { return state_.epoch + (left(state_.epoch) == 0); }

int64_t SampleOrder::own_length(uint64_t epoch) const {
  return contiguous() ? share(epoch).size : dealt(left(epoch), settings_.num_shards, settings_.shard_id);
}

int64_t SampleOrder::largest_share(uint64_t epoch) const { return ceil_div(left(epoch), settings_.num_shards); }

int64_t SampleOrder::length(uint64_t epoch) const {
  return settings_.epoch_end == EpochEnd::exact ? own_length(epoch) : largest_share(epoch);
}

int64_t SampleOrder::even_length(uint64_t epoch, int64_t batch_size) const {
  const int64_t own = length(epoch), most = largest_share(epoch);
  return ceil_div(own, batch_size) == ceil_div(most, batch_size) ? own : most;
}

int64_t SampleOrder::stream_length(uint64_t epoch, int64_t batch_size) const {
  const int64_t samples = length(epoch);
  return settings_.epoch_end == EpochEnd::repeat_last ? ceil_div(samples, batch_size) * batch_size : samples;
}

int64_t SampleOrder::epoch_size_padded() const {
  const int64_t n = settings_.size, shards = settings_.num_shards;
  return settings_.epoch_end == EpochEnd::repeat_last ? ceil_div(n, shards) * shards : n;
}

int64_t SampleOrder::shard_size(int32_t shard) const {
  const int64_t n = settings_.size, shards = settings_.num_shards;
  return contiguous() ? shard_start(n, shards, shard + 1) - shard_start(n, shards, shard) : dealt(n, shards, shard);
}

// A leg left the samples after the first `taken` of each of its shards. The next leg, or this rank's share, divides
// this rest, in order. So a position in the rest is mapped back leg by leg, the last leg first.
int64_t SampleOrder::through_legs(size_t legs, int64_t place) const {
  for (size_t i = legs; i-- > 0;) {
    const ShardLeg& leg = state_.legs[i];
    int64_t low = 0, high = leg.num_shards;  // the shard whose rest begins at or before place
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      const int64_t before = shard_start(left_before_[i], leg.num_shards, middle) - middle * leg.taken;
      (before <= place ? low : high) = middle;
    }
    place += (low + 1) * leg.taken;
  }
  return place;
}

int64_t SampleOrder::index_at(uint64_t epoch, int64_t position) const {
  const int64_t n = settings_.size;
  if (position < 0 || position >= n) fail(ErrorKind::internal, "position {} of an epoch of {}", position, n);
  if (settings_.shuffle == Shuffle::none || settings_.shuffle == Shuffle::dealt) return position;
  const uint32_t turn = settings_.shuffle == Shuffle::every_epoch ? static_cast<uint32_t>(epoch) : 0;
  if (!settings_.stick_to_shard) return Permutation(n, settings_.seed, turn)(position);
  // Each shard is shuffled within itself. If the number of ranks changes, the epoch still ends in its old order.
  const bool begun = resumed(epoch) && !state_.legs.empty();
  const int64_t shards = begun ? state_.legs.front().num_shards : settings_.num_shards;
  int64_t shard = static_cast<int64_t>(static_cast<__int128>(position) * shards / n);
  while (shard + 1 < shards && shard_start(n, shards, shard + 1) <= position) ++shard;
  const int64_t start = shard_start(n, shards, shard);
  const int64_t size = shard_start(n, shards, shard + 1) - start;
  return start + Permutation(size, settings_.seed, turn, static_cast<uint32_t>(shard) + 1)(position - start);
}

OrderedSample SampleOrder::at(uint64_t epoch, int64_t k) const {
  const int64_t n = settings_.size, shards = settings_.num_shards, own = own_length(epoch), my_slot = slot(epoch);
  const bool exact = settings_.epoch_end == EpochEnd::exact;
  if (k < 0 || k > (int64_t{1} << 62) / shards || left(epoch) == 0 || (exact && k >= largest_share(epoch)))
    fail(ErrorKind::internal, "sample {} of {} in epoch {}", k, own, epoch);
  const int64_t consumed = resumed(epoch) ? static_cast<int64_t>(state_.consumed) : 0;
  const size_t legs = resumed(epoch) ? state_.legs.size() : 0;
  if (k < own) {
    const int64_t position =
        contiguous() ? through_legs(legs, share(epoch).start + k) : consumed + my_slot + k * shards;
    return {index_at(epoch, position), position, false};
  }
  // The choice of the repeated sample must not depend on an interruption of the epoch. So it is computed from this
  // rank's share of the whole epoch, if the number of ranks has not changed.
  const bool repeat_last = settings_.epoch_end == EpochEnd::repeat_last;
  int64_t position;
  if (contiguous()) {
    const bool same = legs > 0 && state_.legs.back().num_shards == shards;
    const int64_t all = same ? left_before_.back() : left(epoch);
    const int64_t start = shard_start(all, shards, my_slot), end = shard_start(all, shards, my_slot + 1);
    const int64_t place = repeat_last                               ? std::max<int64_t>(end, 1) - 1
                          : settings_.stick_to_shard && end > start ? start + (k - own) % (end - start)
                                                                    : (end + (k - own)) % all;
    position = through_legs(legs - same, place);
  } else if (repeat_last) {
    position = consumed + my_slot + (own - 1) * shards;
    if (position < 0) position = n - 1;
  } else {
    position = (consumed + my_slot + k * shards) % n;
  }
  // Ids after the real ones, different on every rank and for every repetition: copies are augmented differently.
  return {index_at(epoch, position), n + (k - own) * shards + my_slot, true};
}

OrderedSample SampleOrder::next(Cursor& cursor, int64_t batch_size) const {
  while (cursor.taken >= stream_length(cursor.epoch, batch_size)) cursor = {cursor.epoch + 1, 0};
  return at(cursor.epoch, cursor.taken++);
}

ReaderState SampleOrder::state_at(uint64_t epoch, int64_t taken) const {
  const int64_t rest = left(epoch), shards = settings_.num_shards, longest = ceil_div(rest, shards);
  ReaderState state{epoch, 0, {}, fingerprint()};
  if (rest == 0 || taken >= longest) {
    state.epoch = epoch + 1;
    return state;
  }
  if (resumed(epoch)) state = state_;
  if (taken <= 0) return state;
  state.consumed += static_cast<uint64_t>(taken) * static_cast<uint64_t>(shards);
  if (!contiguous()) return state;
  // Resuming with the same number of ranks divides the rest as before: one leg.
  if (!state.legs.empty() && state.legs.back().num_shards == shards) state.legs.back().taken += taken;
  else state.legs.push_back({settings_.num_shards, taken});
  return state;
}

OrderSettings order_settings(const ReaderArguments& arguments, uint64_t pipeline_seed, int64_t size,
                             uint64_t list_hash) {
  if (arguments.shuffle_after_epoch && arguments.random_shuffle)
    bad_argument("shuffle_after_epoch and random_shuffle are mutually exclusive: give only one of them");
  if (arguments.shuffle_after_epoch && arguments.stick_to_shard)
    bad_argument("shuffle_after_epoch and stick_to_shard are mutually exclusive: give only one of them");
  auto given = [](std::optional<int64_t> seed) { return seed && *seed >= 0; };
  const auto seed = arguments.shuffle_after_epoch && given(arguments.shuffle_after_epoch_seed)
                        ? arguments.shuffle_after_epoch_seed
                        : arguments.seed;
  const bool shuffled = arguments.random_shuffle || arguments.shuffle_after_epoch;
  return {.size = size,
          .seed = order_seed(seed, pipeline_seed, arguments.num_shards),
          .shuffle = shuffled ? Shuffle::every_epoch : Shuffle::none,
          .epoch_end = arguments.pad_last_batch ? EpochEnd::repeat_last : EpochEnd::exact,
          .num_shards = arguments.num_shards,
          .shard_id = arguments.shard_id,
          .stick_to_shard = arguments.stick_to_shard,
          .list_hash = list_hash,
          .adopt_seed = !given(seed)};
}

uint64_t order_seed(std::optional<int64_t> reader_seed, uint64_t pipeline_seed, int32_t num_shards) {
  if (reader_seed && *reader_seed >= 0) return static_cast<uint64_t>(*reader_seed);
  return num_shards == 1 ? pipeline_seed : 0;
}

}  // namespace penstock
