// SPDX-License-Identifier: Apache-2.0
// The order of keypoints as ordinary C++, with fibers for threads, beside a stable sort.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "families/team/kernels/keypoint_lists.h"

namespace penstock::whole {
namespace {

struct Order {
  using Coef = KeypointCoef;
  static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal& refusal) {
    order_keypoints(KeypointLists(a.out[0], c), c, a.in[0], a.to<int64_t>(1), team, refusal);
  }
};

// Keypoints of which many have the same x, the same response, or are the same.
std::vector<Keypoint> some_keypoints(size_t n, std::mt19937& random) {
  std::vector<Keypoint> points;
  const auto below = [&](int most) { return static_cast<float>(random() % static_cast<uint32_t>(most)); };
  for (size_t k = 0; k < n; ++k) {
    if (k > 0 && random() % 3 == 0) {
      points.push_back(points[random() % k]);
      continue;
    }
    const auto octave = static_cast<int32_t>(random() % 3);
    points.push_back({octave, 1, below(40) * 0.25f, below(7), 1 + below(2), 0.1f * below(9), 30 * below(12)});
  }
  return points;
}

struct Ordered {
  std::vector<int64_t> numbers = std::vector<int64_t>(4);
  std::vector<Keypoint> kept;
  Refusal refusal{9};
};
Ordered order(const std::vector<Keypoint>& points, int64_t most, int64_t capacity) {
  Ordered made;
  TeamRow<KeypointCoef> row{};
  row.coef.rule.most_features = most, row.coef.capacity = capacity, row.coef.columns = 40;
  std::vector<std::max_align_t> memory(static_cast<size_t>(KeypointLists::bytes(row.coef)) / sizeof(std::max_align_t) +
                                       1);
  const KeypointLists lists(memory.data(), row.coef);
  lists.counts[0] = static_cast<int32_t>(points.size() / 2), lists.counts[1] = static_cast<int32_t>(points.size());
  std::copy_n(points.data(), std::min(points.size(), static_cast<size_t>(2 * capacity)), lists.turned);
  row.arrays.in[0] = &made, row.arrays.out[0] = memory.data(), row.arrays.out[1] = made.numbers.data();
  row.refusal = &made.refusal;
  launch<TeamRow<KeypointCoef>>({row}, {1}, 1, run_team<Order>);
  for (int64_t k = 0; k < made.numbers[0]; ++k) made.kept.push_back(lists.turned[lists.by_column[k]]);
  if (made.refusal.what == 0) {
    EXPECT_EQ(made.numbers[1], reinterpret_cast<int64_t>(lists.by_column));
    EXPECT_EQ(made.numbers[2], reinterpret_cast<int64_t>(lists.turned));
    EXPECT_EQ(made.numbers[3], reinterpret_cast<int64_t>(&made));
  }
  return made;
}

TEST(Keypoints, AreInOrderOnceEach) {
  std::mt19937 random(7);
  for (const size_t n : {0, 1, 5, 256, 900}) {
    const std::vector<Keypoint> points = some_keypoints(n, random);
    std::vector<Keypoint> want = points;
    std::ranges::sort(want, [](const Keypoint& a, const Keypoint& b) { return order_of(a, b) < 0; });
    const auto same = [](const Keypoint& a, const Keypoint& b) { return order_of(a, b) == 0; };
    want.erase(std::unique(want.begin(), want.end(), same), want.end());
    for (const size_t most : {size_t{0}, size_t{1}, want.size() / 2, want.size(), want.size() + 3}) {
      std::vector<size_t> places(want.size());
      std::iota(places.begin(), places.end(), 0);
      std::ranges::stable_sort(places, [&](size_t a, size_t b) { return want[a].response > want[b].response; });
      if (most > 0 && most < places.size()) places.resize(most);
      std::ranges::sort(places);
      const Ordered made = order(points, static_cast<int64_t>(most), 500);
      ASSERT_EQ(made.refusal.what, 0);
      ASSERT_EQ(made.kept.size(), places.size());
      for (size_t k = 0; k < places.size(); ++k) EXPECT_TRUE(same(made.kept[k], want[places[k]])) << k;
    }
  }
}

TEST(Keypoints, ThatAreTooManyAreRefused) {
  std::mt19937 random(8);
  const std::vector<Keypoint> points = some_keypoints(300, random);
  const Ordered made = order(points, 0, 149);
  EXPECT_EQ(made.refusal.what, 1);
  EXPECT_EQ(made.refusal.whole[0], 149);
  EXPECT_EQ(order(points, 0, 150).refusal.what, 0);
}

}  // namespace
}  // namespace penstock::whole
