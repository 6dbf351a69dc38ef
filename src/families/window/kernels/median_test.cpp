// SPDX-License-Identifier: Apache-2.0
// The kernels of medians as ordinary C++, with fibers for threads, give the bytes of their slow twin.
#include "emulated_gpu/launch_rows.h"
//
#include "families/window/median_steps.h"
#include "families/window/median_twin.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::window {
namespace {

using Extents = ImageRule::Extents;

template <class T> struct Medians {
  Extents image;
  int64_t width, height;
  size_t n = static_cast<size_t>(image.outer * image.height * image.width * image.inner);
  std::vector<Vector> memory[3] = {std::vector<Vector>(n * sizeof(T) / 16 + 2),
                                   std::vector<Vector>(n * sizeof(T) / 16 + 2),
                                   std::vector<Vector>(n * sizeof(T) / 16 + 2)};
  T* at(int i, size_t shift = 0) { return reinterpret_cast<T*>(memory[i].data()) + shift; }

  template <class Launch> void expect(std::mt19937& random, size_t shift, const Launch& launch) {
    T *const in = at(0, shift), *const out = at(1, shift), *const expected = at(2);
    const bool few = random() % 2;  // values
    for (size_t i = 0; i < n; ++i) {
      uint64_t bits = random() | uint64_t{random()} << 32;
      if constexpr (std::is_same_v<T, bool>) bits &= 1;
      else if (few) bits &= bits >> 8 & bits >> 16 & ~uint64_t{0x15};
      std::memcpy(static_cast<void*>(&in[i]), &bits, sizeof(T));
    }
    launch(in, out);
    run_image_rule<MedianTwin>(in, expected, {image, width, height}, nullptr);
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(T)), 0)
          << name_of(dtype_of<T>) << ", element " << i << " of " << image.height << " x " << image.width << " x "
          << image.inner << ", window " << height << " x " << width;
  }
  template <int channels> void three(std::mt19937& random, size_t shift) {
    expect(random, shift, [&](T* in, T* out) {
      const ByteImages images = byte_images(in, out, image, kBorderClamp);
      ASSERT_GT(images.work, 0);
      const auto run = [&](auto kernel) { whole::launch<ByteRows>({images.rows}, {images.work}, 512, kernel); };
      if (images.aligned == kAtVectors) run(median_three<T, channels, kAtVectors>);
      else if (images.aligned == kAtWords) run(median_three<T, channels, kAtWords>);
      else run(median_three<T, channels, kAnywhere>);
    });
  }
  void five(std::mt19937& random, size_t shift) {
    expect(random, shift, [&](T* in, T* out) {
      int64_t work = 0;
      const FiveRow row = median_five_of(in, out, image, work);
      ASSERT_GT(work, 0);
      ASSERT_LE(five_bytes(static_cast<int>(image.inner)), 48 * 1024);
      if (rows_at_multiples(16, in, out, image.width * image.inner))
        whole::launch<FiveRow>({row}, {work}, 2, median_five<T, 1>);
      else whole::launch<FiveRow>({row}, {work}, 2, median_five<T, 0>);
    });
  }
  void counts(std::mt19937& random) {
    expect(random, 0, [&](T* in, T* out) {
      const MedianCounts m = median_counts_of(in, out, image, width, height);
      ASSERT_GT(m.work, 0);
      const auto run = [&](auto kernel) {
        whole::launch<CountsRow>({m.row}, {m.work}, 2 * count_threads(m.bytes), kernel);
      };
      if (m.bytes == 1) run(median_counts<T, 1>);
      else if (m.bytes == 2) run(median_counts<T, 2>);
      else run(median_counts<T, 4>);
    });
  }
  template <int size> void elements(std::mt19937& random) {
    expect(random, 0, [&](T* in, T* out) {
      const KeyBits bits = key_bits(dtype_of<T>);
      const MedianRow row{in, out, image.height, image.width, image.inner, bits.flip, bits.fold};
      const int64_t work = (image.height + kMedianRows - 1) / kMedianRows * image.width * image.inner * image.outer;
      whole::launch<MedianRow>({row}, {work}, 512, median_elements<sizeof(T), size>);
    });
  }
};

int64_t between(std::mt19937& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
}

TEST(MedianKernels, ThreeByThreeBytesGiveTheTwinsBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 40 && !testing::Test::HasFatalFailure(); ++i) {
    const Extents image{between(random, 1, 2), 1, between(random, 1, 30), between(random, 8, 20) * (i % 3 ? 4 : 16),
                        1 + i % 4};
    const size_t shift = i % 3 ? 4 : 0;
    if (i % 4 == 0) Medians<uint8_t>{image, 3, 3}.three<1>(random, shift);
    else if (i % 4 == 1) Medians<int8_t>{image, 3, 3}.three<2>(random, shift);
    else if (i % 4 == 2) Medians<bool>{image, 3, 3}.three<3>(random, shift);
    else Medians<uint8_t>{image, 3, 3}.three<4>(random, shift);
  }
  for (int i = 0; i < 24 && !testing::Test::HasFatalFailure(); ++i) {  // rows anywhere
    const Extents image{between(random, 1, 2), 1, between(random, 1, 30), between(random, 256, 700) / (1 + i % 4) + 64,
                        1 + i % 4};
    const size_t shift = random() % 16;
    if (i % 4 == 0) Medians<uint8_t>{image, 3, 3}.three<1>(random, shift);
    else if (i % 4 == 1) Medians<int8_t>{image, 3, 3}.three<2>(random, shift);
    else if (i % 4 == 2) Medians<uint8_t>{image, 3, 3}.three<3>(random, shift);
    else Medians<bool>{image, 3, 3}.three<4>(random, shift);
  }
}

TEST(MedianKernels, FiveByFiveBytesGiveTheTwinsBytes) {
  std::mt19937 random(6);
  for (int i = 0; i < 24 && !testing::Test::HasFatalFailure(); ++i) {
    Extents image{between(random, 1, 2), 1, between(random, 1, 40), between(random, 1, i % 2 ? 30 : 300),
                  between(random, 1, 4)};
    if (i % 3 == 0) image.width = 16 * between(random, 1, 20);
    if (i % 4 == 1) Medians<int8_t>{image, 5, 5}.five(random, i % 3 ? random() % 8 : 0);
    else if (i % 4 == 2) Medians<bool>{image, 5, 5}.five(random, i % 3 ? random() % 8 : 0);
    else Medians<uint8_t>{image, 5, 5}.five(random, i % 3 ? random() % 8 : 0);
  }
}

TEST(MedianKernels, CountsGiveTheTwinsBytes) {
  std::mt19937 random(4);
  for (int i = 0; i < 40 && !testing::Test::HasFatalFailure(); ++i) {
    const Extents image{between(random, 1, 2), 1, between(random, 1, 70), between(random, 1, 30),
                        between(random, 1, 5)};
    const int64_t most = i % 4 == 0 ? 20 : 6;
    const int64_t width = 2 * between(random, 0, most) + 1, height = 2 * between(random, 0, most) + 1;
    if (i % 3 == 0) Medians<int8_t>{image, width, height}.counts(random);
    else if (i % 10 == 1) Medians<bool>{image, width, height}.counts(random);
    else Medians<uint8_t>{image, width, height}.counts(random);
  }
  Medians<uint8_t>{{1, 1, 9, 5, 2}, 301, 299}.counts(random);
}

TEST(MedianKernels, ElementsOfAllTypesGiveTheTwinsBytes) {
  std::mt19937 random(5);
  for (int i = 0; i < 24 && !testing::Test::HasFatalFailure(); ++i) {
    const Extents image{between(random, 1, 2), 1, between(random, 1, 40), between(random, 1, 30),
                        between(random, 1, 4)};
    Medians<uint8_t>{image, 3, 3}.elements<3>(random);
    Medians<int8_t>{image, 5, 5}.elements<5>(random);
    Medians<uint16_t>{image, 3, 3}.elements<3>(random);
    Medians<int16_t>{image, 5, 5}.elements<5>(random);
    Medians<Half>{image, 5, 5}.elements<5>(random);
    Medians<float>{image, 3, 3}.elements<3>(random);
    Medians<float>{image, 5, 5}.elements<5>(random);
    Medians<uint32_t>{image, 3, 3}.elements<3>(random);
    Medians<double>{image, 3, 3}.elements<3>(random);
    Medians<uint64_t>{image, 5, 5}.elements<5>(random);
  }
}

}  // namespace
}  // namespace penstock::window
