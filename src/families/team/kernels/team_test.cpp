// SPDX-License-Identifier: Apache-2.0
// Teams as ordinary C++, with fibers for threads: sums, least numbers and refusals in the order of the items.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <random>

#include "families/team/kernels/lz4.h"

namespace penstock::whole {
namespace {

// The places of numbers that are not 0; the first negative number is refused.
struct Places {
  struct Coef {
    int64_t n;
  };
  static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal& refusal) {
    const Share own = team.share(c.n);
    int64_t count = 0;
    for (int64_t i = own.begin; i < own.end; ++i) {
      count += a.from<int32_t>(0)[i] != 0;
      if (a.from<int32_t>(0)[i] < 0 && !refusal.what) refusal.what = 1, refusal.whole[0] = i;
    }
    int64_t all = 0, next = team.before(count, all);
    for (int64_t i = own.begin; i < own.end; ++i)
      if (a.from<int32_t>(0)[i] != 0) a.to<int64_t>(0)[next++] = i;
    const int64_t least = team.least(count == 0 ? c.n : own.begin);
    if (team.index == 0) a.to<int64_t>(1)[0] = all, a.to<int64_t>(1)[1] = least;
  }
};

TEST(Teams, KeepTheOrderOfItems) {
  std::mt19937 random(4);
  for (const int64_t n : {0, 1, 7, 255, 256, 257, 5000}) {
    std::vector<int32_t> numbers(static_cast<size_t>(n));
    for (int32_t& v : numbers) v = random() % 3 == 0 ? static_cast<int32_t>(random() % 1000) - 3 : 0;
    std::vector<int64_t> want, got(static_cast<size_t>(n)), totals(2);
    int64_t bad = -1;
    for (int64_t i = 0; i < n; ++i) {
      if (numbers[static_cast<size_t>(i)] != 0) want.push_back(i);
      if (numbers[static_cast<size_t>(i)] < 0 && bad < 0) bad = i;
    }
    Refusal refusal{9};
    TeamRow<Places::Coef> row{};
    row.arrays.in[0] = numbers.data(), row.arrays.out[0] = got.data(), row.arrays.out[1] = totals.data();
    row.refusal = &refusal, row.coef = {n};
    launch<TeamRow<Places::Coef>>({row}, {1}, 1, run_team<Places>);
    got.resize(static_cast<size_t>(totals[0]));
    EXPECT_EQ(got, want);
    EXPECT_EQ(refusal.what, bad < 0 ? 0 : 1);
    if (bad >= 0) {
      EXPECT_EQ(refusal.whole[0], bad);
    }
  }
}

TEST(Teams, MultiplyExactly) {
  std::mt19937_64 random(5);
  for (int k = 0; k < 1000; ++k) {
    const uint64_t a = random(), b = random() >> (k % 64);
    EXPECT_EQ(high_product(a, b), static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64));
  }
}

}  // namespace
}  // namespace penstock::whole
