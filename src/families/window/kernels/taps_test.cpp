// SPDX-License-Identifier: Apache-2.0
// The kernel of weighted sums as ordinary C++, with fibers for threads, gives the bytes of a loop over the window.
#include "emulated_gpu/launch_rows.h"
//
#include "families/window/taps.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::window {
namespace {

using Extents = ImageRule::Extents;

template <class Out, class In>
Out sum_at(const In* in, const Taps& w, int64_t image, int64_t y, int64_t x, int64_t channel) {
  const float* weight = w.weights;
  float sum = 0;
  for (int64_t j = 0; j < w.height; ++j)
    for (int64_t i = 0; i < w.width; ++i) {
      const int64_t row = ImageRule::bordered(y + j - w.y, w.in.height, w.border);
      const int64_t column = ImageRule::bordered(x + i - w.x, w.in.width, w.border);
      const In outside = w.fill ? *static_cast<const In*>(w.fill) : static_cast<In>(0.0f);
      const bool inside = row >= 0 && column >= 0;
      sum += *weight++ *
             static_cast<float>(inside ? in[ImageRule::offset_of(w.in, image, 0, row, column, channel)] : outside);
    }
  return stored<Out>(sum);
}

// `channels`: of the kernel that makes elements from registers; 0: the one with tiles.
template <class In, class Out, int width, int channels = 0>
void expect_loops_bytes(Taps w, bool in_data, std::mt19937& random) {
  const auto count = [](const Extents& e) { return static_cast<size_t>(e.outer * e.height * e.width * e.inner); };
  const auto number = [&](auto& x) { x = static_cast<std::remove_reference_t<decltype(x)>>(random() % 100); };
  std::vector<In> in(count(w.in));
  std::vector<Out> out(count(w.out));
  for (In& x : in) number(x);
  std::vector<float> weights(static_cast<size_t>(w.width * w.height));
  for (float& x : weights) x = static_cast<float>(random() % 2000) * 0.001f - 0.9f;
  In fill;
  number(fill);
  w.weights = in_data ? nullptr : weights.data();
  if (random() % 2) w.fill = &fill;
  const size_t weight_bytes = weights.size() * sizeof(float);
  if constexpr (channels == 0) {
    TapsTiles tiles = taps_tiles(w, sizeof(Out));
    ASSERT_GT(tiles.count, 0);
    ASSERT_LE(tiles.shared_bytes, kBlockBytes);
    tiles.row.in = in.data(), tiles.row.out = out.data();
    whole::launch<TapsRow>({tiles.row}, {tiles.count}, 2, taps<In, Out, width, ImageRule>, weights.data(),
                           weight_bytes);
  } else {
    const ElementImages images = element_images(in.data(), sizeof(In), out.data(), sizeof(Out), w.in, w.border);
    ASSERT_GT(images.work, 0);
    const ElementTapsRow row{images.rows, w.weights, {}, w.fill};
    const auto run = [&](auto kernel) {
      whole::launch<ElementTapsRow>({row}, {images.work}, 512, kernel, weights.data(), weight_bytes);
    };
    if (images.aligned) run(taps_elements<In, Out, channels, 1, ImageRule>);
    else run(taps_elements<In, Out, channels, 0, ImageRule>);
  }
  w.weights = weights.data();
  size_t i = 0;
  for (int64_t image = 0; image < w.out.outer; ++image)
    for (int64_t y = 0; y < w.out.height; ++y)
      for (int64_t x = 0; x < w.out.width; ++x)
        for (int64_t c = 0; c < w.out.inner; ++c, ++i) {
          const Out expected = sum_at<Out>(in.data(), w, image, y, x, c);
          ASSERT_EQ(std::memcmp(&out[i], &expected, sizeof(Out)), 0)
              << name_of(dtype_of<In>) << " border " << w.border << " at " << y << ", " << x << ", " << c << " of "
              << w.out.height << " x " << w.out.width << " x " << w.out.inner << ", window " << w.height << " x "
              << w.width << " at " << w.y << ", " << w.x;
        }
}

TEST(TapsKernel, GivesTheBytesOfALoop) {
  std::mt19937 random(3);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
    Taps w{};
    w.in = {between(1, 2), 1, between(16, 40), i % 4 ? between(1, 20) : between(60, 150), between(1, 4)};
    w.out = w.in;
    w.width = i % 3 == 0 ? 3 : i % 3 == 1 ? 7 : between(1, 12), w.height = between(1, 9);
    w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
    w.border = i % 5;
    if (i % 7 == 0 && w.width <= w.in.width) {  // only where the window lies inside
      w.x = w.y = 0;
      w.in.height += w.height - 1, w.out.width -= w.width - 1;
    }
    const bool in_data = i % 2;
    if (i % 3 == 0) expect_loops_bytes<uint8_t, uint8_t, 3>(w, in_data, random);
    else if (i % 3 == 1) expect_loops_bytes<Half, float, 7>(w, in_data, random);
    else if (i % 4) expect_loops_bytes<int16_t, int16_t, 0>(w, in_data, random);
    else expect_loops_bytes<float, float, 0>(w, in_data, random);
  }
}

TEST(TapsKernel, MakesThreeByThreeFromRegisters) {
  std::mt19937 random(11);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
    Taps w{};
    w.in = {between(1, 2), 1, between(1, 40), between(12, 60), 1 + i % 4};
    if (i % 2) w.in.width = w.in.width / 4 * 4;
    w.out = w.in;
    w.width = w.height = 3, w.x = w.y = 1, w.border = i % 5;
    const bool in_data = i % 3 == 0;
    if (i % 4 == 0) expect_loops_bytes<float, float, 3, 1>(w, in_data, random);
    else if (i % 4 == 1) expect_loops_bytes<uint8_t, float, 3, 2>(w, in_data, random);
    else if (i % 4 == 2) expect_loops_bytes<float, float, 3, 3>(w, in_data, random);
    else expect_loops_bytes<Half, Half, 3, 4>(w, in_data, random);
  }
}

void expect_sums_of_loops(const uint8_t* in, const uint8_t* out, const Taps& w) {
  for (int64_t image = 0; image < w.out.outer; ++image)
    for (int64_t y = 0; y < w.out.height; ++y)
      for (int64_t x = 0; x < w.out.width; ++x)
        for (int64_t c = 0; c < w.out.inner; ++c, ++out)
          ASSERT_EQ(*out, sum_at<uint8_t>(in, w, image, y, x, c))
              << "border " << w.border << " at " << y << ", " << x << ", " << c << " of " << w.out.height << " x "
              << w.out.width << " x " << w.out.inner << ", window " << w.width;
}

constexpr int kLaplacian = kMirrored | 0b010101;
constexpr size_t kShifts[] = {4, 0, 5};  // of the addresses, by RowPlaces

template <int channels, int aligned, int size> void expect_sums_of_bytes(Taps w, std::mt19937& random) {
  const size_t n = static_cast<size_t>(w.in.outer * w.in.height * w.in.width * w.in.inner);
  std::vector<Vector> memory[2] = {std::vector<Vector>(n / 16 + 2), std::vector<Vector>(n / 16 + 2)};
  uint8_t* const in = reinterpret_cast<uint8_t*>(memory[0].data()) + kShifts[aligned];
  uint8_t* const out = reinterpret_cast<uint8_t*>(memory[1].data()) + kShifts[aligned];
  for (size_t i = 0; i < n; ++i) in[i] = static_cast<uint8_t>(random());
  std::vector<float> weights(size * size);
  const bool mirrored = random() % 2;
  for (int i = 0; i < size * size; ++i) {
    const int from = (size - 1 - i / size) * size + i % size;
    weights[static_cast<size_t>(i)] =
        mirrored && from < i ? weights[static_cast<size_t>(from)] : static_cast<float>(random() % 11) - 5;
  }
  if (size == 3 && random() % 3 == 0) weights = {2, 0, 2, 0, -8, 0, 2, 0, 2};
  const ByteTaps t = byte_taps(in, out, w, weights.data());
  ASSERT_GT(t.work, 0);
  ASSERT_EQ(t.aligned, aligned);
  if (mirrored) {
    ASSERT_TRUE(t.known & kMirrored);
  }
  const auto run = [&](auto kernel) { whole::launch<ByteTapsRow>({t.row}, {t.work}, 512, kernel); };
  constexpr int kAll = (1 << size * size) - 1, kUpper = kMirrored | ((1 << (size / 2 + 1) * size) - 1);
  ASSERT_EQ(t.known & ~(t.known & kMirrored ? kUpper : kAll), 0);
  if (t.known == kLaplacian) run(taps_of_bytes<channels, aligned, size, kLaplacian, ImageRule>);
  else if (t.known & kMirrored) run(taps_of_bytes<channels, aligned, size, kUpper, ImageRule>);
  else run(taps_of_bytes<channels, aligned, size, kAll, ImageRule>);
  w.weights = weights.data();
  expect_sums_of_loops(in, out, w);
}

TEST(TapsKernel, SumsBytesWithSmallWholeWeights) {
  std::mt19937 random(4);
  for (int i = 0; i < 40 && !testing::Test::HasFatalFailure(); ++i) {
    Taps w{};
    w.width = w.height = i % 4 == 3 ? 5 : 3, w.x = w.y = w.width / 2;
    w.border = i % 5;
    w.in = {1 + i % 2, 1, 1 + static_cast<int64_t>(random() % 40), 16 * (2 + static_cast<int64_t>(random() % 20)),
            i % 4 == 0   ? 1
            : i % 4 == 1 ? 3
            : i % 4 == 2 ? 4
                         : 3};
    if (i % 4 == 1) w.in.width += 4;
    w.out = w.in;
    if (i % 4 == 0) expect_sums_of_bytes<1, 1, 3>(w, random);
    else if (i % 4 == 1) expect_sums_of_bytes<3, 0, 3>(w, random);
    else if (i % 4 == 2) expect_sums_of_bytes<4, 1, 3>(w, random);
    else expect_sums_of_bytes<3, 1, 5>(w, random);
  }
  for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); ++i) {  // rows anywhere
    Taps w{};
    w.width = w.height = i % 2 ? 3 : 5, w.x = w.y = w.width / 2, w.border = i % 5;
    w.in = {1 + i % 2, 1, 1 + static_cast<int64_t>(random() % 30), 90 + static_cast<int64_t>(random() % 200), 3};
    w.out = w.in;
    if (i % 2) expect_sums_of_bytes<3, kAnywhere, 3>(w, random);
    else expect_sums_of_bytes<3, kAnywhere, 5>(w, random);
  }
}

template <int channels, int aligned, int size> void expect_rows_of_sums(Taps w, bool in_data, std::mt19937& random) {
  const size_t n = static_cast<size_t>(w.in.outer * w.in.height * w.in.width * w.in.inner);
  std::vector<Vector> memory[2] = {std::vector<Vector>(n / 16 + 2), std::vector<Vector>(n / 16 + 2)};
  uint8_t* const in = reinterpret_cast<uint8_t*>(memory[0].data()) + kShifts[aligned];
  uint8_t* const out = reinterpret_cast<uint8_t*>(memory[1].data()) + kShifts[aligned];
  for (size_t i = 0; i < n; ++i) in[i] = static_cast<uint8_t>(random());
  std::vector<float> weights(size * size);
  for (float& x : weights) x = static_cast<float>(random() % 2000) * 0.0004f - 0.3f;
  if (random() % 8 == 0) weights[random() % weights.size()] = NAN;
  const uint8_t fill = static_cast<uint8_t>(random());
  if (random() % 2) w.fill = &fill;
  const ByteImages images = byte_images(in, out, w.in, w.border);
  ASSERT_TRUE(around_middle(w));
  ASSERT_EQ(images.aligned, aligned);
  whole::launch<RowTapsRow>({{images.rows, in_data ? nullptr : weights.data(), {}, w.fill}}, {images.work}, 512,
                            taps_rows<channels, aligned, size, ImageRule>, weights.data(),
                            weights.size() * sizeof(float));
  w.weights = weights.data();
  expect_sums_of_loops(in, out, w);
}

TEST(TapsKernel, SumsRowsOfBytes) {
  std::mt19937 random(6);
  for (int i = 0; i < 30 && !testing::Test::HasFatalFailure(); ++i) {
    Taps w{};
    w.width = w.height = i % 3 == 0 ? 3 : i % 3 == 1 ? 7 : 5, w.x = w.y = w.width / 2;
    w.border = i % 5;
    w.in = {1 + i % 2, 1, 1 + static_cast<int64_t>(random() % 40), 16 * (2 + static_cast<int64_t>(random() % 20)),
            i % 3 == 0   ? 3
            : i % 3 == 1 ? 4
                         : 1};
    if (i % 3 == 0) w.in.width += 4;
    w.out = w.in;
    if (i % 3 == 0) expect_rows_of_sums<3, 0, 3>(w, i % 2, random);
    else if (i % 3 == 1) expect_rows_of_sums<4, 1, 7>(w, i % 2, random);
    else expect_rows_of_sums<1, 1, 5>(w, i % 2, random);
  }
  for (int i = 0; i < 15 && !testing::Test::HasFatalFailure(); ++i) {  // rows anywhere
    Taps w{};
    w.width = w.height = i % 2 ? 7 : 3, w.x = w.y = w.width / 2, w.border = i % 5;
    w.in = {1 + i % 2, 1, 1 + static_cast<int64_t>(random() % 30), 260 + static_cast<int64_t>(random() % 300),
            i % 2 ? 4 : 1};
    w.out = w.in;
    if (i % 2) expect_rows_of_sums<4, kAnywhere, 7>(w, i % 3 == 0, random);
    else expect_rows_of_sums<1, kAnywhere, 3>(w, i % 3 == 0, random);
  }
}

TEST(TapsKernel, LargeWindowsHaveNoTiles) {
  const Extents image{1, 1, 1000, 1000, 3};
  const auto tiles = [&](int64_t height, int64_t width) {
    return taps_tiles({image, image, width, height, 0, 0, 0, nullptr, nullptr}, 1).count;
  };
  EXPECT_GT(tiles(3, 3), 0);
  EXPECT_GT(tiles(31, 31), 0);
  EXPECT_EQ(tiles(99, 99), 0);
  EXPECT_EQ(tiles(int64_t{1} << 40, int64_t{1} << 40), 0);
}

}  // namespace
}  // namespace penstock::window
