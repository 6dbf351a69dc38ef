// SPDX-License-Identifier: Apache-2.0
// The passes read and write only what they may: buffers have exactly the promised size, and AddressSanitizer watches
// them.
#include "cpu/filter_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
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
          std::vector<float> pixels(static_cast<size_t>(n * channels));
          filter_rows(t).horizontal_to_pixels(acc.data(), channels, base.data(), 1, weight.data(), taps, pixels.data(),
                                              n);
          for (int64_t i = 0; i < n * channels; ++i) ASSERT_EQ(pixels[i], expected[i % channels][i / channels]);
        }
      }
}

TEST(FilterRows, PlannedRowsAreTheSame) {
  int plans = 0, held = 0, narrow = 0;
  for (Target t : targets()) {
    const FilterRows& rows = filter_rows(t);
    if (rows.lanes == 0) continue;
    for (const double scale : {0.3, 1.0, 1.7, 2.4, 4.1, 9.0})
      for (const int step : {1, -1})
        for (const int64_t n : {1, 5, 16, 40}) {
          const int taps = static_cast<int>(2 * scale) + 2;
          const auto columns = static_cast<int64_t>(scale * static_cast<double>(n)) + taps;
          std::vector<std::vector<float>> planes(4, std::vector<float>(columns + 2 * rows.lanes));
          std::vector<float> pixels(4 * columns + 3), weight(n * taps);
          for (int64_t i = 0; i < columns; ++i)
            for (int c = 0; c < 4; ++c) pixels[4 * i + c] = planes[c][i] = std::sin(static_cast<float>(7 * i + c));
          for (size_t i = 0; i < weight.size(); ++i) weight[i] = std::cos(static_cast<float>(i));
          std::vector<int32_t> base(n);
          for (int64_t i = 0; i < n; ++i) {
            base[i] = static_cast<int32_t>(scale * static_cast<double>(i));
            if (step < 0) base[i] = static_cast<int32_t>(columns) - 1 - base[i];
          }
          RowPlan plan;
          plan_row(base.data(), n, step, weight.data(), taps, 1, rows.lanes, plan);
          if (plan.parts == 0) continue;
          ++plans, held += plan.held, narrow += plan.narrow;
          std::vector<std::vector<float>> expected(4, std::vector<float>(n)),
              out(4, std::vector<float>(n + rows.lanes));
          std::vector<float*> to, wanted;
          std::vector<const float*> from;
          for (int c = 0; c < 4; ++c)
            from.push_back(planes[c].data()), to.push_back(out[c].data()), wanted.push_back(expected[c].data());
          filter_rows(Target::scalar)
              .horizontal(pixels.data(), 4, base.data(), step, weight.data(), taps, wanted.data(), n);
          rows.resample_planes(from.data(), 4, plan, step, taps, to.data(), 0, n, false);
          for (int c = 0; c < 4; ++c) {
            out[c].resize(n);
            ASSERT_EQ(out[c], expected[c]) << scale << " " << step << " " << n;
          }
        }
  }
  if (best_target() != Target::scalar) {
    EXPECT_GT(plans, 40);
    EXPECT_GT(held, 1);
    EXPECT_GT(narrow, 10);
    EXPECT_GT(plans - held - narrow, 10);
  }
}

TEST(FilterRows, PixelsArePlannedAsOnePlane) {
  int plans = 0, held = 0, narrow = 0;
  for (Target t : targets()) {
    const FilterRows& rows = filter_rows(t);
    if (rows.lanes == 0) continue;
    for (const double scale : {0.1, 0.5, 0.8, 1.0, 1.4})
      for (const int channels : {2, 3, 4, 7})
        for (const int taps : {1, 2, 4, 6})
          for (const int step : {1, -1})
            for (const int64_t n : {1, 5, 16, 43}) {
              const auto columns = static_cast<int64_t>(scale * static_cast<double>(n)) + taps;
              std::vector<float> acc(columns * channels + 2 * rows.lanes), weight(n * taps);
              for (int64_t i = 0; i < columns * channels; ++i) acc[i] = std::sin(static_cast<float>(7 * i));
              for (size_t i = 0; i < weight.size(); ++i) weight[i] = std::cos(static_cast<float>(i));
              std::vector<int32_t> base(n);
              for (int64_t i = 0; i < n; ++i) {
                base[i] = static_cast<int32_t>(scale * static_cast<double>(i));
                if (step < 0) base[i] = static_cast<int32_t>(columns) - 1 - base[i];
              }
              RowPlan plan;
              plan_row(base.data(), n, step, weight.data(), taps, channels, rows.lanes, plan);
              if (plan.parts == 0) continue;
              ++plans, held += plan.held, narrow += plan.narrow;
              std::vector<float> expected(n * channels), out((n * channels + rows.lanes - 1) / rows.lanes * rows.lanes);
              filter_rows(Target::scalar)
                  .horizontal_to_pixels(acc.data(), channels, base.data(), step, weight.data(), taps, expected.data(),
                                        n);
              const float* const from = acc.data();
              float* const to = out.data();
              rows.resample_planes(&from, 1, plan, step * channels, taps, &to, 0, n * channels, false);
              out.resize(expected.size());
              ASSERT_EQ(out, expected) << scale << " " << channels << " " << taps << " " << step << " " << n;
            }
  }
  if (best_target() != Target::scalar) {
    EXPECT_GT(plans, 300);
    EXPECT_GT(held, 50);
    EXPECT_GT(narrow, 100);
    EXPECT_GT(plans - held - narrow, 50);
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
      filter_rows(t).vertical_u8(pointers.data(), weight.data(), 9, once.data(), n, false, {});
      filter_rows(t).vertical_u8(pointers.data(), weight.data(), 4, twice.data(), n, false, {});
      filter_rows(t).vertical_u8(pointers.data() + 4, weight.data() + 4, 5, twice.data(), n, true, {});
      ASSERT_EQ(once, twice);
    }
  }
}

TEST(FilterRows, VerticalSumsOfShortsAreThoseOfFloats) {
  for (int64_t n : {1, 15, 31, 64, 67, 200}) {
    std::vector<std::vector<uint16_t>> rows(5, std::vector<uint16_t>(n));
    std::vector<std::vector<float>> wide(5, std::vector<float>(n));
    const uint16_t* shorts[5];
    const float* floats[5];
    const float weight[] = {-0.1f, 0.45f, 0.4f, 0.3f, -0.05f};
    for (int k = 0; k < 5; ++k) {
      for (int64_t i = 0; i < n; ++i) wide[k][i] = rows[k][i] = static_cast<uint16_t>(k * 31013 + i * 7919);
      shorts[k] = rows[k].data(), floats[k] = wide[k].data();
    }
    for (Target t : targets()) {
      std::vector<float> of_shorts(n), of_floats(n);
      filter_rows(t).vertical_u16(shorts, weight, 5, of_shorts.data(), n, false, {});
      filter_rows(t).vertical_f32(floats, weight, 5, of_floats.data(), n, false, {});
      ASSERT_EQ(of_shorts, of_floats);
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
        c.store[0][0](planes, 3, n, back.data(), 3, 1, false);
        if (!mirrored) {
          ASSERT_EQ(back, pixels);
        }
      }
      std::vector<float> odd(n, 254.5f), low(n, -3.0f), none(n, NAN);  // half to even, saturated, NaN is 0
      const void* planes[3] = {odd.data(), low.data(), none.data()};
      c.store[0][0](planes, 3, n, back.data(), 3, 1, false);
      for (int64_t i = 0; i < 3 * n; ++i) ASSERT_EQ(back[i], i % 3 == 0 ? 254 : 0);
    }
  }
}

TEST(Convert, FloatPixelsKeepToTheirBuffers) {
  for (int64_t n : {1, 7, 8, 15, 16, 17, 48, 50, 512}) {
    std::vector<float> pixels(3 * n), back(3 * n + 16);
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i) * 0.37f;
    auto* const aligned = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(back.data()) + 63) / 64 * 64);
    for (Target t : targets())
      for (const bool past_caches : {false, true}) {
        const Conversions& c = conversions(t);
        std::vector<std::vector<float>> values(3, std::vector<float>(n));
        void* planes[3] = {values[0].data(), values[1].data(), values[2].data()};
        const int type = static_cast<int>(DType::float32);
        c.load[type][0](pixels.data(), 3, 1, planes, 3, n);
        for (int64_t i = 0; i < 3 * n; ++i) ASSERT_EQ(values[i % 3][i / 3], pixels[i]);
        for (float* to : {aligned, back.data()}) {
          std::fill(back.begin(), back.end(), -1.0f);
          c.store[type][0](planes, 3, n, to, 3, 1, past_caches);
          for (int64_t i = 0; i < 3 * n; ++i) ASSERT_EQ(to[i], pixels[i]);
          ASSERT_EQ(std::count(back.begin(), back.end(), -1.0f), 16);
        }
      }
  }
}

TEST(Convert, PairsOfBytesRoundAndSaturate) {
  const float values[] = {0.5f,  1.5f,   -1.0f, 65535.4f, 65536.0f,  3e9f, -3e9f,
                          1e38f, -1e38f, NAN,   INFINITY, -INFINITY, 7.0f};
  const uint16_t wanted[] = {0, 2, 0, 65535, 65535, 65535, 0, 65535, 0, 0, 65535, 0, 7};
  for (int64_t n : {1, 15, 16, 17, 50})
    for (Target t : targets()) {
      std::vector<float> in(n);
      std::vector<uint16_t> out(n);
      for (int64_t i = 0; i < n; ++i) in[i] = values[i % 13];
      const void* planes[1] = {in.data()};
      conversions(t).store[static_cast<int>(DType::uint16)][0](planes, 1, n, out.data(), 1, 0, n == 50);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out[i], wanted[i % 13]) << in[i];
    }
}

// The limits of integers and what is beyond, in pixels of three bytes.
TEST(Convert, RgbBytesSaturate) {
  const float values[] = {3e9f, -3e9f, 1e38f, -1e38f, NAN, INFINITY, -INFINITY, 255.5f, 0.5f, 2.5f, -0.0f};
  const uint8_t wanted[] = {255, 0, 255, 0, 0, 255, 0, 255, 0, 2, 0};
  const int64_t n = 50;
  for (Target t : targets()) {
    std::vector<float> in[3];
    for (auto& v : in) v.resize(n);
    for (int64_t i = 0; i < 3 * n; ++i) in[i % 3][i / 3] = values[i % 11];
    std::vector<uint8_t> out(3 * n);
    const void* planes[3] = {in[0].data(), in[1].data(), in[2].data()};
    conversions(t).store[static_cast<int>(DType::uint8)][0](planes, 3, n, out.data(), 3, 1, false);
    for (int64_t i = 0; i < 3 * n; ++i) ASSERT_EQ(out[i], wanted[i % 11]) << values[i % 11];
  }
}

}  // namespace
}  // namespace penstock
