// SPDX-License-Identifier: Apache-2.0
// The float32 functions beside those of the C library in float64: over all exponents, near what is hard, and at the
// special values.
#include "pixel/transcendental32.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "pixel/far_angles.h"

namespace penstock {
namespace {

// Distance in units in the last place of the exact result; infinite where only one is a number.
double units_of_float(float got, double want) {
  const float rounded = static_cast<float>(want);
  if (!std::isfinite(got) || !std::isfinite(rounded))
    return got == rounded || (std::isnan(got) && std::isnan(want)) ? 0 : INFINITY;
  const float size = std::fabs(rounded);
  return std::fabs(got - want) / std::max(static_cast<double>(std::nextafter(size, INFINITY)) - size, 0x1p-149);
}

struct WorstFloat {
  double units = 0;
  float at = 0;
};
// Floats from lo to hi and their negatives, evenly over exponents.
template <class F, class G> WorstFloat worst_float(F ours, G exact, float lo, float hi, bool both_signs = true) {
  WorstFloat w;
  const uint32_t first = std::bit_cast<uint32_t>(lo), last = std::bit_cast<uint32_t>(hi);
  const uint32_t step = std::max(1u, (last - first) / 200000);
  for (uint32_t bits = first; bits <= last; bits += step)
    for (float x : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)}) {
      if (x < 0 && !both_signs) continue;
      if (const double u = units_of_float(ours(x), exact(static_cast<double>(x))); u > w.units) w = {u, x};
    }
  return w;
}
#define EXPECT_WITHIN(most, f, ...)                                                                                  \
  {                                                                                                                  \
    const WorstFloat w = worst_float([](float x) { return f(x); }, [](double x) { return std::f(x); }, __VA_ARGS__); \
    EXPECT_LE(w.units, most) << #f " at " << w.at;                                                                   \
  }

TEST(Transcendental32, Accuracy) {
  EXPECT_WITHIN(0.9, exp, 1e-9f, 87.3f);
  EXPECT_WITHIN(1.0, exp, 1e-9f, 120.0f);
  EXPECT_WITHIN(1.0, log, 1e-45f, 3.4e38f, false);
  EXPECT_WITHIN(1.0, log, 0.5f, 2.0f, false);
  EXPECT_WITHIN(1.4, log2, 1e-45f, 3.4e38f, false);
  EXPECT_WITHIN(1.4, log2, 0.5f, 2.0f, false);
  EXPECT_WITHIN(1.2, log10, 1e-45f, 3.4e38f, false);
  EXPECT_WITHIN(1.2, log10, 0.5f, 2.0f, false);
  EXPECT_WITHIN(1.2, sin, 1e-30f, 0x1p17f);
  EXPECT_WITHIN(1.2, cos, 1e-30f, 0x1p17f);
  EXPECT_WITHIN(1.5, tan, 1e-30f, 0x1p17f);
  EXPECT_WITHIN(1.4, atan, 1e-40f, 3.4e38f);
  EXPECT_WITHIN(1.4, atan, 0.3f, 3.0f);
  EXPECT_WITHIN(1.1, asin, 1e-40f, 1.0f);
  EXPECT_WITHIN(1.1, asin, 0.3f, 1.0f);
  EXPECT_WITHIN(1.1, acos, 1e-40f, 1.0f);
  EXPECT_WITHIN(1.1, acos, 0.3f, 1.0f);
  EXPECT_WITHIN(0.9, sinh, 1e-40f, 100.0f);
  EXPECT_WITHIN(0.9, sinh, 0.3f, 3.0f);
  EXPECT_WITHIN(0.9, cosh, 1e-40f, 100.0f);
  EXPECT_WITHIN(1.1, tanh, 1e-40f, 100.0f);
  EXPECT_WITHIN(1.1, tanh, 0.3f, 3.0f);
  EXPECT_WITHIN(1.3, asinh, 1e-40f, 3.4e38f);
  EXPECT_WITHIN(1.5, acosh, 1.0f, 3.4e38f, false);
  EXPECT_WITHIN(1.5, acosh, 1.0f, 3.0f, false);
  EXPECT_WITHIN(1.0, atanh, 1e-40f, 1.0f);
  EXPECT_WITHIN(0.9, cbrt, 1e-45f, 3.4e38f);
}

TEST(Transcendental32, FarAngles) {
  const auto sine =
      worst_float([](float x) { return sin_of_any(x); }, [](double x) { return std::sin(x); }, 0x1p16f, 3.4e38f);
  EXPECT_LE(sine.units, 1.2) << sine.at;
  const auto cosine =
      worst_float([](float x) { return cos_of_any(x); }, [](double x) { return std::cos(x); }, 0x1p16f, 3.4e38f);
  EXPECT_LE(cosine.units, 1.2) << cosine.at;
  const auto tangent =
      worst_float([](float x) { return tan_of_any(x); }, [](double x) { return std::tan(x); }, 0x1p16f, 3.4e38f);
  EXPECT_LE(tangent.units, 1.5) << tangent.at;
  // The floats closest to a multiple of pi / 2.
  for (float x : {16367173.0f * 0x1p72f, 13253251.0f * 0x1p2f, 0x1.6ac5b2p85f}) {
    EXPECT_LE(units_of_float(sin_of_any(x), std::sin(static_cast<double>(x))), 1.2) << x;
    EXPECT_LE(units_of_float(cos_of_any(x), std::cos(static_cast<double>(x))), 1.2) << x;
  }
}

TEST(Transcendental32, PowerAndAngleOfTwo) {
  std::mt19937_64 random(5);
  const auto between = [&](double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(random); };
  const auto powers = [&](double base, double exponent, double most) {
    for (int i = 0; i < 200000; ++i) {
      const float x = static_cast<float>(std::exp2(between(-base, base)));
      const float y = static_cast<float>(between(-exponent, exponent));
      ASSERT_LE(units_of_float(pow(x, y), std::pow(double{x}, double{y})), most) << x << " " << y;
    }
  };
  powers(10, 8, 1.0);
  powers(0.5, 250, 1.5);
  powers(0.2, 700, 1.5);
  powers(0.01, 9000, 1.5);
  powers(126, 1.2, 1.5);  // subnormal results too
  for (int i = 0; i < 400000; ++i) {
    float x = static_cast<float>(std::exp2(between(-40, 40)));
    float y = i & 1 ? x * static_cast<float>(between(0.1, 10)) : static_cast<float>(std::exp2(between(-40, 40)));
    x = i & 2 ? -x : x, y = i & 4 ? -y : y;
    ASSERT_LE(units_of_float(atan2(y, x), std::atan2(double{y}, double{x})), 1.5) << y << " " << x;
  }
}

// All exponents, also where the quotient or the result is subnormal.
TEST(Transcendental32, ExtremePowersAndAnglesOfTwo) {
  std::mt19937_64 random(6);
  const auto any = [&] {
    return std::bit_cast<float>(static_cast<uint32_t>(random() % 0x7F800000u | (random() & 1) << 31));
  };
  for (int i = 0; i < 600000; ++i) {
    float x = any(), y = any();
    if (i % 3 == 1) x = std::ldexp(y, static_cast<int>(random() % 60) - 30);
    if (i % 3 == 2) y = std::ldexp(x, static_cast<int>(random() % 12) - 130);
    ASSERT_LE(units_of_float(atan2(y, x), std::atan2(double{y}, double{x})), 1.5) << y << " " << x;
    x = std::fabs(x);
    if (i & 1)
      y = std::ldexp(static_cast<float>(random() % 100000) * 2e-5f - 1.0f, static_cast<int>(random() % 20) - 6);
    ASSERT_LE(units_of_float(pow(x, y), std::pow(double{x}, double{y})), 1.5) << x << " " << y;
  }
}

// Loops choose by is_plain_power, and a GPU always takes pow.
TEST(Transcendental32, PlainPowersAreThoseOfAny) {
  std::mt19937_64 random(7);
  const float exponents[] = {0.0f, -0.0f, 1.0f, 2.0f, 0.5f, -1.0f, 3e38f, -3e38f, 1e-40f};
  int plain = 0;
  for (int i = 0; i < 400000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const float y =
        i % 4 == 0 ? exponents[random() % std::size(exponents)] : std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!single_precision::is_plain_power(x, y)) continue;
    ++plain;
    ASSERT_EQ(std::bit_cast<uint32_t>(single_precision::pow_plain(x, y)), std::bit_cast<uint32_t>(pow(x, y)))
        << x << " " << y;
  }
  EXPECT_GT(plain, 100000);
}
TEST(Transcendental32, PlainLogarithmsAreThoseOfAny) {
  namespace single = single_precision;
  for (uint64_t bits = 0; bits < 0x100000000u; bits += 9973) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!single::is_plain(x)) continue;
    ASSERT_EQ(single::log_plain(single::natural(), x), log(x)) << x;
    ASSERT_EQ(single::log_plain(single::of_two(), x), log2(x)) << x;
    ASSERT_EQ(single::log_plain(single::of_ten(), x), log10(x)) << x;
  }
}
TEST(Transcendental32, LogarithmsOfWholePowersAreWhole) {
  for (int n = -149; n <= 127; ++n) ASSERT_EQ(log2(std::ldexp(1.0f, n)), static_cast<float>(n));
  for (int n = 0; n <= 10; ++n) ASSERT_EQ(log10(static_cast<float>(std::pow(10.0, n))), static_cast<float>(n)) << n;
}
TEST(Transcendental32, FirstPowerIsTheNumber) {
  for (uint32_t mantissa = 0; mantissa < 1u << 23; mantissa += 37)
    for (const uint32_t exponent : {1u, 126u, 127u, 254u}) {
      const float x = std::bit_cast<float>(exponent << 23 | mantissa);
      ASSERT_EQ(single_precision::pow_plain(x, 1.0f), x);
    }
}

TEST(Transcendental32, PowersOfWholeNumbersAreExact) {
  for (int x = -300; x < 300; ++x)
    for (int n = 0; n < 40; ++n) {
      const double exact = std::pow(x, n);
      if (std::fabs(exact) > 0x1p24) continue;
      ASSERT_EQ(pow(static_cast<float>(x), static_cast<float>(n)), static_cast<float>(exact)) << x << " " << n;
    }
}

#define EXPECT_SPECIAL(f)                                                                                  \
  {                                                                                                        \
    const float got = f(x);                                                                                \
    const double want = std::f(static_cast<double>(x));                                                    \
    EXPECT_LE(units_of_float(got, want), 1.0) << #f "(" << x << ")";                                       \
    EXPECT_TRUE(std::isnan(got) || std::signbit(got) == std::signbit(want)) << #f "(" << x << ") " << got; \
  }

TEST(Transcendental32, SpecialValues) {
  const float values[] = {0.0f,    -0.0f, 1.0f,   -1.0f,       2.0f,       -2.0f,         0.5f,
                          -0.5f,   3.0f,  -3.0f,  INFINITY,    -INFINITY,  std::nanf(""), 1e-40f,
                          -1e-40f, 3e38f, -3e38f, 16777217.0f, 1.0000001f, 0.99999994f};
  for (float x : values) {
    EXPECT_SPECIAL(exp) EXPECT_SPECIAL(log) EXPECT_SPECIAL(log2) EXPECT_SPECIAL(log10) EXPECT_SPECIAL(atan);
    EXPECT_SPECIAL(asin) EXPECT_SPECIAL(acos) EXPECT_SPECIAL(sinh) EXPECT_SPECIAL(cosh) EXPECT_SPECIAL(tanh);
    EXPECT_SPECIAL(asinh) EXPECT_SPECIAL(acosh) EXPECT_SPECIAL(atanh) EXPECT_SPECIAL(cbrt);
    if (is_near(x)) EXPECT_SPECIAL(sin) if (is_near(x)) EXPECT_SPECIAL(cos) if (is_near(x)) EXPECT_SPECIAL(tan);
    for (float y : values) {
      const double power = std::pow(double{x}, double{y}), angle = std::atan2(double{x}, double{y});
      EXPECT_LE(units_of_float(pow(x, y), power), 1.0) << x << " " << y;
      EXPECT_TRUE(std::isnan(power) || std::signbit(pow(x, y)) == std::signbit(power)) << x << " " << y;
      EXPECT_LE(units_of_float(atan2(x, y), angle), 1.5) << x << " " << y;
      EXPECT_TRUE(std::isnan(angle) || std::signbit(atan2(x, y)) == std::signbit(angle)) << x << " " << y;
    }
  }
}

}  // namespace
}  // namespace penstock
