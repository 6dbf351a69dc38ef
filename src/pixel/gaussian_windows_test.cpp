// SPDX-License-Identifier: Apache-2.0
#include "pixel/gaussian_windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace penstock {
namespace {

constexpr int kWindows = 75;

std::vector<float> deviations() {
  std::vector<float> sigmas;
  for (int i = 0; i < kWindows; ++i) sigmas.push_back(i % 9 == 0 ? 0.0f : 0.01f * static_cast<float>(i * i));
  sigmas[1] = 1e-20f, sigmas[2] = 1e6f;
  return sigmas;
}

TEST(GaussianWindows, AreTheSameAloneAndTogether) {
  const std::vector<float> sigmas = deviations();
  for (int size : {1, 3, 5, 9, 31, 33, 35, 201}) {
    std::vector<float> together(static_cast<size_t>(size) * kWindows), one(static_cast<size_t>(size));
    gaussian_windows(sigmas, size, together.data());
    for (int i = 0; i < kWindows; ++i) {
      gaussian_windows({&sigmas[static_cast<size_t>(i)], 1}, size, one.data());
      for (int k = 0; k < size; ++k)
        ASSERT_EQ(one[static_cast<size_t>(k)], together[static_cast<size_t>(i * size + k)])
            << "size " << size << ", window " << i << ", weight " << k;
    }
  }
}

TEST(GaussianWindows, AreNormalizedGaussians) {
  const std::vector<float> sigmas = deviations();
  for (int size : {1, 3, 7, 41}) {
    std::vector<float> windows(static_cast<size_t>(size) * kWindows);
    gaussian_windows(sigmas, size, windows.data());
    for (int i = 0; i < kWindows; ++i) {
      const float given = sigmas[static_cast<size_t>(i)];
      const double sigma = given > 0 ? given : static_cast<float>(((size - 1) / 2 - 1) * 0.3 + 0.8);
      double sum = 0;
      for (int k = 0; k < size; ++k) sum += std::exp(-(k - size / 2) * (k - size / 2) / (2 * sigma * sigma));
      for (int k = 0; k < size; ++k) {
        const double expected = std::exp(-(k - size / 2) * (k - size / 2) / (2 * sigma * sigma)) / sum;
        const float weight = windows[static_cast<size_t>(i * size + k)];
        EXPECT_NEAR(weight, expected, 0x1p-24 * expected + 1e-45) << size << ' ' << i;
      }
    }
  }
}

}  // namespace
}  // namespace penstock
