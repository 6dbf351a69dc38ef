// SPDX-License-Identifier: Apache-2.0
#include "data/length_buckets.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "data/hash.h"
#include "data/permutation.h"
#include "data/replacement.h"

namespace penstock {
namespace {

uint64_t hash_of(std::span<const float> lengths, std::span<const int64_t> groups, const BucketSettings& s) {
  uint64_t hash = mix64(static_cast<uint64_t>(s.batch_size));
  for (const float x : {s.max_cost, s.width}) hash = mix64(hash ^ std::bit_cast<uint32_t>(x));
  for (const float x : lengths) hash = mix64(hash ^ std::bit_cast<uint32_t>(x));
  for (const int64_t g : groups) hash = mix64(hash ^ static_cast<uint64_t>(g));
  return hash | 1;
}

int64_t size_of_batches(float longest, const BucketSettings& s) {
  if (s.max_cost <= 0 || longest <= 0) return s.batch_size;
  const float most = std::min(std::floor(s.max_cost / longest), static_cast<float>(s.batch_size));
  auto count = std::clamp(static_cast<int64_t>(most), int64_t{1}, s.batch_size);
  if (count > 1 && static_cast<float>(count) * longest > s.max_cost) --count;  // the quotient was rounded up
  return count;
}

}  // namespace

LengthBuckets::LengthBuckets(std::span<const float> lengths, std::span<const int64_t> groups,
                             const BucketSettings& settings, const std::function<std::string(int64_t)>& name_of) {
  check_lengths(lengths, settings.max_cost, name_of);
  hash_ = hash_of(lengths, groups, settings);
  order_ = sorted_by_length(lengths, groups);
  divide(lengths, groups, settings);
}

void LengthBuckets::divide(std::span<const float> lengths, std::span<const int64_t> groups,
                           const BucketSettings& settings) {
  const int64_t n = samples();
  const auto length = [&](int64_t place) { return lengths[order_[static_cast<size_t>(place)]]; };
  const auto group = [&](int64_t place) { return groups.empty() ? 0 : groups[order_[static_cast<size_t>(place)]]; };
  double real = 0, padded = 0;
  for (int64_t at = 0; at < n;) {
    const float longest = length(at), near = longest * (1 - settings.width), half = std::min(near, longest / 2);
    const Bucket bucket{at, batches_, size_of_batches(longest, settings)};
    int64_t whole = at;  // the end of the last whole batch of samples of near length
    int64_t end = at;
    for (; end < n && group(end) == group(at); ++end) {
      if (length(end) < (whole > at ? near : half)) break;
      if ((end + 1 - at) % bucket.batch_size == 0) whole = end + 1;
    }
    if (whole > at) end = whole;
    for (int64_t i = at; i < end; ++i) real += length(i);
    padded += static_cast<double>(longest) * static_cast<double>(end - at);
    batches_ += (end - at + bucket.batch_size - 1) / bucket.batch_size;
    buckets_.push_back(bucket);
    at = end;
  }
  if (padded > 0) real_share_ = real / padded;
}

size_t LengthBuckets::bucket_of(int64_t Bucket::* first, int64_t number) const {
  const auto after = std::upper_bound(buckets_.begin(), buckets_.end(), number,
                                      [first](int64_t wanted, const Bucket& b) { return wanted < b.*first; });
  return static_cast<size_t>(after - buckets_.begin()) - 1;
}

int64_t LengthBuckets::end_of(size_t bucket) const {
  return bucket + 1 < buckets_.size() ? buckets_[bucket + 1].sample : samples();
}

void LengthBuckets::append(uint64_t seed, uint64_t epoch, bool shuffled, const OrderedSample& batch,
                           std::vector<OrderedSample>& out) const {
  const size_t k = bucket_of(&Bucket::batch, batch.index);
  const Bucket& bucket = buckets_[k];
  const int64_t size = end_of(k) - bucket.sample, first = (batch.index - bucket.batch) * bucket.batch_size;
  const int64_t count = std::min(bucket.batch_size, size - first);
  // A SampleOrder over the batches gives repeated ones the ids from batches() on.
  const int64_t above = batch.repeated ? samples() * (batch.position - batches_ + 1) : 0;
  const Permutation places(shuffled ? size : 0, seed, static_cast<uint32_t>(epoch), static_cast<uint32_t>(k) + 1);
  for (int64_t i = first; i < first + count; ++i) {
    const int64_t place = bucket.sample + (shuffled ? places(i) : i);
    out.push_back({order_[static_cast<size_t>(place)], above + bucket.sample + i, batch.repeated});
  }
}

int64_t LengthBuckets::instead(uint64_t seed, uint64_t epoch, int64_t position, uint32_t attempt) const {
  position %= samples();
  const size_t k = bucket_of(&Bucket::sample, position);
  const int64_t first = buckets_[k].sample;
  const int64_t other = replacement_position(seed, epoch, position - first, attempt, end_of(k) - first);
  return order_[static_cast<size_t>(first + other)];
}

}  // namespace penstock
