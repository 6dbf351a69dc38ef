// SPDX-License-Identifier: Apache-2.0
// The kernel of folds as ordinary C++, with fibers for threads, gives the bytes of its slow twin.
#include "emulated_gpu/launch_rows.h"
//
#include "families/window/element_images.h"
#include "families/window/fold_tiles.h"
#include "families/window/kernels/fold_elements.h"
#include "families/window/kernels/fold_three.h"
#include "families/window/twin.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::window {
namespace {

struct Largest : ImageRule {
  PENSTOCK_PIXEL(
      template <class T> PENSTOCK_HD static T identity() {
        return least_value<T>();
      } template <class T> PENSTOCK_HD static T combine(T a, T b) {
        return a < b ? b : a;
      } PENSTOCK_HD static uint32_t combine_pairs(uint32_t a, uint32_t b) { return greater_pairs(a, b); });
};

template <class T> void expect_twins_bytes(const Window& w, std::mt19937& random) {
  const ImageRule::Extents& e = w.image;
  const size_t n = static_cast<size_t>(e.outer * e.height * e.width * e.inner);
  std::vector<T> in(n), expected(n), out(n);
  for (T& x : in) {
    const int kind = static_cast<int>(random() % 9);
    const float f = kind == 0 ? 0.0f : kind == 1 ? -0.0f : kind == 2 ? NAN : static_cast<float>(random() % 100) - 70;
    x = kHasNan<T> ? static_cast<T>(f) : static_cast<T>(random());
  }
  FoldTiles tiles = fold_tiles(w, sizeof(LaneOf<T>));
  ASSERT_GT(tiles.count, 0);
  ASSERT_LE(tiles.shared_bytes, kBlockBytes);
  tiles.row.in = in.data(), tiles.row.out = out.data();
  whole::launch<FoldRow>({tiles.row}, {tiles.count}, 2, fold<T, Largest>);
  run_image_rule<FoldTwin<Largest>>(in.data(), expected.data(), {e, w.width, w.height, w.x, w.y, w.border}, nullptr);
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(T)), 0)
        << name_of(dtype_of<T>) << " border " << w.border << ", element " << i << " of " << e.height << " x " << e.width
        << " x " << e.inner << ", window " << w.height << " x " << w.width << " at " << w.y << ", " << w.x;
}

TEST(FoldKernel, GivesTheTwinsBytes) {
  std::mt19937 random(3);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 120 && !testing::Test::HasFatalFailure(); ++i) {
    Window w{{between(1, 2), 1, between(1, i % 4 ? 12 : 40), between(1, i % 4 ? 20 : 150), between(1, 4)},
             i % 3 ? between(1, 9) : 3,
             i % 3 ? between(1, 30) : 3,
             0,
             0,
             i % 5};
    w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
    if (i % 2) expect_twins_bytes<uint8_t>(w, random);
    else if (i % 4) expect_twins_bytes<float>(w, random);
    else expect_twins_bytes<Half>(w, random);
  }
  for (const int64_t size : {1, 2, 3, 17, 40}) {  // strips of several blocks of rows
    Window w{{1, 1, 150, 70, 3}, size, size, size / 2, size / 3, kBorderReflect101};
    expect_twins_bytes<float>(w, random);
    w.image.width = 300, w.border = kBorderConstant;
    expect_twins_bytes<double>(w, random);
  }
}

template <class T> void expect_twins_elements(const Window& w, size_t shift, std::mt19937& random) {
  const ImageRule::Extents& e = w.image;
  const size_t n = static_cast<size_t>(e.outer * e.height * e.width * e.inner);
  std::vector<Four<double>> memory[2] = {std::vector<Four<double>>(n / 4 + 2), std::vector<Four<double>>(n / 4 + 2)};
  T* const in = reinterpret_cast<T*>(memory[0].data()) + shift;
  T* const out = reinterpret_cast<T*>(memory[1].data()) + shift;
  std::vector<T> expected(n);
  const bool nans = random() % 2;
  for (size_t i = 0; i < n; ++i) {
    const int kind = static_cast<int>(random() % 9);
    const float f = kind == 0           ? 0.0f
                    : kind == 1         ? -0.0f
                    : kind == 2 && nans ? NAN
                                        : static_cast<float>(random() % 100) - 70;
    in[i] = kHasNan<T> ? static_cast<T>(f) : static_cast<T>(random());
  }
  const ElementImages images = element_images(in, sizeof(T), out, sizeof(T), e, w.border);
  ASSERT_GT(images.work, 0);
  const auto run = [&](auto kernel) { whole::launch<ElementRows>({images.rows}, {images.work}, 512, kernel); };
  const auto of = [&]<int channels>() {
    if (images.aligned) run(fold_elements<T, channels, 1, Largest>);
    else run(fold_elements<T, channels, 0, Largest>);
  };
  if (e.inner == 1) of.template operator()<1>();
  else if (e.inner == 2) of.template operator()<2>();
  else if (e.inner == 3) of.template operator()<3>();
  else of.template operator()<4>();
  run_image_rule<FoldTwin<Largest>>(in, expected.data(), {e, w.width, w.height, w.x, w.y, w.border}, nullptr);
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(T)), 0)
        << name_of(dtype_of<T>) << " border " << w.border << ", element " << i << " of " << e.height << " x " << e.width
        << " x " << e.inner << ", shift " << shift;
}

TEST(FoldKernel, FoldsThreeByThreeElements) {
  std::mt19937 random(7);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 80 && !testing::Test::HasFatalFailure(); ++i) {
    Window w{{between(1, 2), 1, between(1, 40), between(12, 60), between(1, 4)}, 3, 3, 1, 1, i % 5};
    if (i % 2) w.image.width = w.image.width / 4 * 4;
    const size_t shift = i % 3 == 2 ? 1 : 0;
    if (i % 4 == 0) expect_twins_elements<Half>(w, shift, random);
    else if (i % 4 == 1) expect_twins_elements<float>(w, shift, random);
    else if (i % 4 == 2) expect_twins_elements<int64_t>(w, shift, random);
    else expect_twins_elements<uint8_t>(w, shift, random);
  }
}

// Bytes in memory that begins `shift` bytes after a multiple of 16, and may end where the image ends.
template <class T> struct Image {
  Image(const ImageRule::Extents& e, size_t shift) : n(static_cast<size_t>(e.outer * e.height * e.width * e.inner)) {
    all.resize(n / sizeof(Vector) + 2);
    data = reinterpret_cast<T*>(all.data()) + shift;
  }
  size_t n;
  std::vector<Vector> all;
  T* data;
};

template <class T> void expect_twins_bytes(const Window& w, size_t shift, bool three, std::mt19937& random) {
  Image<T> in(w.image, shift), out(w.image, shift), expected(w.image, 0);
  for (size_t i = 0; i < in.n; ++i) in.data[i] = static_cast<T>(random());
  run_image_rule<FoldTwin<Largest>>(in.data, expected.data, {w.image, w.width, w.height, w.x, w.y, w.border}, nullptr);
  if (three) {
    const ByteImages images = byte_images(in.data, out.data, w.image, w.border);
    ASSERT_GT(images.work, 0);
    const auto run = [&](auto kernel) { whole::launch<ByteRows>({images.rows}, {images.work}, 512, kernel); };
    const auto of = [&]<int channels>() {
      if (images.aligned == kAtVectors) run(fold_three<T, channels, kAtVectors, Largest>);
      else if (images.aligned == kAtWords) run(fold_three<T, channels, kAtWords, Largest>);
      else run(fold_three<T, channels, kAnywhere, Largest>);
    };
    if (w.image.inner == 1) of.template operator()<1>();
    else if (w.image.inner == 2) of.template operator()<2>();
    else if (w.image.inner == 3) of.template operator()<3>();
    else of.template operator()<4>();
  } else {
    FoldTiles tiles = fold_byte_tiles(w);
    ASSERT_GT(tiles.count, 0);
    ASSERT_LE(tiles.shared_bytes, kBlockBytes);
    tiles.row.in = in.data, tiles.row.out = out.data;
    const auto run = [&](auto kernel) { whole::launch<FoldRow>({tiles.row}, {tiles.count}, 2, kernel); };
    const bool aligned = rows_at_multiples(16, in.data, out.data, w.image.width * w.image.inner);
    const bool words = random() % 2;  // both give the same
    if (aligned) words ? run(fold_bytes<T, 1, 4, Largest>) : run(fold_bytes<T, 1, 1, Largest>);
    else words ? run(fold_bytes<T, 0, 4, Largest>) : run(fold_bytes<T, 0, 1, Largest>);
  }
  for (size_t i = 0; i < in.n; ++i)
    ASSERT_EQ(out.data[i], expected.data[i])
        << name_of(dtype_of<T>) << " border " << w.border << ", element " << i << " of " << w.image.height << " x "
        << w.image.width << " x " << w.image.inner << ", window " << w.height << " x " << w.width << " at " << w.y
        << ", " << w.x << ", three " << three << ", shift " << shift;
}

TEST(FoldKernel, FoldsBytesByWords) {
  std::mt19937 random(5);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 120 && !testing::Test::HasFatalFailure(); ++i) {
    Window w{{between(1, 2), 1, between(1, 40), between(1, i % 4 ? 60 : 300), between(1, 4)}, 3, 3, 1, 1, i % 5};
    const bool three = i % 3 == 0;
    if (three) {
      w.image.width = between(8, 40) * (i % 2 ? 4 : 16);
    } else {
      if (i % 2) w.image.width = between(1, 20) * 16;
      w.width = between(1, i % 4 ? 12 : 60), w.height = between(1, i % 4 ? 12 : 60);
      w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
    }
    const size_t shift = i % 4 == 0 ? 0 : three ? 4 : random() % 16;
    if (i % 2) expect_twins_bytes<uint8_t>(w, shift, three, random);
    else expect_twins_bytes<int8_t>(w, shift, three, random);
  }
  for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); ++i) {  // rows anywhere
    const int64_t channels = 1 + i % 4;
    const Window w{{between(1, 2), 1, between(1, 30), between(256, 700) / channels + 64, channels}, 3, 3, 1, 1, i % 5};
    if (i % 3) expect_twins_bytes<uint8_t>(w, random() % 16, true, random);
    else expect_twins_bytes<int8_t>(w, random() % 16, true, random);
  }
}

TEST(FoldKernel, LargeWindowsHaveNoTiles) {
  EXPECT_EQ(fold_byte_tiles({{1, 1, 1000, 2000, 4}, 1200, 9, 600, 0, 0}).count, 0);
  EXPECT_GT(fold_byte_tiles({{1, 1, 1000, 1000, 3}, 99, 99, 0, 0, 0}).count, 0);
  EXPECT_EQ(fold_tiles({{1, 1, 1000, 1000, 3}, 999, 999, 0, 0, 0}, 1).count, 0);
  EXPECT_GT(fold_tiles({{1, 1, 1000, 1000, 3}, 31, 31, 0, 0, 0}, 4).count, 0);
  EXPECT_GT(fold_tiles({{1, 1, 1000, 1000, 3}, 31, 31, 0, 0, 0}, 1).count, 0);
  EXPECT_GT(fold_tiles({{1, 1, 5, 7, 3}, 999, 999, 0, 0, 0}, 4).count, 0);  // no more than the image is seen
}

}  // namespace
}  // namespace penstock::window
