// SPDX-License-Identifier: Apache-2.0
#include "data/formed_batches.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace penstock {
namespace {

// Bits that ascend as the length descends.
uint32_t key_of(float length) { return ~std::bit_cast<uint32_t>(length + 0.0f); }  // + 0: there is one zero

// One pass of a stable sort, by 16 bits of the keys.
void sort_by_digit(std::span<const float> lengths, int shift, std::vector<uint32_t>& order,
                   std::vector<uint32_t>& sorted) {
  std::vector<uint32_t> begin(1 << 16);
  const auto digit = [&](uint32_t i) { return key_of(lengths[i]) >> shift & 0xFFFF; };
  for (const uint32_t i : order) ++begin[digit(i)];
  std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), uint32_t{0});
  for (const uint32_t i : order) sorted[begin[digit(i)]++] = i;
  order.swap(sorted);
}

}  // namespace

void check_lengths(std::span<const float> lengths, float max_cost, const std::function<std::string(int64_t)>& name_of) {
  if (lengths.empty() || lengths.size() > UINT32_MAX)
    bad_argument("batches by length are for 1 to 2^32 - 1 samples, got {}", lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (!std::isfinite(lengths[i]) || lengths[i] < 0)
      bad_argument("{} has the length {}: a length is a finite number, not negative", name_of(static_cast<int64_t>(i)),
                   lengths[i]);
    if (max_cost > 0 && lengths[i] > max_cost)
      bad_argument("{} has the length {}, more than max_cost = {}: raise max_cost, or leave out what is longer",
                   name_of(static_cast<int64_t>(i)), lengths[i], max_cost);
  }
}

std::vector<uint32_t> sorted_by_length(std::span<const float> lengths, std::span<const int64_t> groups) {
  std::vector<uint32_t> order(lengths.size()), sorted(lengths.size());
  std::iota(order.begin(), order.end(), uint32_t{0});
  sort_by_digit(lengths, 0, order, sorted);
  sort_by_digit(lengths, 16, order, sorted);
  if (!groups.empty())
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return groups[a] < groups[b]; });
  return order;
}

}  // namespace penstock
