// SPDX-License-Identifier: Apache-2.0
#include "cpu/byte_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/intrinsics.h"
#include "pixel/math.h"

namespace penstock {

#define PENSTOCK_LOOPS byte_sums
#define PENSTOCK_LOOPS_TEXT "cpu/byte_sums.inc.h"
#include "base/foreach_target.h"

const ByteSumLoops& byte_sums(Target t) { return PENSTOCK_FOR_TARGET(t, byte_sums, kByteSums); }

// float32 holds integers up to 2^24, so smaller sums are exact in it. Larger ones are rounded once for each tap, and
// once more for the half.
static bool find_doubt(int64_t largest, int taps, SumRounding& r) {
  const int64_t reach = largest + largest / 1024 + (int64_t{1} << r.shift);
  if (reach >= int64_t{1} << 30) return false;
  r.doubt = 0;
  if (largest <= int64_t{1} << 24) return true;
  int64_t error = 1;  // half the distance of numbers in float32
  while (reach >= error << 25) error *= 2;
  const int64_t doubt = (taps + 1) * error;
  if (doubt * 64 > int64_t{1} << r.shift) return false;
  r.doubt = static_cast<int32_t>(doubt);
  return true;
}

bool integer_weights(const TapTable& table, int bits, int stride, std::vector<int16_t>& weight, SumRounding& rounding) {
  if (bits < 1) return false;
  rounding.shift = bits;
  const size_t n = table.first.size();
  weight.assign(n * static_cast<size_t>(stride), 0);
  const auto unit = static_cast<float>(1 << bits);
  int64_t largest = 0;
  for (size_t o = 0; o < n; ++o) {
    int64_t above = 0, below = 0;
    for (int k = 0; k < table.taps; ++k) {
      const float w = table.weight[o * static_cast<size_t>(table.taps) + static_cast<size_t>(k)] * unit;
      if (!(std::abs(w) < 32768.0f) || w != std::floor(w)) return false;
      weight[o * static_cast<size_t>(stride) + static_cast<size_t>(k)] = static_cast<int16_t>(w);
      (w < 0 ? below : above) += std::abs(static_cast<int64_t>(w));
    }
    largest = std::max({largest, 255 * above, 255 * below});
  }
  return find_doubt(largest, table.taps, rounding);
}

namespace {

// The groups of a plan, if pairs of a group are near enough to each other.
void plan_groups(int taps, int lanes, WordPlan& p) {
  p.form = WordPlan::Form::apart;
  if (lanes == 0) return;
  const int64_t groups = (p.count + lanes - 1) / lanes;
  p.pairs = taps / 2 + 1;
  p.base.resize(static_cast<size_t>(groups)), p.index.resize(static_cast<size_t>(groups * lanes));
  int32_t widest = 0;
  for (int64_t g = 0; g < groups; ++g) {
    const auto begin = p.first.begin() + g * lanes, end = p.first.begin() + std::min(p.count, (g + 1) * lanes);
    const int32_t base = *std::min_element(begin, end) / 2;
    p.base[static_cast<size_t>(g)] = base;
    for (int64_t i = 0; i < lanes; ++i) {
      const int32_t index = p.first[static_cast<size_t>(std::min(g * lanes + i, p.count - 1))] / 2 - base;
      p.index[static_cast<size_t>(g * lanes + i)] = index;
      widest = std::max(widest, index);
    }
  }
  if (widest >= 2 * lanes) return;
  p.form = widest + p.pairs <= 2 * lanes ? WordPlan::Form::held : WordPlan::Form::slid;
  p.pair.assign(static_cast<size_t>(groups * p.pairs * lanes), 0);
  for (int64_t o = 0; o < groups * lanes; ++o) {
    const auto from = static_cast<size_t>(std::min(o, p.count - 1));
    int16_t two[2];
    const int16_t* const w = &p.weight[from * static_cast<size_t>(p.stride)];
    const int odd = p.first[from] & 1;
    for (int k = 0; k < p.pairs; ++k) {
      for (int j = 0; j < 2; ++j) {
        const int tap = 2 * k + j - odd;
        two[j] = tap >= 0 && tap < taps ? w[tap] : int16_t{0};
      }
      std::memcpy(&p.pair[static_cast<size_t>((o / lanes * p.pairs + k) * lanes + o % lanes)], two, sizeof(two));
    }
  }
}

}  // namespace

bool plan_words(const TapTable& table, int bits, int64_t origin, int lanes, WordPlan& plan, SumRounding& rounding) {
  plan.count = static_cast<int64_t>(table.first.size());
  plan.stride = (table.taps + 31) / 32 * 32;
  if (!integer_weights(table, bits, plan.stride, plan.weight, rounding)) return false;
  plan.first.resize(table.first.size());
  for (size_t o = 0; o < plan.first.size(); ++o) plan.first[o] = static_cast<int32_t>(table.first[o] - origin);
  if (plan.count > 0) plan_groups(table.taps, lanes, plan);
  return true;
}

}  // namespace penstock
