// SPDX-License-Identifier: Apache-2.0
#include "data/packed_batches.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "data/hash.h"
#include "data/permutation.h"
#include "data/replacement.h"
#include "data/row_packing.h"

namespace penstock {
namespace {

uint64_t hash_of_packing(std::span<const float> lengths, const PackedSettings& s) {
  uint64_t hash = mix64(static_cast<uint64_t>(s.batch_size) ^ mix64(static_cast<uint64_t>(s.window)));
  hash = mix64(hash ^ std::bit_cast<uint32_t>(s.max_cost)) + s.shuffled;
  for (const float x : lengths) hash = mix64(hash ^ std::bit_cast<uint32_t>(x));
  return hash | 1;
}

}  // namespace

PackedBatches::PackedBatches(std::span<const float> lengths, const PackedSettings& s,
                             const std::function<std::string(int64_t)>& name_of) {
  check_lengths(lengths, s.max_cost, name_of);
  hash_ = hash_of_packing(lengths, s);
  order_ = sorted_by_length(lengths, {});
  std::vector<uint32_t> rank(lengths.size());
  for (size_t k = 0; k < order_.size(); ++k) {
    rank[order_[k]] = static_cast<uint32_t>(k);
    if (k == 0 || lengths[order_[k]] != lengths[order_[k - 1]]) runs_.push_back(static_cast<int64_t>(k));
  }
  // Which lengths meet must not depend on the seed: a pipeline that resumes may adopt that of its checkpoint.
  const std::optional<uint64_t> order = s.shuffled ? std::optional<uint64_t>(0) : std::nullopt;
  PackedRows rows = pack_rows(lengths, {s.max_cost, s.window, s.batch_size, order});
  ranks_ = std::move(rows.samples), first_ = std::move(rows.first);
  for (uint32_t& sample : ranks_) sample = rank[sample];
  const double real = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  real_share_ = real / (static_cast<double>(s.max_cost) * static_cast<double>(batches()));
}

size_t PackedBatches::run_of(int64_t rank) const {
  return static_cast<size_t>(std::upper_bound(runs_.begin(), runs_.end(), rank) - runs_.begin()) - 1;
}

int64_t PackedBatches::rank_at(int64_t position, uint64_t seed, uint64_t epoch, bool shuffled) const {
  const int64_t rank = ranks_[static_cast<size_t>(position)];
  if (!shuffled) return rank;
  const size_t run = run_of(rank);
  const int64_t first = runs_[run], size = end_of(run) - first;
  if (size == 1) return rank;
  const Permutation among(size, seed, static_cast<uint32_t>(epoch), static_cast<uint32_t>(run) + 1);
  return first + among(rank - first);
}

void PackedBatches::append(uint64_t seed, uint64_t epoch, bool shuffled, const OrderedSample& batch,
                           std::vector<OrderedSample>& out) const {
  const auto b = static_cast<size_t>(batch.index);
  // A SampleOrder over the batches gives repeated ones the ids from batches() on.
  const int64_t above = batch.repeated ? samples() * (batch.position - batches() + 1) : 0;
  for (int64_t k = first_[b]; k < first_[b + 1]; ++k) {
    const auto rank = static_cast<size_t>(rank_at(k, seed, epoch, shuffled));
    out.push_back({order_[rank], above + k, batch.repeated});
  }
}

int64_t PackedBatches::instead(uint64_t seed, uint64_t epoch, int64_t position, uint32_t attempt) const {
  const int64_t rank = ranks_[static_cast<size_t>(position % samples())];
  const int64_t first = runs_[run_of(rank)];
  const int64_t other = replacement_position(seed, epoch, rank - first, attempt, samples() - first);
  return order_[static_cast<size_t>(first + other)];
}

}  // namespace penstock
