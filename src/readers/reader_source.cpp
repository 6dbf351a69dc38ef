// SPDX-License-Identifier: Apache-2.0
#include "readers/reader_source.h"

#include <algorithm>
#include <utility>

#include "data/remote.h"

namespace penstock {

ReaderSource::ReaderSource(const ReaderOptions& o) {
  if (o.shard_id >= o.num_shards)
    bad_argument("shard_id must be less than num_shards, got {} of {}", o.shard_id, o.num_shards);
  arguments_.random_shuffle = o.random_shuffle || o.shuffle;
  arguments_.shuffle_after_epoch = o.shuffle_after_epoch;
  arguments_.stick_to_shard = o.stick_to_shard;
  arguments_.pad_last_batch = o.pad_last_batch;
  arguments_.num_shards = static_cast<int32_t>(o.num_shards);
  arguments_.shard_id = static_cast<int32_t>(o.shard_id);
  if (o.deal == "batch") {
    if (o.stick_to_shard)
      bad_argument("stick_to_shard does not go with deal=\"batch\": batches are of the whole data set");
    dealing_ = {std::exchange(arguments_.num_shards, 1), std::exchange(arguments_.shard_id, 0)};
  } else if (o.deal != "sample") {
    bad_argument("deal must be \"sample\" or \"batch\", got \"{}\"", o.deal);
  }
  if (o.seed.given() && *o.seed >= 0) arguments_.seed = *o.seed;
  if (o.shuffle_after_epoch_seed.given()) arguments_.shuffle_after_epoch_seed = *o.shuffle_after_epoch_seed;
  bucketing_ = {o.bucket_by, o.lengths, o.bucket_groups, o.max_cost, o.bucket_width, o.packing_window};
}

void ReaderSource::open(uint64_t seed, int64_t size, uint64_t list_hash) {
  settings_ = order_settings(arguments_, seed, size, list_hash);
  begin(SampleOrder(settings_));
  ranges_of(0, ranges_);
  remote_ = !ranges_.empty() && is_url(ranges_[0].path);
}

ReaderSource::~ReaderSource() {
  if (remote_) RemoteStorage::instance().forget(this);
}

void ReaderSource::begin(SampleOrder order) {
  order_.emplace(std::move(order));
  settings_ = order_->settings();
  cursor_ = ahead_ = order_->begin();
  last_ = false, follows_ = true;
  announced_ = window_ = 0;
  if (remote_) RemoteStorage::instance().forget(this);
}

// Loads the next samples from disk while some megabytes of samples are processed: many, so that records in random
// order have neighbors among them. Files in memory cost nothing: no read waits, and nothing is announced.
void ReaderSource::announce_what_follows(int batch_size, EpochMode mode) {
  constexpr int kStillAfter = 16;                                                         // batches
  constexpr int64_t kBytes = int64_t{64} << 20, kMostSamples = 1 << 14, kFile = 1 << 18;  // bytes that a file may have
  const uint64_t waited = reads_that_waited();
  if (waited != waited_) ahead_batches_ = kStillAfter;
  waited_ = waited;
  if (ahead_batches_ > 0) --ahead_batches_;
  if (announced_ > window_ / 2) return;
  const uint64_t absent = read_ahead_ ? read_ahead_->absent() : 0;
  if (ahead_batches_ == 0 && absent == absent_) {
    announced_ = window_ = 0;
    return;
  }
  absent_ = absent;
  if (announced_ <= 0) ahead_ = cursor_, announced_ = 0;
  const int64_t most =
      std::max<int64_t>(int64_t{2} * batch_size, std::min(kMostSamples, order_->own_length(ahead_.epoch)));
  int64_t bytes = 0;
  ranges_.clear();
  for (size_t counted = 0; announced_ < int64_t{2} * batch_size || (bytes < kBytes && announced_ < most);) {
    if (dealing_.workers > 1) {
      announced_ += announce_round(batch_size, mode);
    } else {
      if (ahead_.taken >= order_->own_length(ahead_.epoch)) ahead_ = {ahead_.epoch + 1, 0};
      if (ahead_.taken >= order_->own_length(ahead_.epoch)) break;  // for a shard without samples
      announced_ += announce(ahead_.epoch, order_->at(ahead_.epoch, ahead_.taken));
      ++ahead_.taken;
    }
    for (; counted < ranges_.size(); ++counted) bytes += ranges_[counted].length < 0 ? kFile : ranges_[counted].length;
  }
  window_ = announced_;
  if (ranges_.empty()) return;
  if (!read_ahead_) read_ahead_ = std::make_unique<ReadAhead>();
  read_ahead_->announce(ranges_);
}

// For remote storage, in large pieces, so that neighbors in a container become one request.
void ReaderSource::ask_for_what_follows(int batch_size, EpochMode mode) {
  constexpr int64_t kMostSamples = 1 << 15, kBytes = int64_t{64} << 20, kFile = 1 << 18;  // bytes that a file may have
  if (announced_ > std::max<int64_t>(window_ / 2, batch_size)) return;                    // until half of it is read
  int64_t bytes = 0;
  ranges_.clear();
  while (announced_ < 2 * batch_size || (bytes < kBytes && announced_ < kMostSamples)) {
    const size_t before = ranges_.size();
    if (dealing_.workers > 1) {
      announced_ += announce_round(batch_size, mode);
    } else if (mode == EpochMode::stream) {
      const OrderedSample s = order_->next(ahead_, unit(batch_size));
      announced_ += announce(ahead_.epoch, s);
    } else {
      if (ahead_.taken >= length(ahead_.epoch, batch_size, mode)) ahead_ = {ahead_.epoch + 1, 0};
      if (length(ahead_.epoch, batch_size, mode) == 0) break;
      announced_ += announce(ahead_.epoch, order_->at(ahead_.epoch, ahead_.taken));
      ++ahead_.taken;
    }
    for (size_t i = before; i < ranges_.size(); ++i) bytes += ranges_[i].length < 0 ? kFile : ranges_[i].length;
  }
  window_ = announced_;
  std::erase_if(ranges_, [](const ByteRange& r) { return !is_url(r.path); });
  RemoteStorage::instance().announce(this, ranges_);
}

void ReaderSource::put(SourceBatch& batch, int i, int64_t index, const std::string& source) const {
  batch.indices[i] = index;
  batch.outputs[0].sample(i).source = source;
  put_known(batch, i, index);
}

// The samples of the next batch, into chosen_.
int ReaderSource::choose(int batch_size, EpochMode mode) {
  if (dealing_.workers > 1) {
    std::vector<Chosen> counted;
    last_ = deal_round(cursor_, batch_size, mode, counted);
    chosen_.clear();
    for (const auto& [epoch, s] : counted) append(epoch, s, chosen_);
    return static_cast<int>(chosen_.size());
  }
  int64_t count = unit(batch_size);
  for (int tries = 0; mode != EpochMode::stream; ++tries) {
    count = std::min<int64_t>(unit(batch_size), length(cursor_.epoch, batch_size, mode) - cursor_.taken);
    if (count > 0) break;
    if (tries > 1) bad_argument("an epoch of this reader has fewer samples than one batch of {}", batch_size);
    cursor_ = {cursor_.epoch + 1, 0};
  }
  chosen_.clear();
  for (int64_t i = 0; i < count; ++i) {
    const OrderedSample s = mode == EpochMode::stream ? order_->next(cursor_, unit(batch_size))
                                                      : order_->at(cursor_.epoch, cursor_.taken++);
    append(cursor_.epoch, s, chosen_);
  }
  last_ = mode != EpochMode::stream && cursor_.taken >= length(cursor_.epoch, batch_size, mode);
  return static_cast<int>(chosen_.size());
}

int ReaderSource::next(SourceBatch& batch, int batch_size, EpochMode mode) {
  if (by_length()) form_batches(batch_size);
  if (remote_ && follows_) ask_for_what_follows(batch_size, mode);
  const int n = choose(batch_size, mode);
  batch.outputs = make_outputs(n);
  batch.indices.resize(n);
  if (batch.primary) batch.origin.resize(n);
  for (int i = 0; i < n; ++i) {
    const auto& [epoch, s] = chosen_[i];
    const int64_t index = index_of(epoch, s);
    SampleOrigin o{epoch, static_cast<uint64_t>(s.position), index, source_of(index)};
    put(batch, i, index, o.path);
    if (batch.primary) batch.origin[i] = std::move(o);
  }
  announced_ -= n;
  if (!remote_ && follows_) announce_what_follows(batch_size, mode);
  return n;
}

int64_t ReaderSource::index_instead(uint64_t epoch, int64_t position, int64_t, uint32_t attempt) const {
  if (formed_) return formed_->instead(settings_.seed, epoch, position, attempt);
  const int64_t other = replacement_position(settings_.seed, epoch, position % settings_.size, attempt, settings_.size);
  return order_->index_at(epoch, other);
}

bool ReaderSource::replace(SourceBatch& batch, int i, uint32_t attempt) {
  SampleOrigin& o = batch.origin[i];
  o.index = index_instead(o.epoch, static_cast<int64_t>(o.position), o.index, attempt);
  o.path = source_of(o.index);
  put(batch, i, o.index, o.path);
  return true;
}

std::optional<ReaderMeta> ReaderSource::meta() const {
  ReaderMeta m;
  m.epoch_size = order_->epoch_size();
  m.epoch_size_padded = order_->epoch_size_padded();
  m.shard_size = order_->shard_size(settings_.shard_id);
  m.number_of_shards = settings_.num_shards, m.shard_id = settings_.shard_id;
  if (dealing_.workers > 1) {
    m.shard_size = -1;  // as many as its batches have
    m.number_of_shards = dealing_.workers, m.shard_id = dealing_.worker, m.deals_batches = true;
  }
  m.pad_last_batch = arguments_.pad_last_batch, m.stick_to_shard = arguments_.stick_to_shard;
  if (!formed_) return m;
  m.epoch_size = m.epoch_size_padded = formed_->samples();
  m.shard_size = -1;  // another one in each epoch
  m.batches = formed_->batches(), m.real_share = formed_->real_share();
  return m;
}

// If epochs are cut, all shards are at the end together, including those with one sample fewer.
std::string ReaderSource::state() const {
  return (last_ ? order_->state_at(cursor_.epoch + 1, 0) : order_->state_at(cursor_.epoch, cursor_.taken)).to_json();
}

void ReaderSource::begin_epoch(const std::string& delivered) {
  ReaderState state{order_->first_epoch(), 0, {}, order_->fingerprint()};
  if (!delivered.empty()) {
    const ReaderState behind = ReaderState::from_json(delivered);
    state.epoch = behind.epoch + (behind.consumed > 0);
  }
  begin(SampleOrder(settings_, std::move(state)));
}

// Equal for all shards, and for every whole epoch.
int64_t ReaderSource::batches_per_epoch(int batch_size, EpochMode mode) const {
  return numbers(batch_size, mode).largest_batches(order_->first_epoch() + 1);
}

int64_t ReaderSource::number_of(uint64_t epoch, int64_t batch, int batch_size, EpochMode mode) const {
  if (!order_->resumed()) return numbers(batch_size, mode).number(epoch, batch);
  const SampleOrder whole(settings_);
  return BatchNumbers(whole, unit(batch_size), mode, dealing_).number(epoch, batch);
}

// In an order of which nothing was taken, whatever the pipeline has resumed from.
void ReaderSource::seek(uint64_t epoch, int64_t batch, int batch_size, EpochMode mode, bool follows) {
  if (by_length()) form_batches(batch_size);
  if (order_->resumed()) begin(SampleOrder(settings_));
  else if (remote_) RemoteStorage::instance().forget(this);
  const BatchNumbers all = numbers(batch_size, mode);
  cursor_ = ahead_ = all.place(all.number(epoch, batch));
  last_ = false, follows_ = follows;
  announced_ = window_ = 0;
}

std::vector<std::optional<Shape>> ReaderSource::fixed_shapes() const {
  std::vector<std::optional<Shape>> shapes;
  for (const Batch& b : make_outputs(1)) shapes.push_back(b.block ? std::optional(b.shape(0)) : std::nullopt);
  return shapes;
}

std::optional<FirstEpoch> ReaderSource::first_epoch() const {
  const uint64_t first = order_->first_epoch();
  if (dealing_.workers > 1) return first_epoch_of_rounds(first);
  return FirstEpoch{order_->length(first), order_->largest_share(first)};
}

void give(Batch& output, int i, Shape shape, const void* data, std::shared_ptr<void> owner) {
  auto& sample = output.sample(i);
  sample.shape = shape;
  sample.data = const_cast<void*>(data);
  sample.owner = std::move(owner);
}

void set_dimensions(Batch& b, DType dtype) {
  if (b.size() == 0) return;
  const int ndim = b.shape(0).size();
  for (int i = 1; i < b.size(); ++i)
    if (b.shape(i).size() != ndim)
      bad_data("one batch has samples of {} and of {} dimensions ({} and {})", ndim, b.shape(i).size(),
               b.sample(0).source, b.sample(i).source);
  if (dtype == DType::none) dtype = b.dtype();
  if (ndim == b.ndim() && dtype == b.dtype()) return;
  Batch right(dtype, ndim, {}, b.size());
  right.block = b.block;
  for (int i = 0; i < b.size(); ++i) right.sample(i) = std::move(b.sample(i));
  b = std::move(right);
}

void settle_type(SourceBatch& batch, int output, const std::function<DType(int64_t)>& type_of) {
  const auto& indices = batch.indices;
  const Batch& named = batch.outputs[0];
  if (named.size() == 0) return;
  const DType first = type_of(indices[0]);
  for (int i = 1; i < named.size(); ++i)
    if (const DType type = type_of(indices[i]); type != first)
      bad_data("one batch has arrays of {} and of {} ({} and {})", name_of(first), name_of(type),
               named.sample(0).source, named.sample(i).source);
  set_dimensions(batch.outputs[output], first);
}

std::string common_folder(std::span<const std::string> paths) {
  std::string common = paths.front();
  for (const auto& p : paths)
    common.resize(
        static_cast<size_t>(std::mismatch(common.begin(), common.end(), p.begin(), p.end()).first - common.begin()));
  const size_t slash = common.rfind('/');
  return slash == std::string::npos ? std::string(".") : common.substr(0, slash + 1);
}

}  // namespace penstock
