// SPDX-License-Identifier: Apache-2.0
// The errors that pixel/float32.h states, against float64.
#include "pixel/float32.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace penstock {
namespace {

double units(float got, double want) {  // in the last place
  const float near = static_cast<float>(want);
  return std::fabs(got - want) /
         (std::nextafter(std::fabs(near), std::numeric_limits<float>::infinity()) - std::fabs(near));
}

TEST(Float32, LogAndExpAreWithinTheirUnits) {
  std::mt19937 random(3);
  double log_error = 0, log10_error = 0, exp_error = 0;
  for (int i = 0; i < 200000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random() % 0x7F800000u));
    const float near = std::uniform_real_distribution<float>(0.5f, 2.0f)(random);
    const float power = std::uniform_real_distribution<float>(-87.0f, 88.7f)(random);
    for (const float v : {x, near}) {
      if (v == 0 || v == 1) continue;
      log_error = std::max(log_error, units(f32::log(v), std::log(double{v})));
      log10_error = std::max(log10_error, units(f32::log10(v), std::log10(double{v})));
    }
    exp_error = std::max(exp_error, units(f32::exp(power), std::exp(double{power})));
  }
  EXPECT_LE(log_error, 2);
  EXPECT_LE(log10_error, 3);
  EXPECT_LE(exp_error, 4);
}

TEST(Float32, SpecialValuesAreThoseOfC) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(f32::log(0.0f), -infinity);
  EXPECT_EQ(f32::log(infinity), infinity);
  EXPECT_TRUE(std::isnan(f32::log(-1.0f)) && std::isnan(f32::log(NAN)) && std::isnan(f32::exp(NAN)));
  EXPECT_EQ(f32::log(1.0f), 0);
  EXPECT_EQ(f32::exp(0.0f), 1);
  EXPECT_EQ(f32::exp(infinity), infinity);
  EXPECT_EQ(f32::exp(-infinity), 0);
}

TEST(Float32, AnglesHaveAnAbsoluteError) {
  std::mt19937 random(5);
  double error = 0, turn_error = 0;
  for (int i = 0; i < 200000; ++i) {
    const float x = std::uniform_real_distribution<float>(-32768, 32768)(random);
    const auto word = static_cast<uint32_t>(random());
    const double angle = word * (2 * M_PI / 4294967296.0);
    error =
        std::max({error, std::fabs(f32::sin(x) - std::sin(double{x})), std::fabs(f32::cos(x) - std::cos(double{x}))});
    turn_error = std::max({turn_error, std::fabs(f32::sin_of_turn(word, 0) - std::sin(angle)),
                           std::fabs(f32::sin_of_turn(word, 1) - std::cos(angle))});
  }
  EXPECT_LE(error, 0x1p-20);
  EXPECT_LE(turn_error, 0x1p-22);
}

TEST(Float32, FractionsKeepTheirDigitsNearOne) {
  for (const uint32_t word :
       {0u, 1u, 7u, 1u << 20, 0x7FFFFFFFu, 0xB504F333u, 0xB504F334u, 0xFFFFFF00u, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
    const double want = std::log1p((word - 4294967295.5) / 4294967296.0);
    EXPECT_NEAR(f32::log_of_fraction(word) / want, 1, 0x1p-21) << word;
  }
}

}  // namespace
}  // namespace penstock
