// SPDX-License-Identifier: Apache-2.0
// Batches by length of a reader: where the lengths come from, and what the order then counts.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/progress.h"
#include "data/length_buckets.h"
#include "data/packed_batches.h"
#include "data/remote_client.h"
#include "readers/npy_numbers.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

int64_t bytes_of(const ByteRange& range) {
  if (range.length >= 0) return range.length;
  if (is_url(range.path))
    fail_on(range.path, ErrorKind::argument,
            "the sizes of remote files are not known: give lengths for bucket_by=\"bytes\"");
  std::error_code error;
  const auto bytes = std::filesystem::file_size(range.path, error);
  if (error) fail_with_errno(range.path, "cannot find its size", error.value());
  return static_cast<int64_t>(bytes) - range.offset;
}

}  // namespace

std::vector<float> ReaderSource::lengths_by(const std::string& what) const {
  if (what.ends_with(".npy")) {
    NpyNumbers numbers = read_npy_numbers(what);
    if (numbers.shape.size() != 1)
      fail_on(what, ErrorKind::data, "lengths have one dimension, this array has {}", numbers.shape.size());
    return std::move(numbers.values);
  }
  if (what != "bytes")
    bad_argument("bucket_by must be {} or the path of an .npy file with a length for each sample, got \"{}\"",
                 names_of_lengths(), what);
  std::vector<float> lengths(static_cast<size_t>(settings_.size));
  std::vector<ByteRange> ranges;
  Progress progress("sizes of samples", "file", settings_.size);
  for (int64_t i = 0; i < settings_.size; ++i) {
    ranges.clear();
    ranges_of(i, ranges);
    int64_t bytes = 0;
    for (const ByteRange& r : ranges) bytes += bytes_of(r);
    lengths[static_cast<size_t>(i)] = static_cast<float>(bytes);
    progress.add(1);
  }
  return lengths;
}

void ReaderSource::form_groups(std::vector<float> lengths, std::vector<int64_t> groups) {
  if (by_length() || !bucketing_.groups.empty())
    bad_argument("this reader finds lengths and groups by itself: omit bucket_by, lengths and bucket_groups");
  bucketing_.lengths = std::move(lengths), bucketing_.groups = std::move(groups);
}

void ReaderSource::set_batch_size(int batch_size) {
  batch_size_ = batch_size;
  if (by_length()) {
    check_bucketing();
    form_batches(batch_size);
  } else if (bucketing_.window > 0 || bucketing_.max_cost > 0 || !bucketing_.groups.empty()) {
    bad_argument("{} needs the lengths of the samples: give bucket_by or lengths",
                 !bucketing_.groups.empty() ? "bucket_groups"
                 : bucketing_.window > 0    ? "packing_window"
                                            : "max_cost");
  }
}

void ReaderSource::check_bucketing() const {
  if (!bucketing_.bucket_by.empty() && !bucketing_.lengths.empty())
    bad_argument("bucket_by and lengths both give lengths: give one");
  if (arguments_.stick_to_shard)
    bad_argument("stick_to_shard does not go with batches by length: their samples are from the whole data set");
  if (bucketing_.window == 0) return;
  if (bucketing_.max_cost <= 0) bad_argument("packing_window needs max_cost, the length of a row");
  if (!bucketing_.groups.empty())
    bad_argument("packing_window and bucket_groups are mutually exclusive: the samples of a row are not of one group");
}

// Moved out of the settings: they are needed once.
std::vector<float> ReaderSource::checked_lengths() {
  std::vector<float> lengths =
      bucketing_.lengths.empty() ? lengths_by(bucketing_.bucket_by) : std::exchange(bucketing_.lengths, {});
  const auto check = [&](const char* what, size_t count) {
    if (count != static_cast<size_t>(settings_.size))
      bad_argument("{} has {} numbers, but there are {} samples", what, count, settings_.size);
  };
  check(bucketing_.bucket_by.empty() ? "lengths" : bucketing_.bucket_by.c_str(), lengths.size());
  if (!bucketing_.groups.empty()) check("bucket_groups", bucketing_.groups.size());
  return lengths;
}

// From here on the order counts batches, dealt to the shards one by one.
void ReaderSource::form_batches(int batch_size) {
  if (formed_) return;
  const std::vector<float> lengths = checked_lengths();
  const auto name_of = [&](int64_t i) { return source_of(i); };
  const Bucketing& b = bucketing_;
  if (b.window > 0) {
    const PackedSettings packed{batch_size, b.max_cost, b.window, settings_.shuffle != Shuffle::none};
    formed_ = std::make_unique<PackedBatches>(lengths, packed, name_of);
  } else {
    const BucketSettings buckets{batch_size, b.max_cost, b.width};
    formed_ = std::make_unique<LengthBuckets>(lengths, b.groups, buckets, name_of);
  }
  if (formed_->batches() < settings_.num_shards)
    bad_argument(
        "the data set has {} batches by length, fewer than num_shards = {}: a smaller max_cost or batch size "
        "makes more",
        formed_->batches(), settings_.num_shards);
  OrderSettings settings = settings_;
  settings.size = formed_->batches(), settings.batches = formed_->hash();
  if (settings.shuffle == Shuffle::none) settings.shuffle = Shuffle::dealt;
  begin(SampleOrder(settings));
}

void ReaderSource::append(uint64_t epoch, const OrderedSample& counted, std::vector<Chosen>& samples) const {
  if (!formed_) {
    samples.push_back({epoch, counted});
    return;
  }
  std::vector<OrderedSample> batch;
  formed_->append(settings_.seed, epoch, settings_.shuffle == Shuffle::every_epoch, counted, batch);
  for (const OrderedSample& s : batch) samples.push_back({epoch, s});
}

int ReaderSource::announce(uint64_t epoch, const OrderedSample& counted) {
  if (!formed_) {
    ranges_of(index_of(epoch, counted), ranges_);
    return 1;
  }
  std::vector<Chosen> samples;
  append(epoch, counted, samples);
  for (const Chosen& c : samples) ranges_of(index_of(c.epoch, c.sample), ranges_);
  return static_cast<int>(samples.size());
}

}  // namespace penstock
