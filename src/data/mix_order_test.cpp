// SPDX-License-Identifier: Apache-2.0
#include "data/mix_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"

namespace penstock {
namespace {

using Sizes = std::vector<int64_t>;
using Weights = std::vector<double>;

TEST(MixShares, SourceThatDecidesGivesEachSampleOnce) {
  EXPECT_EQ(mix_shares(Sizes{11, 30, 19}, {}, MixStop::first, 0), (Sizes{11, 30, 19}));
  EXPECT_EQ(mix_shares(Sizes{11, 30, 19}, Weights{3, 1, 2}, MixStop::first, 0), (Sizes{11, 4, 7}));
  EXPECT_EQ(mix_shares(Sizes{11, 30, 19}, Weights{3, 1, 2}, MixStop::all, 0), (Sizes{90, 30, 60}));
  EXPECT_EQ(mix_shares(Sizes{70, 30}, Weights{.7, .3}, MixStop::first, 0), (Sizes{70, 30}));
  EXPECT_EQ(mix_shares(Sizes{70, 30}, Weights{.7, .3}, MixStop::all, 0), (Sizes{70, 30}));
}

TEST(MixShares, OfAGivenSizeAddUpToIt) {
  EXPECT_EQ(mix_shares(Sizes{5, 5, 5}, Weights{1, 1, 1}, MixStop::first, 100), (Sizes{34, 33, 33}));
  EXPECT_EQ(mix_shares(Sizes{5, 5}, Weights{1, 1e9}, MixStop::first, 100), (Sizes{0, 100}));
  for (int64_t size : {1, 7, 4096, 1000003})
    for (const Weights& w : {Weights{.1, .2, .7}, Weights{1e-3, 5, 1e3}}) {
      const Sizes shares = mix_shares(Sizes{10, 20, 30}, w, MixStop::all, size);
      EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), int64_t{0}), size);
    }
}

TEST(MixShares, RefusesWeightsThatAreNone) {
  for (const Weights& w : {Weights{1}, Weights{1, 0}, Weights{1, -1}, Weights{1, 0.0 / 0.0}, Weights{1, 1e308 * 10}})
    EXPECT_THROW(mix_shares(Sizes{4, 4}, w, MixStop::first, 0), Error);
  EXPECT_THROW(mix_shares(Sizes{1, 1 << 30}, Weights{1e-9, 1e9}, MixStop::all, 0), Error);
  EXPECT_THROW(MixOrder({4, 4}, {4, 0}), Error);
  EXPECT_THROW(MixOrder({4, 0}, {4, 4}), Error);
  EXPECT_THROW(MixOrder({4, 4}, {int64_t{1} << 40, 1}), Error);
}

// The definition in the header: all elements, sorted by their time.
TEST(MixOrder, CountsAreThoseOfTheSortedElements) {
  for (const Sizes& shares :
       {Sizes{1}, Sizes{1, 1, 1}, Sizes{90, 30, 60}, Sizes{1, 9999}, Sizes{3001, 2999, 7, 4096}}) {
    const MixOrder mix(shares, shares);
    std::vector<std::pair<int64_t, size_t>> elements;
    for (size_t j = 0; j < shares.size(); ++j)
      for (int64_t i = 0; i < shares[j]; ++i) elements.push_back({(2 * i + 1) * mix.size() / (2 * shares[j]), j});
    std::sort(elements.begin(), elements.end());
    Sizes counts(shares.size());
    for (int64_t taken = 0; taken <= mix.size(); ++taken) {
      if (taken % 97 == 0 || taken < 50 || taken > mix.size() - 50) {
        EXPECT_EQ(mix.counts(taken), counts) << taken;
      }
      if (taken < mix.size()) ++counts[elements[taken].second];
    }
  }
}

TEST(MixOrder, EachPassReadsEachSampleOnce) {
  const Sizes sizes{5000, 70, 901}, shares{2500, 300, 2000};
  const MixOrder mix(sizes, shares);
  std::map<std::pair<int, uint64_t>, Sizes> passes;
  for (uint64_t epoch = 0; epoch < 4; ++epoch)
    for (int64_t p = 0; p < mix.size(); ++p) {
      const MixedSample s = mix.at(9, epoch, p);
      passes[{s.source, s.pass}].push_back(s.place);
    }
  for (const auto& [key, places] : passes)  // in order, and complete except the pass in which the last epoch ends
    for (size_t i = 0; i < places.size(); ++i) ASSERT_EQ(places[i], static_cast<int64_t>(i));
  EXPECT_EQ((passes[{0, 1}].size()), 5000u);
  EXPECT_EQ((passes[{1, 16}].size()), 70u);
  EXPECT_EQ((passes[{1, 17}].size()), 10u);
}

TEST(MixOrder, IsAFunctionOfThePositionAlone) {
  const Sizes shares{6000, 3600, 2400};
  const MixOrder mix(shares, shares);
  std::vector<MixedSample> forward;
  for (int64_t p = 0; p < mix.size(); ++p) forward.push_back(mix.at(3, 2, p));
  for (int64_t p = mix.size() - 1; p >= 0; p -= 7) {
    const MixedSample s = mix.at(3, 2, p), other = mix.at(3, p % 5 == 0 ? 1 : 2, p);
    ASSERT_EQ(s.source, forward[p].source);
    ASSERT_EQ(s.place, forward[p].place);
    EXPECT_LT(other.source, 3);
  }
}

TEST(MixOrder, LargestSizesDoNotOverflow) {
  const int64_t half = int64_t{1} << 39;
  const MixOrder mix({half, half, 3}, {half, half - 1, 1});
  const Sizes all = mix.counts(mix.size());
  EXPECT_EQ(all, (Sizes{half, half - 1, 1}));
  const MixedSample s = mix.at(1, 4000000000u, mix.size() - 1);
  EXPECT_LT(s.place, half);
}

}  // namespace
}  // namespace penstock
