// SPDX-License-Identifier: Apache-2.0
// Accuracy against long double, and the special values.
#include "pixel/transcendental.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace penstock {
namespace {

// Distance in units in the last place of the exact result.
double units(double got, long double want) {
  const double w = static_cast<double>(want);
  if (got == w || (std::isnan(got) && std::isnan(w))) return 0;
  const double unit = std::max(std::nextafter(std::fabs(w), INFINITY) - std::fabs(w), 0x1p-1074);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

template <class F, class G>
double worst(F ours, G reference, double lo, double hi, bool logarithmic = false) {
  std::mt19937_64 random(7);
  double most = 0;
  for (int i = 0; i < 200000; ++i) {
    double x = std::uniform_real_distribution<double>(lo, hi)(random);
    if (logarithmic) x = std::exp2(x);
    const double u = units(ours(x), reference(static_cast<long double>(x)));
    if (u > most || std::isnan(u)) most = u;
  }
  return most;
}
#define OURS(f) [](double x) { return f(x); }
#define EXACT(f) [](long double x) { return std::f(x); }

TEST(Transcendental, Accuracy) {
  EXPECT_LE(worst(OURS(exp), EXACT(exp), -700, 700), 1.0);
  EXPECT_LE(worst(OURS(exp), EXACT(exp), -1, 1), 1.0);
  EXPECT_LE(worst(OURS(log), EXACT(log), -1074, 1023, true), 1.0);
  EXPECT_LE(worst(OURS(log), EXACT(log), 0.5, 2), 1.0);
  EXPECT_LE(worst(OURS(log2), EXACT(log2), -1000, 1000, true), 2.0);
  EXPECT_LE(worst(OURS(log2), EXACT(log2), 0.5, 2), 3.0);
  EXPECT_LE(worst(OURS(log10), EXACT(log10), -1000, 1000, true), 2.0);
  EXPECT_LE(worst(OURS(log1p), EXACT(log1p), -60, 60, true), 2.0);
  EXPECT_LE(worst(OURS(atan), EXACT(atan), -40, 40, true), 3.0);
  EXPECT_LE(worst(OURS(asin), EXACT(asin), -1, 1), 4.0);
  EXPECT_LE(worst(OURS(acos), EXACT(acos), -1, 1), 4.0);
  EXPECT_LE(worst(OURS(sinh), EXACT(sinh), -20, 9, true), 4.0);
  EXPECT_LE(worst(OURS(cosh), EXACT(cosh), -20, 9, true), 4.0);
  EXPECT_LE(worst(OURS(tanh), EXACT(tanh), -20, 6, true), 4.0);
  EXPECT_LE(worst(OURS(asinh), EXACT(asinh), -60, 60, true), 4.0);
  EXPECT_LE(worst(OURS(acosh), EXACT(acosh), 1, 30), 4.0);
  EXPECT_LE(worst(OURS(atanh), EXACT(atanh), -60, -0.001, true), 4.0);
  EXPECT_LE(worst(OURS(cbrt), EXACT(cbrt), -1070, 1020, true), 1.0);
}

TEST(Transcendental, SineAndCosineWithinOneUnitOfOne) {
  std::mt19937_64 random(3);
  for (double range : {1.0, 10.0, 1e3, 1e6, 1e9})
    for (int i = 0; i < 100000; ++i) {
      const double x = std::uniform_real_distribution<double>(-range, range)(random);
      ASSERT_NEAR(sin(x), static_cast<double>(std::sin(static_cast<long double>(x))), 0x1p-52) << x;
      ASSERT_NEAR(cos(x), static_cast<double>(std::cos(static_cast<long double>(x))), 0x1p-52) << x;
    }
}

TEST(Transcendental, Power) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::exp2(std::uniform_real_distribution<double>(-20, 20)(random));
    const double y = std::uniform_real_distribution<double>(-40, 40)(random);
    ASSERT_LE(units(pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))), 16.0)
        << x << " " << y;
  }
  for (int n = -64; n <= 64; ++n)
    for (double x : {-3.7, -1.0, 0.3, 2.0})
      ASSERT_LE(units(pow(x, n), std::pow(static_cast<long double>(x), n)), 64.0) << x << " " << n;
}

TEST(Transcendental, Limits) {
  const double inf = kInfinity, nan = __builtin_nan("");
  EXPECT_EQ(exp(inf), inf);
  EXPECT_EQ(exp(-inf), 0);
  EXPECT_TRUE(std::isnan(exp(nan)));
  EXPECT_EQ(log(0.0), -inf);
  EXPECT_EQ(log(inf), inf);
  EXPECT_TRUE(std::isnan(log(-1.0)) && std::isnan(log(nan)));
  EXPECT_EQ(log2(0x1p-1074), -1074);
  for (int k = -1022; k < 1024; k += 37) EXPECT_EQ(log2(std::ldexp(1.0, k)), k);
  EXPECT_TRUE(std::isnan(sin(inf)) && std::isnan(cos(nan)));
  EXPECT_EQ(tanh(inf), 1);
  EXPECT_EQ(tanh(-inf), -1);
  EXPECT_EQ(sinh(inf), inf);
  EXPECT_EQ(sinh(-inf), -inf);
  EXPECT_EQ(cosh(-inf), inf);
  EXPECT_EQ(atan(inf), kPi / 2);
  EXPECT_EQ(atanh(1.0), inf);
  EXPECT_EQ(cbrt(-0.0), 0);
  EXPECT_EQ(cbrt(-inf), -inf);
  for (double y : {-inf, -2.0, -0.0, 0.0, 3.0, inf})
    for (double x : {-inf, -2.0, -0.0, 0.0, 3.0, inf}) {
      EXPECT_EQ(atan2(y, x), std::atan2(y, x)) << y << " " << x;
      EXPECT_EQ(std::signbit(atan2(y, x)), std::signbit(std::atan2(y, x)));
      const double p = std::pow(x, y), q = pow(x, y);
      EXPECT_TRUE(p == q || (std::isnan(p) && std::isnan(q))) << x << " " << y << " " << q;
    }
}

}  // namespace
}  // namespace penstock
