// SPDX-License-Identifier: Apache-2.0
// The family on the CPU equals its twin, in every type, filter, border and target, wherever a map leads.
#include "families/gather/test_maps.h"
//
#include <cmath>
#include <limits>

#include "base/intrinsics.h"
#include "families/gather/kept_pixels.h"

namespace penstock::gather {
namespace {

const std::vector<Target>& targets() {
  static const auto* all = new std::vector<Target>([] {
    std::vector<Target> found;
    for (const Target t : {Target::scalar, Target::avx2, Target::avx512})
      if (t <= best_target()) found.push_back(t);
    return found;
  }());
  return *all;
}

template <class T> void compare(std::mt19937& random, const GuardedMemory& memory) {
  const Call c(random);
  const auto outputs = c.xs.size();
  const size_t elements = c.elements();
  ASSERT_LE(elements * sizeof(T), memory.size());
  for (const bool at_the_end : {true, false}) {
    T* in = reinterpret_cast<T*>(at_the_end ? memory.last(elements * sizeof(T)) : memory.first());
    for (size_t i = 0; i < elements; ++i) in[i] = random_element<T>(random);
    for (const Target target : targets()) {
      std::vector<char> room((outputs * c.source.channels + 1) * sizeof(T), 'E');
      sample_image(target, dtype_of<T>, in, c.source,
                   position_loops<MapRule>(c.coef, target, c.width, finds_in_float64(dtype_of<T>, c.source.filter)),
                   {0, c.height, c.width}, room.data());
      const auto where = fmt::format("target {} {}", static_cast<int>(target), c.text(dtype_of<T>));
      const T* got = reinterpret_cast<const T*>(room.data());
      if (c.source.filter == kNearest) expect_twin<T, float>(in, got, c, where);
      else expect_twin<T, Number<T>>(in, got, c, where);
      if (testing::Test::HasFatalFailure()) return;
      ASSERT_EQ(std::string(sizeof(T), 'E'), std::string(room.end() - sizeof(T), room.end())) << where;
    }
  }
}

TEST(Gather, EveryTargetEqualsTheTwinAndReadsTheImageAlone) {
  const GuardedMemory memory;
  std::mt19937 random(5);
  for (const DType type : {DType::uint8, DType::float32, DType::bool_, DType::int8, DType::float16, DType::uint16,
                           DType::int16, DType::uint32, DType::int32, DType::uint64, DType::int64, DType::float64}) {
    const int rounds = type == DType::uint8 || type == DType::float32 ? 300 : 40;
    for (int k = 0; k < rounds && !HasFatalFailure(); ++k)
      dispatch(type, [&]<class T>(TypeTag<T>) { compare<T>(random, memory); });
  }
}

// Rules whose random numbers, or columns, the loops find for many outputs at once.
struct ShakenRule {
  struct Coef {
    RandomStream draws;
    int32_t width;
  };
  static uint64_t number(int32_t image, int32_t y, int32_t x, const Coef& c) {
    return (static_cast<uint64_t>(image) * 7 + static_cast<uint64_t>(y)) * static_cast<uint64_t>(c.width) +
           static_cast<uint64_t>(x);
  }
  template <class V> static Position<V> drawn_at(int32_t y, int32_t x, uint32_t drawn, const Coef&) {
    return {V(x) + V(drawn >> 28), V(y) + V(drawn & 15), V(0.25), V(-0.25)};
  }
  static Pixel drawn_pixel(int32_t y, int32_t x, uint32_t drawn, const Coef&) {
    return {x + static_cast<int32_t>(drawn >> 28), y - static_cast<int32_t>(drawn & 4095)};
  }
  static Pixel pixel(int32_t image, int32_t y, int32_t x, const Coef& c) {
    return drawn_pixel(y, x, c.draws.draw(number(image, y, x, c)), c);
  }
  template <class V> static Position<V> at(int32_t image, int32_t y, int32_t x, const Coef& c) {
    return drawn_at<V>(y, x, c.draws.draw(number(image, y, x, c)), c);
  }
};
struct CrossedRule {
  struct Coef {
    float scale;
  };
  template <class V> static V row(int32_t y, const Coef& c) { return V(c.scale) * V(y); }
  template <class V> static V column(int32_t x, const Coef& c) { return V(c.scale) + V(x); }
  template <class V> static Position<V> crossing(int32_t y, int32_t x, V by_x, V by_y) {
    return {V(x) + by_x, V(y) + by_y, V(0), V(-0.5)};
  }
  static Pixel crossing_pixel(int32_t y, int32_t x, float by_x, float by_y) {
    return {x + static_cast<int32_t>(by_x), y - static_cast<int32_t>(by_y)};
  }
  static Pixel pixel(int32_t, int32_t y, int32_t x, const Coef& c) {
    return crossing_pixel(y, x, row<float>(y, c), column<float>(x, c));
  }
  template <class V> static Position<V> at(int32_t, int32_t y, int32_t x, const Coef& c) {
    return crossing<V>(y, x, row<V>(y, c), column<V>(x, c));
  }
};
template <class Rule, class V> void compare_positions(const typename Rule::Coef& coef, int32_t width) {
  for (const Target target : targets()) {
    const PositionLoops loops = position_loops<Rule>(coef, target, width, sizeof(V) == 8);
    for (int32_t x = 0; x < width; x += kBlock) {
      const int n = std::min(kBlock, width - x);
      Positions<V> found;
      if constexpr (sizeof(V) == 8) loops.wide(loops, 2, 5, x, n, found);
      else loops.narrow(loops, 2, 5, x, n, found);
      for (int i = 0; i < n; ++i) {
        const Position<V> p = Rule::template at<V>(2, 5, x + i, coef);
        const Neighbor<V> nx = neighbor(p.x, p.rest_x), ny = neighbor(p.y, p.rest_y);
        ASSERT_TRUE(found.at[0][i] == nx.at && found.weight[0][i] == nx.weight) << width << " x " << x + i;
        ASSERT_TRUE(found.at[1][i] == ny.at && found.weight[1][i] == ny.weight) << width << " x " << x + i;
      }
    }
  }
}
template <class Rule> void compare_pixels(const typename Rule::Coef& coef, int32_t width) {
  for (const Target target : targets()) {
    const PositionLoops loops = position_loops<Rule>(coef, target, width, false);
    Positions<float> found;
    const int n = std::min(kBlock, width);
    loops.nearest(loops, 2, 5, 0, n, found);
    for (int x = 0; x < n; ++x) {
      const Position<float> p = position<Rule, float, kNearest>(2, 5, x, coef);
      ASSERT_EQ(found.at[0][x], nearest(neighbor(p.x, p.rest_x))) << width << " x " << x;
      ASSERT_EQ(found.at[1][x], nearest(neighbor(p.y, p.rest_y))) << width << " x " << x;
    }
  }
}
TEST(Gather, PixelsOfRowsAreThoseOfSingleOutputs) {
  for (const int32_t width : {1, 2, 15, 17, 255, 256, 700}) {
    compare_pixels<ShakenRule>({random_stream({.seed = 6, .sample = 1}), width}, width);
    compare_pixels<CrossedRule>({1234.7f}, width);
  }
}
TEST(Gather, KeptPixelsGiveTheBytesOfFoundOnes) {
  constexpr int32_t kHeight = 40, kWidth = 700;
  std::mt19937 random(8);
  std::vector<uint8_t> in(size_t{kHeight} * kWidth * 3), found(in.size()), read(in.size());
  for (auto& v : in) v = static_cast<uint8_t>(random());
  const Source source{kHeight, kWidth, 3, kNearest, kConstant, 7};
  for (const Target target : targets())
    for (const float scale : {0.4f, -3.7f, 40000.0f, -3000000.0f}) {  // the last two: more than 16 bits
      const CrossedRule::Coef coef{scale};
      PositionLoops loops = position_loops<CrossedRule>(coef, target, kWidth, false);
      KeptPixels kept;
      EXPECT_EQ(kept.planes(kHeight, kWidth, loops), nullptr);
      loops.pixels = kept.planes(kHeight, kWidth, loops);
      ASSERT_NE(loops.pixels, nullptr);
      EXPECT_EQ(kept.planes(kHeight, kWidth, loops), loops.pixels);
      sample_image(target, DType::uint8, in.data(), source, loops, {0, kHeight, kWidth}, read.data());
      loops.pixels = nullptr;
      sample_image(target, DType::uint8, in.data(), source, loops, {0, kHeight, kWidth}, found.data());
      EXPECT_EQ(read, found) << scale;
      EXPECT_EQ(kept.planes(kHeight, 20, loops), nullptr);
      EXPECT_EQ(kept.planes(kHeight, kWidth, loops), nullptr);
    }
}
TEST(Gather, PixelsOfLargeImagesAreNotKept) {
  const CrossedRule::Coef coef{1};
  const PositionLoops loops = position_loops<CrossedRule>(coef, best_target(), 4000, false);
  KeptPixels kept;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kept.planes(4000, 4000, loops), nullptr);
    EXPECT_EQ(kept.planes(1, 40000, loops), nullptr);
  }
}
TEST(Gather, PositionsOfPixelsAreExact) {
  for (const int32_t at : {0, 1, -1, 255, 256, -255, -257, 8388607, 16777217, 20000003, -16777219, 999999999})
    EXPECT_EQ(nearest(neighbor(at_pixel<float>({at, 0}).x, at_pixel<float>({at, 0}).rest_x)), at);
}
TEST(Gather, RowsOfRandomAndOfCrossedPositionsAreThoseOfSingleOutputs) {
  for (const int32_t width : {1, 2, 3, 31, 255, 256, 257, 700}) {
    const ShakenRule::Coef shaken{random_stream({.seed = 5, .sample = 3}), width};
    compare_positions<ShakenRule, float>(shaken, width), compare_positions<ShakenRule, double>(shaken, width);
    compare_positions<CrossedRule, float>({0.37f}, width), compare_positions<CrossedRule, double>({0.37f}, width);
  }
}

// What float32 gives differs from float64 by less than the conversion to bytes does.
TEST(Gather, BytesAreWithinAHalfOfFloat64) {
  std::mt19937 random(6);
  std::vector<uint8_t> in(40 * 50 * 3);
  for (auto& v : in) v = static_cast<uint8_t>(random() % 2 ? 255 : random());
  const std::vector<double> exact(in.begin(), in.end());
  double worst = 0;
  for (const Filter filter : {kLinear, kCubic})
    for (const float rest : {0.0f, -0.5f}) {
      const Source s{40, 50, 3, filter, kReflect101, 0};
      for (int k = 0; k < 20000; ++k) {
        const auto at = [&](int n) { return std::uniform_real_distribution<float>(0, static_cast<float>(n))(random); };
        const float y = at(40), x = at(50);
        const int32_t c = static_cast<int32_t>(random() % 3);
        const double expected = std::clamp(sampled<double, double>(exact.data(), s, neighbor(double{y}, double{rest}),
                                                                   neighbor(double{x}, double{rest}), c),
                                           0.0, 255.0);
        const uint8_t got = sampled<uint8_t, float>(in.data(), s, neighbor(y, rest), neighbor(x, rest), c);
        worst = std::max(worst, std::abs(got - expected));
      }
    }
  EXPECT_LE(worst, 0.5 + 1e-4);
}

TEST(Gather, PositionsFarFromZeroKeepTheirFractions) {
  const Neighbor<float> n = neighbor(20000.25f, 0.0001f);  // a float there is a multiple of 1/512
  EXPECT_EQ(n.at, 20000);
  EXPECT_NEAR(n.weight, 0.2501, 1e-7);
  const Neighbor<float> low = neighbor(3.0f, -0.25f);
  EXPECT_EQ(low.at, 2);
  EXPECT_EQ(low.weight, 0.75f);
}

TEST(Gather, PositionsThatAreNoNumbersLeadOutside) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float v : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e30f, -1e30f, 3e9f}) {
    const Sum<float> p = from_unit_range(v, 31.5f);  // processors differ in what integer they make of NaN
    const Neighbor<float> outside = neighbor(p.value, p.rest);
    EXPECT_EQ(std::abs(outside.at), kReach) << v;
    EXPECT_EQ(outside.weight, 0.0f) << v;
  }
}

}  // namespace
}  // namespace penstock::gather
