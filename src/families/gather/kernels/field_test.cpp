// SPDX-License-Identifier: Apache-2.0
// Random fields: the kernels, as ordinary C++ with fibers for threads, and the functions of the host give what plain
// loops give.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "families/gather/field.h"
#include "pixel/gaussian_windows.h"

namespace penstock::gather {
namespace {

struct FieldCall {
  int32_t height, width;
  float sigma, scale;
  RandomStream draws{12, 345, 6789};

  int32_t radius() const { return static_cast<int32_t>(std::ceil(4 * sigma)); }
  int64_t plane() const { return int64_t{height} * width; }
};

// With zeros around it.
std::vector<float> window_of(const FieldCall& c) {
  std::vector<float> all(static_cast<size_t>(2 * (c.radius() + kFieldRows - 1) + 1));
  if (c.radius() > 0) gaussian_windows(std::span(&c.sigma, 1), 2 * c.radius() + 1, &all[kFieldRows - 1]);
  else all[kFieldRows - 1] = 1;
  return all;
}
std::vector<float> by_plain_loops(const FieldCall& c) {
  const std::vector<float> window = window_of(c);
  const float* weights = &window[kFieldRows - 1];
  const auto n = static_cast<size_t>(2 * c.plane());
  std::vector<float> noise(n), across(n), down(n);
  const int32_t groups = groups_of(c.width);
  const auto at = [&](std::vector<float>& of, int32_t row, int32_t x) -> float& {
    return of[static_cast<size_t>(int64_t{row} * c.width + x)];
  };
  for (int32_t row = 0; row < 2 * c.height; ++row)
    for (int32_t x = 0; x < c.width; ++x)
      at(noise, row, x) = noise_of(noise_block(c.draws, row, groups, x / 256 * 64 + x % 64).word[x % 256 / 64]);
  for (int32_t row = 0; row < 2 * c.height; ++row)
    for (int32_t x = 0; x < c.width; ++x)
      for (int32_t k = 0; k <= 2 * c.radius(); ++k) {
        const int32_t seen = bordered(x - c.radius() + k, c.width, kReflect101);
        at(across, row, x) = fma(weights[k], at(noise, row, seen), at(across, row, x));
      }
  for (int32_t row = 0; row < 2 * c.height; ++row)
    for (int32_t x = 0; x < c.width; ++x) {
      float sum = 0;
      for (int32_t k = 0; k <= 2 * c.radius(); ++k) {
        const int32_t seen = bordered(row % c.height - c.radius() + k, c.height, kReflect101);
        sum = fma(weights[k], at(across, row / c.height * c.height + seen, x), sum);
      }
      at(down, row, x) = sum * c.scale;
    }
  return down;
}
std::vector<float> by_kernels(const FieldCall& c) {
  const std::vector<float> window = window_of(c);
  const auto n = static_cast<size_t>(2 * c.plane());
  std::vector<float> across(n), down(n);
  const FieldRow first{nullptr, across.data(), c.draws, c.height, c.width, c.radius(), 1, {}};
  const FieldRow then{across.data(), down.data(), c.draws, c.height, c.width, c.radius(), c.scale, {}};
  const int64_t parts = (c.width - 1) / kFieldColumns + 1, rows = (c.height - 1) / kFieldRows + 1;
  whole::launch<FieldRow>({first}, {2 * c.height * parts * whole::kThreads}, 2 * whole::kThreads, smooth_across,
                          window.data(), window.size() * sizeof(float));
  whole::launch<FieldRow>({then}, {2 * rows * c.width}, whole::kThreads, smooth_down, window.data(),
                          window.size() * sizeof(float));
  return down;
}

TEST(Field, KernelsAndTheHostGiveWhatPlainLoopsGive) {
  for (const FieldCall& c : {FieldCall{1, 1, 0, 2}, FieldCall{5, 7, 0, 3}, FieldCall{9, 300, 1.3f, 10},
                             FieldCall{33, 41, 20, -4}, FieldCall{6, 1100, 2.5f, 1}, FieldCall{3, 2049, 0.3f, 1}}) {
    const std::vector<float> expected = by_plain_loops(c);
    EXPECT_EQ(expected, by_kernels(c)) << c.height << " x " << c.width;
    const Field field = random_field(c.draws, c.height, c.width, c.sigma, c.scale, host_work());
    EXPECT_EQ(expected, std::vector<float>(field.x, field.x + 2 * c.plane())) << c.height << " x " << c.width;
  }
}

TEST(Field, NoiseIsFromMinusOneToOne) {
  EXPECT_EQ(noise_of(0), -1.0f);
  EXPECT_EQ(noise_of(0x80000000u), 0.0f);
  EXPECT_LT(noise_of(~0u), 1.0f);
}

}  // namespace
}  // namespace penstock::gather
