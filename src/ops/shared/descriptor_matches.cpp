// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/descriptor_matches.h"

#include <bit>
#include <cstring>

#include "base/target.h"

namespace penstock {
namespace {

constexpr int kRowsAtOnce = 16;         // rows of the target that are compared at once
constexpr int64_t kExactNumbers = 256;  // bytes, or squares of bytes, whose sum float32 holds
#define PENSTOCK_LOOPS descriptors
#define PENSTOCK_LOOPS_TEXT "ops/shared/descriptor_matches.inc.h"
#include "base/foreach_target.h"

// Distances of kRowsTogether rows of the source at a time from all rows of the target.
class Distances {
 public:
  Distances(const void* source, const void* target, const MatchCoef& c)
      : c_(c), source_(source), row_size_((c.targets + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce) {
    bits_.resize(static_cast<size_t>(kRowsTogether * row_size_));
    if (c.norm == kNormHamming) pack_words(source, target);
    else pack_numbers(target);
  }
  // Row r of the result is that of source first + r.
  void compare(int64_t first) {
    if (c_.norm == kNormHamming) {
      for (int r = 0; r < kRowsTogether && first + r < c_.sources; ++r)
        PENSTOCK_FOR_TARGET(target_, descriptors,
                            compare_words(source_words_.data() + (first + r) * words_, target_words_.data(), words_,
                                          c_.targets, bits_.data() + r * row_size_));
      return;
    }
    const float* rows[kRowsTogether];
    std::vector<float>& own = source_rows_;
    own.resize(static_cast<size_t>(kRowsTogether * c_.numbers));
    for (int64_t r = 0; r < kRowsTogether; ++r) {
      const int64_t row = std::min(first + r, c_.sources - 1);
      rows[r] = own.data() + r * c_.numbers;
      for (int64_t d = 0; d < c_.numbers; ++d)
        own[static_cast<size_t>(r * c_.numbers + d)] = number(source_, row * c_.numbers + d);
    }
    PENSTOCK_FOR_TARGET(target_, descriptors, compare_numbers(rows, blocks_.data(), c_, row_size_, bits_.data()));
  }
  const int32_t* row(int r) const { return bits_.data() + r * row_size_; }

 private:
  float number(const void* of, int64_t i) const {
    return c_.bytes ? static_cast<float>(static_cast<const uint8_t*>(of)[i]) : static_cast<const float*>(of)[i];
  }
  void pack_numbers(const void* target) {
    blocks_.assign(static_cast<size_t>(row_size_ * c_.numbers), 0.0f);
    for (int64_t m = 0; m < c_.targets; ++m) {
      float* const to = blocks_.data() + m / kRowsAtOnce * kRowsAtOnce * c_.numbers + m % kRowsAtOnce;
      for (int64_t d = 0; d < c_.numbers; ++d) to[d * kRowsAtOnce] = number(target, m * c_.numbers + d);
    }
  }
  void pack_words(const void* source, const void* target) {
    words_ = (c_.numbers + 7) / 8;
    const auto pack = [&](const void* from, int64_t rows, std::vector<uint64_t>& to) {
      to.assign(static_cast<size_t>(rows * words_), 0);
      for (int64_t i = 0; i < rows && c_.numbers > 0; ++i)
        std::memcpy(to.data() + i * words_, static_cast<const uint8_t*>(from) + i * c_.numbers,
                    static_cast<size_t>(c_.numbers));
    };
    pack(source, c_.sources, source_words_), pack(target, c_.targets, target_words_);
  }

  const MatchCoef c_;
  const void* const source_;
  const int64_t row_size_;
  const Target target_ = best_target();
  std::vector<float> blocks_, source_rows_;
  int64_t words_ = 0;
  std::vector<uint64_t> source_words_, target_words_;
  std::vector<int32_t> bits_;
};

// The `count` least distances, in order.
void least_places(const int32_t* bits, int64_t n, int64_t count, std::vector<std::pair<int32_t, int32_t>>& least) {
  least.clear();
  if (count == 1) {
    const int32_t best = PENSTOCK_FOR_TARGET(best_target(), descriptors, least_of(bits, n));
    least.emplace_back(best, static_cast<int32_t>(std::find(bits, bits + n, best) - bits));
    return;
  }
  for (int64_t m = 0; m < n; ++m) {
    const bool full = static_cast<int64_t>(least.size()) == count;
    if (full && bits[m] >= least.back().first) continue;
    if (full) least.pop_back();
    const std::pair next(bits[m], static_cast<int32_t>(m));
    least.insert(std::upper_bound(least.begin(), least.end(), next), next);
  }
}

}  // namespace

int64_t match_rows(const void* source, const void* target, const MatchCoef& c, bool mutual, int32_t* pairs,
                   float* distances) {
  if (c.sources == 0 || c.targets == 0) return 0;
  Distances from(source, target, c);
  const auto targets = static_cast<size_t>(mutual ? c.targets : 0);
  std::vector<int32_t> best(targets, INT32_MAX), nearest(targets);
  std::vector<std::pair<int32_t, int32_t>> least;
  int64_t found = 0;
  for (int64_t i = 0; i < c.sources; ++i) {
    const int r = static_cast<int>(i % kRowsTogether);
    if (r == 0) from.compare(i);
    const auto number = static_cast<int32_t>(i);
    if (mutual)
      PENSTOCK_FOR_TARGET(best_target(), descriptors,
                          keep_nearer(from.row(r), number, c.targets, best.data(), nearest.data()));
    least_places(from.row(r), c.targets, c.count, least);
    for (const auto& [bits, place] : least) {
      pairs[2 * found] = number, pairs[2 * found + 1] = place;
      distances[found++] = std::bit_cast<float>(bits);
    }
  }
  if (!mutual) return found;
  int64_t kept = 0;
  for (int64_t i = 0; i < found; ++i) {
    if (nearest[static_cast<size_t>(pairs[2 * i + 1])] != pairs[2 * i]) continue;
    pairs[2 * kept] = pairs[2 * i], pairs[2 * kept + 1] = pairs[2 * i + 1];
    distances[kept++] = distances[i];
  }
  return kept;
}

}  // namespace penstock
