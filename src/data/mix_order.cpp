// SPDX-License-Identifier: Apache-2.0
#include "data/mix_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "data/permutation.h"

namespace penstock {

using Wide = __int128;
constexpr int64_t kMostSamples = int64_t{1} << 40;

std::vector<int64_t> mix_shares(std::span<const int64_t> sizes, std::span<const double> weights, MixStop stop,
                                int64_t epoch_size) {
  if (!weights.empty() && weights.size() != sizes.size())
    bad_argument("{} weights for {} sources", weights.size(), sizes.size());
  for (const double w : weights)
    if (!(w > 0) || !std::isfinite(w)) bad_argument("weights must be positive numbers, got {}", w);
  if (epoch_size < 0 || epoch_size > kMostSamples) bad_argument("an epoch cannot have {} samples", epoch_size);
  const auto weight = [&](size_t j) { return weights.empty() ? static_cast<double>(sizes[j]) : weights[j]; };
  std::vector<int64_t> shares(sizes.begin(), sizes.end());
  if (epoch_size > 0) {
    double total = 0;
    for (size_t j = 0; j < sizes.size(); ++j) total += weight(j);
    std::vector<double> rest(sizes.size());
    int64_t left = epoch_size;
    for (size_t j = 0; j < sizes.size(); ++j) {
      const double quota = static_cast<double>(epoch_size) * (weight(j) / total);
      shares[j] = std::min(static_cast<int64_t>(quota), left);
      rest[j] = quota - static_cast<double>(shares[j]);
      left -= shares[j];
    }
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rest[a] > rest[b]; });
    for (size_t k = 0; left > 0; ++k, --left) ++shares[order[k % order.size()]];
    return shares;
  }
  if (weights.empty()) return shares;
  size_t deciding = 0;
  const auto passes = [&](size_t j) { return static_cast<double>(sizes[j]) / weights[j]; };
  for (size_t j = 1; j < sizes.size(); ++j)
    if (stop == MixStop::first ? passes(j) < passes(deciding) : passes(j) > passes(deciding)) deciding = j;
  for (size_t j = 0; j < sizes.size(); ++j) {
    if (j == deciding) continue;
    const double share = static_cast<double>(sizes[deciding]) * weights[j] / weights[deciding];
    if (share > static_cast<double>(kMostSamples))
      bad_argument("the weights are too far apart: {} and {}", weights[j], weights[deciding]);
    const auto rounded = static_cast<int64_t>(std::llround(share));
    shares[j] = stop == MixStop::first ? std::min(rounded, sizes[j]) : std::max(rounded, sizes[j]);
  }
  return shares;
}

MixOrder::MixOrder(std::vector<int64_t> sizes, std::vector<int64_t> shares)
    : sizes_(std::move(sizes)), shares_(std::move(shares)) {
  if (sizes_.empty() || sizes_.size() > INT16_MAX) bad_argument("a mix cannot have {} sources", sizes_.size());
  for (size_t j = 0; j < sizes_.size(); ++j) {
    if (sizes_[j] < 1) bad_argument("source {} has no samples", j);
    if (shares_[j] < 1) bad_argument("the weight of source {} is so small that an epoch has none of its samples", j);
    if (shares_[j] > kMostSamples - size_) bad_argument("an epoch has more than {} samples", kMostSamples);
    size_ += shares_[j];
  }
}

std::vector<int64_t> MixOrder::counts(int64_t taken) const {
  // Times are rounded down to integers. A source has at most one element at each time; at equal times, the first source
  // comes first.
  const auto before = [&](size_t j, int64_t time) {
    return static_cast<int64_t>((2 * Wide{shares_[j]} * time + size_ - 1) / (2 * Wide{size_}));
  };
  const auto all_before = [&](int64_t time) {
    int64_t sum = 0;
    for (size_t j = 0; j < shares_.size(); ++j) sum += before(j, time);
    return sum;
  };
  int64_t low = 0, high = size_ + 1;  // the latest time with at most `taken` elements before it
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (all_before(middle) <= taken ? low : high) = middle;
  }
  std::vector<int64_t> counts(shares_.size());
  int64_t left = taken;
  for (size_t j = 0; j < counts.size(); ++j) left -= counts[j] = before(j, low);
  for (size_t j = 0; j < counts.size() && left > 0; ++j)
    if (before(j, low + 1) > counts[j]) ++counts[j], --left;
  return counts;
}

MixOrder::Block MixOrder::made(uint64_t seed, uint64_t epoch, int64_t number) const {
  const int64_t begin = number * kBlock, end = std::min(size_, begin + kBlock);
  Block b{seed, epoch, number, {}, {}};
  std::vector<int64_t> next = counts(begin);
  const std::vector<int64_t> after = counts(end);
  std::vector<int16_t> in_order;
  for (size_t j = 0; j < next.size(); ++j) in_order.insert(in_order.end(), after[j] - next[j], static_cast<int16_t>(j));
  // Stream 0 belongs to the orders of the sources.
  const Permutation shuffled(end - begin, seed, static_cast<uint32_t>(epoch), static_cast<uint32_t>(number + 1));
  for (int64_t k = 0; k < end - begin; ++k) {
    const int16_t j = in_order[shuffled(k)];
    b.sources.push_back(j);
    b.places.push_back(next[j]++);
  }
  return b;
}

MixedSample MixOrder::at(uint64_t seed, uint64_t epoch, int64_t position) const {
  if (position < 0 || position >= size_)
    fail(ErrorKind::internal, "position {} of a mixed epoch of {}", position, size_);
  const int64_t number = position / kBlock;
  std::lock_guard lock(mutex_);
  const auto known = std::find_if(recent_.begin(), recent_.end(), [&](const Block& b) {
    return b.seed == seed && b.epoch == epoch && b.number == number;
  });
  if (known != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, known);
  } else {
    recent_.push_front(made(seed, epoch, number));
    if (recent_.size() > kMostBlocks) recent_.pop_back();
  }
  const Block& b = recent_.front();
  const int j = b.sources[position % kBlock];
  const Wide read = Wide{shares_[j]} * static_cast<int64_t>(epoch) + b.places[position % kBlock];
  return {j, static_cast<uint64_t>(read / sizes_[j]), static_cast<int64_t>(read % sizes_[j])};
}

}  // namespace penstock
