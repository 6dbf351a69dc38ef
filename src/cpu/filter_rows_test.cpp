// SPDX-License-Identifier: Apache-2.0
// The passes read and write only what they may: buffers have exactly the promised size, which AddressSanitizer watches.
#include "cpu/filter_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cpu/convert.h"

namespace penstock {
namespace {

std::vector<Target> targets() {
  std::vector<Target> all;
  for (int i = 0; i <= static_cast<int>(best_target()); ++i) all.push_back(static_cast<Target>(i));
  return all;
}

TEST(FilterRows, TargetsAgreeOnExactBuffers) {
  for (int channels : {1, 2, 3, 4, 5})
    for (int taps = 1; taps <= 11; ++taps)
      for (int64_t n : {1, 3, 4, 7, 16, 33}) {
        std::vector<float> weight(static_cast<size_t>(n * taps)), acc((n + taps - 1) * channels + 3);
        std::vector<int32_t> base(n);
        for (size_t i = 0; i < weight.size(); ++i) weight[i] = std::sin(static_cast<float>(i));
        for (size_t i = 0; i < acc.size(); ++i) acc[i] = std::cos(static_cast<float>(3 * i));
        for (int64_t i = 0; i < n; ++i) base[i] = static_cast<int32_t>((i * 5) % n);
        std::vector<std::vector<float>> expected;
        for (Target t : targets()) {
          std::vector<std::vector<float>> out(channels, std::vector<float>(n));
          std::vector<float*> planes;
          for (auto& p : out) planes.push_back(p.data());
          filter_rows(t).horizontal(acc.data(), channels, base.data(), 1, weight.data(), taps, planes.data(), n);
          if (expected.empty()) expected = out;
          ASSERT_EQ(out, expected) << channels << " " << taps << " " << n;
        }
      }
}

TEST(FilterRows, VerticalSumsGoOn) {
  for (int64_t n : {1, 31, 64, 67, 200}) {
    std::vector<std::vector<uint8_t>> rows(9, std::vector<uint8_t>(n));
    std::vector<const uint8_t*> pointers;
    std::vector<float> weight(9);
    for (int k = 0; k < 9; ++k) {
      for (int64_t i = 0; i < n; ++i) rows[k][i] = static_cast<uint8_t>(k * 31 + i * 7);
      pointers.push_back(rows[k].data());
      weight[k] = 0.1f * static_cast<float>(k + 1);
    }
    for (Target t : targets()) {
      std::vector<float> once(n), twice(n);
      filter_rows(t).vertical_u8(pointers.data(), weight.data(), 9, once.data(), n, false);
      filter_rows(t).vertical_u8(pointers.data(), weight.data(), 4, twice.data(), n, false);
      filter_rows(t).vertical_u8(pointers.data() + 4, weight.data() + 4, 5, twice.data(), n, true);
      ASSERT_EQ(once, twice);
    }
  }
}

TEST(Convert, RgbBytesKeepToTheirBuffers) {
  for (int64_t n : {1, 15, 16, 17, 48, 50}) {
    std::vector<uint8_t> pixels(3 * n), back(3 * n);
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 37);
    for (Target t : targets()) {
      const Conversions& c = conversions(t);
      for (const bool mirrored : {false, true}) {
        std::vector<std::vector<float>> values(3, std::vector<float>(n));
        void* planes[3] = {values[0].data(), values[1].data(), values[2].data()};
        c.load[0][0](mirrored ? pixels.data() + 3 * (n - 1) : pixels.data(), mirrored ? -3 : 3, 1, planes, 3, n);
        for (int64_t i = 0; i < n; ++i)
          for (int k = 0; k < 3; ++k) ASSERT_EQ(values[k][i], pixels[3 * (mirrored ? n - 1 - i : i) + k]);
        c.store[0][0](planes, 3, n, back.data(), 3, 1);
        if (!mirrored) {
          ASSERT_EQ(back, pixels);
        }
      }
      std::vector<float> odd(n, 254.5f), low(n, -3.0f), none(n, NAN);  // half to even, saturated, NaN is 0
      const void* planes[3] = {odd.data(), low.data(), none.data()};
      c.store[0][0](planes, 3, n, back.data(), 3, 1);
      for (int64_t i = 0; i < 3 * n; ++i) ASSERT_EQ(back[i], i % 3 == 0 ? 254 : 0);
    }
  }
}

}  // namespace
}  // namespace penstock
