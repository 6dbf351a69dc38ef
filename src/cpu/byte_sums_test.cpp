// SPDX-License-Identifier: Apache-2.0
// Sums of integers are the bytes that float32 gives: + 0.5, rounded down. Buffers have exactly the promised size, and
// AddressSanitizer watches them.
#include "cpu/byte_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace penstock {
namespace {

struct Filtered {
  TapTable table;
  int bits = 0;
};
Filtered filtered(FilterKind kind, int64_t in, int64_t out) {
  AxisFilter f;
  f.kind = kind, f.hi = static_cast<double>(in), f.out = out, f.border = FilterBorder::cut, f.int16_weights = true;
  Filtered made;
  make_taps(f, in, 0, 1, out, made.table);
  made.bits = axis_taps(f, in).bits;
  return made;
}

// Random bytes; white with black spots, where sums leave the range of bytes and float32 rounds them; bright ones.
std::vector<uint8_t> bytes_of(size_t n, int kind, std::mt19937& random) {
  std::vector<uint8_t> all(n);
  for (uint8_t& b : all) {
    const auto r = static_cast<uint32_t>(random());
    b = static_cast<uint8_t>(kind == 0 ? r : kind == 1 ? (r % 5 ? 255 : 0) : 255 - r % 16);
  }
  return all;
}

template <class At> uint8_t in_float32(const TapTable& t, int64_t o, At at) {
  float s = 0;
  for (int k = 0; k < t.taps; ++k) s = std::fma(t.weight[o * t.taps + k], static_cast<float>(at(t.first[o] + k)), s);
  return static_cast<uint8_t>(std::clamp(std::floor(s + 0.5f), 0.0f, 255.0f));
}

std::vector<Target> targets_of_sums() {
  std::vector<Target> all;
  for (int i = 0; i <= static_cast<int>(best_target()); ++i) all.push_back(static_cast<Target>(i));
  return all;
}

TEST(ByteSumLoops, RowsAreThoseOfFloat32) {
  std::mt19937 random(1);
  int forms[3] = {}, doubts = 0;
  for (const FilterKind kind : {FilterKind::cubic, FilterKind::lanczos3})
    for (const auto& [in, out] : std::vector<std::pair<int64_t, int64_t>>{{1, 1},
                                                                          {2, 9},
                                                                          {9, 2},
                                                                          {33, 16},
                                                                          {64, 31},
                                                                          {100, 224},
                                                                          {220, 100},
                                                                          {300, 100},
                                                                          {333, 100},
                                                                          {500, 50},
                                                                          {901, 61}})
      for (const Target t : targets_of_sums()) {
        const Filtered f = filtered(kind, in, out);
        const ByteSumLoops& sums = byte_sums(t);
        WordPlan plan;
        SumRounding rounding;
        ASSERT_TRUE(plan_words(f.table, f.bits, 0, sums.lanes, plan, rounding));
        ++forms[static_cast<int>(plan.form)], doubts += rounding.doubt > 0;
        for (int kinds = 0; kinds < 3; ++kinds)
          for (const int planes : {1, 3, 4}) {
            std::vector<std::vector<uint8_t>> bytes, results;
            std::vector<std::vector<uint16_t>> words;
            std::vector<const uint16_t*> from;
            std::vector<uint8_t*> to;
            for (int c = 0; c < planes; ++c) {
              bytes.push_back(bytes_of(in, kinds, random));
              words.emplace_back(in + ByteSumLoops::kSlack), results.emplace_back(out + ByteSumLoops::kSlack);
              sums.widen(bytes[c].data(), words[c].data(), in);
            }
            for (int c = 0; c < planes; ++c) from.push_back(words[c].data()), to.push_back(results[c].data());
            sums.horizontal(from.data(), planes, plan, rounding, to.data());
            for (int c = 0; c < planes; ++c)
              for (int64_t o = 0; o < out; ++o)
                ASSERT_EQ(results[c][o], in_float32(f.table, o, [&](int64_t i) { return bytes[c][i]; }))
                    << in << " to " << out << ", target " << static_cast<int>(t) << ", output " << o;
          }
      }
  EXPECT_GT(forms[0] + (best_target() == Target::scalar), 0);
  EXPECT_GT(forms[1] + (best_target() == Target::scalar), 0);
  EXPECT_GT(forms[2], 0);
  EXPECT_GT(doubts, 0);
}

TEST(ByteSumLoops, ColumnsAreThoseOfFloat32) {
  std::mt19937 random(2);
  for (const FilterKind kind : {FilterKind::cubic, FilterKind::lanczos3})
    for (const auto& [in, out] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 3}, {20, 30}, {40, 19}, {90, 20}, {200, 7}})
      for (const int64_t n : {1, 31, 63, 64, 65, 200})
        for (int kinds = 0; kinds < 3; ++kinds) {
          const Filtered f = filtered(kind, in, out);
          const int pairs = (f.table.taps + 1) / 2;
          std::vector<std::vector<uint8_t>> rows;
          for (int64_t i = 0; i < in; ++i) rows.push_back(bytes_of(n, kinds, random));
          std::vector<int16_t> weight;
          SumRounding rounding;
          ASSERT_TRUE(integer_weights(f.table, f.bits, 2 * pairs, weight, rounding));
          for (int64_t o = 0; o < out; ++o) {
            std::vector<const uint8_t*> from;
            for (int k = 0; k < 2 * pairs; ++k)
              from.push_back(rows[f.table.first[o] + std::min(k, f.table.taps - 1)].data());
            std::vector<int32_t> two(pairs);
            for (int k = 0; k < pairs; ++k) {
              const int16_t* w = &weight[o * 2 * pairs + 2 * k];
              two[k] = static_cast<int32_t>(static_cast<uint16_t>(w[0]) |
                                            static_cast<uint32_t>(static_cast<uint16_t>(w[1])) << 16);
            }
            for (const Target t : targets_of_sums()) {
              std::vector<uint8_t> result(n);
              byte_sums(t).vertical(from.data(), two.data(), pairs, rounding, result.data(), n);
              for (int64_t i = 0; i < n; ++i)
                ASSERT_EQ(result[i], in_float32(f.table, o, [&](int64_t r) { return rows[r][i]; })) << in << " " << n;
            }
          }
        }
}

TEST(ByteSumLoops, PixelsBecomePlanesAndPlanesPixels) {
  std::mt19937 random(3);
  for (const Target t : targets_of_sums())
    for (const int64_t n : {1, 15, 16, 17, 50}) {
      const std::vector<uint8_t> pixels = bytes_of(3 * n, 0, random);
      std::vector<uint16_t> words[3];
      std::vector<uint8_t> planes[3], back(3 * n);
      uint16_t* to[3];
      const uint8_t* from[3];
      for (int c = 0; c < 3; ++c)
        words[c].resize(n), planes[c].resize(n), to[c] = words[c].data(), from[c] = planes[c].data();
      byte_sums(t).split_rgb(pixels.data(), to, n);
      for (int64_t i = 0; i < 3 * n; ++i) ASSERT_EQ(words[i % 3][i / 3], pixels[i]);
      for (int c = 0; c < 3; ++c) std::copy(words[c].begin(), words[c].end(), planes[c].begin());
      byte_sums(t).join_rgb(from, back.data(), n);
      ASSERT_EQ(back, pixels);
    }
}

}  // namespace
}  // namespace penstock
