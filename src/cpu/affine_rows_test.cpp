// SPDX-License-Identifier: Apache-2.0
#include "cpu/affine_rows.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <random>

#include "operator/placement.h"
#include "pixel/convert.h"

namespace penstock {
namespace {

// An image whose end is the end of mapped memory: a read past it is a fault.
TEST(AffineRows, ReadsNothingBehindTheImage) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* mapped = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* memory = static_cast<char*>(mapped);
  ASSERT_EQ(mprotect(memory, page, PROT_NONE), 0);
  ASSERT_EQ(mprotect(memory + 2 * page, page, PROT_NONE), 0);
  std::vector<float> room(5 * 96);
  for (const Target target : {Target::scalar, Target::avx2, Target::avx512}) {
    if (target > best_target()) continue;
    for (const DType dtype : {DType::uint8, DType::float32, DType::uint16})
      for (const FilterKind kind : {FilterKind::linear, FilterKind::nearest})
        for (const bool fills : {false, true})
          for (int channels = 1; channels <= 5; ++channels)
            for (const int64_t width : {1, 2, 5, 11}) {
              const int64_t height = 3, bytes = width * height * channels * static_cast<int64_t>(size_of(dtype));
              AffineSource s;
              s.data = memory + 2 * page - bytes;
              std::memset(memory + 2 * page - bytes, 1, static_cast<size_t>(bytes));
              s.dtype = dtype, s.height = height, s.width = width, s.channels = channels;
              s.stride_c = 1, s.stride_x = channels, s.stride_y = width * channels;
              AffineMap map;
              map.kind = kind, map.border_fill = fills;
              map.m[0] = 0.3, map.m[1] = 0.2, map.m[2] = -1.5, map.m[4] = 0.7, map.m[5] = -1;
              const std::vector<float> fill{3.0f};
              const AffineRows rows(target, map, fill, Lane::f32);
              void* planes[5];
              for (int c = 0; c < 5; ++c) planes[c] = room.data() + c * 96;
              for (int64_t y = 0; y < 8; ++y) rows.row(s, {0, 1}, y, 0, 77, planes);
              if (!rows.copies(s)) continue;
              for (int64_t y = 0; y < 8; ++y) rows.copied_row(s, {0, 1}, y, 77, rows.fill_pixel(s), room.data());
            }
  }
  munmap(memory, 3 * page);
}

// Maps that turn, shrink, and lead outside.
AffineMap random_map(std::mt19937& random, int64_t width, int64_t height) {
  const auto from = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  AffineMap map;
  map.kind = random() % 2 ? FilterKind::linear : FilterKind::nearest;
  map.border_fill = random() % 2;
  map.m[0] = from(-1.5, 1.5), map.m[1] = from(-1, 1), map.m[3] = from(-1, 1), map.m[4] = from(-1.5, 1.5);
  map.m[2] = from(-10, static_cast<double>(width)), map.m[5] = from(-10, static_cast<double>(height));
  if (random() % 8 == 0) map.m[2] += 5000;
  return map;
}

TEST(AffineRows, EveryTargetGivesTheScalarNumbers) {
  std::mt19937 random(3);
  const float fills[] = {0.0f, 3.5f, -0.0f, std::numeric_limits<float>::infinity()};
  const DType types[] = {DType::float32, DType::uint16, DType::int16, DType::uint8};
  for (int trial = 0; trial < 400; ++trial) {
    const DType dtype = types[trial % 4];
    const int channels = 1 + static_cast<int>(random() % 5);
    AffineSource s;
    s.dtype = dtype, s.height = 1 + random() % 40, s.width = 1 + random() % 300, s.channels = channels;
    const int64_t gap = random() % 2;  // between pixels
    s.stride_c = 1, s.stride_x = channels + gap, s.stride_y = s.width * s.stride_x;
    std::vector<char> data(static_cast<size_t>(s.height * s.stride_y) * size_of(dtype));
    for (char& c : data) c = static_cast<char>(random());
    if (dtype == DType::float32)
      for (size_t i = 0; i < data.size() / 4; ++i) reinterpret_cast<float*>(data.data())[i] = random() % 1000 - 500.5f;
    s.data = data.data();
    const AffineMap map = random_map(random, s.width, s.height);
    const std::vector<float> fill{fills[random() % 4]};
    constexpr int64_t kOutputs = 333, kRoom = kOutputs + 16;
    std::vector<float> expected(static_cast<size_t>(channels * kRoom)), got(expected.size());
    const auto run = [&](Target target, std::vector<float>& to) {
      const AffineRows rows(target, map, fill, Lane::f32);
      void* planes[5];
      for (int c = 0; c < channels; ++c) planes[c] = to.data() + c * kRoom;
      rows.row(s, {trial % 100, 1}, trial % 37, 0, kOutputs, planes);
    };
    run(Target::scalar, expected);
    for (const Target target : {Target::avx2, Target::avx512}) {
      if (target > best_target()) continue;
      run(target, got);
      for (int c = 0; c < channels; ++c)
        for (int64_t i = 0; i < kOutputs; ++i) {
          const float a = expected[c * kRoom + i], b = got[c * kRoom + i];
          ASSERT_TRUE(std::memcmp(&a, &b, 4) == 0 || (a != a && b != b))
              << name_of(dtype) << " of " << channels << ", trial " << trial << ", output " << i << ": " << b
              << ", not " << a;
        }
    }
  }
}

// Of both directions, and of images with gaps between their pixels.
TEST(AffineRows, CopiedRowsAreTheRowsAsStored) {
  std::mt19937 random(9);
  const DType types[] = {DType::float32, DType::uint16, DType::int16, DType::uint8, DType::int8, DType::bool_};
  for (int trial = 0; trial < 300; ++trial) {
    AffineSource s;
    s.dtype = types[trial % 6], s.channels = 1 + static_cast<int>(random() % 5);
    s.height = 1 + random() % 40, s.width = 1 + random() % 300;
    s.stride_c = 1, s.stride_x = s.channels + static_cast<int>(random() % 2), s.stride_y = s.width * s.stride_x;
    std::vector<char> data(static_cast<size_t>(s.height * s.stride_y) * size_of(s.dtype));
    for (char& c : data) c = static_cast<char>(s.dtype == DType::bool_ ? random() % 2 : random() % 100);
    s.data = data.data();
    AffineMap map = random_map(random, s.width, s.height);
    map.kind = FilterKind::nearest;
    if (trial % 4 == 0) map.m[0] = 0.1, map.m[1] = map.m[3] = 0, map.m[4] = 0.2, map.m[2] = map.m[5] = 1;  // all inside
    const std::vector<float> fill{1.0f};
    const int64_t n = 1 + random() % 600, first = random() % 50;
    const AffineOutputs outputs = trial % 3 ? AffineOutputs{first, 1} : AffineOutputs{first + n - 1, -1};
    for (const Target target : {Target::scalar, Target::avx2, Target::avx512}) {
      if (target > best_target()) continue;
      const AffineRows rows(target, map, fill, Lane::f32);
      ASSERT_EQ(rows.copies(s), target != Target::avx512);
      if (!rows.copies(s)) continue;
      std::vector<float> planes(5 * 640);
      void* to[5];
      for (int c = 0; c < 5; ++c) to[c] = planes.data() + c * 640;
      rows.row(s, outputs, trial % 37, 0, n, to);
      const size_t bytes = static_cast<size_t>(n * s.channels) * size_of(s.dtype);
      std::vector<char> got(bytes + 1, 'x');
      rows.copied_row(s, outputs, trial % 37, n, rows.fill_pixel(s), got.data());
      ASSERT_EQ(got[bytes], 'x');
      dispatch(s.dtype, [&]<class T>(TypeTag<T>) {
        for (int64_t i = 0; i < n * s.channels; ++i) {
          const T want = from_lane<float, T>(planes[i % s.channels * 640 + i / s.channels]);
          ASSERT_EQ(std::memcmp(&want, got.data() + i * sizeof(T), sizeof(T)), 0)
              << name_of(s.dtype) << " of " << s.channels << ", trial " << trial << ", element " << i;
        }
      });
    }
  }
}

// Each position is that of the forward row, also where a run of positions begins.
TEST(AffineRows, BackwardRowsHaveTheNumbersOfForwardOnes) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 200; ++trial) {
    AffineSource s;
    const DType types[] = {DType::uint8, DType::float32};
    s.dtype = types[trial % 2], s.height = 1 + random() % 40, s.width = 1 + random() % 300, s.channels = 3;
    s.stride_c = 1, s.stride_x = 3, s.stride_y = s.width * 3;
    std::vector<float> data(static_cast<size_t>(s.height * s.stride_y));
    for (float& v : data) v = static_cast<float>(random() % 1000);
    s.data = data.data();
    const AffineMap map = random_map(random, s.width, s.height);
    const std::vector<float> fill{3.5f};
    const int64_t first = trial % 3 ? static_cast<int64_t>(random() % 200) : 0, n = 1 + random() % 333;
    std::vector<float> forward(3 * 400), backward(3 * 400);
    for (const Target target : {Target::scalar, Target::avx2, Target::avx512}) {
      if (target > best_target()) continue;
      const AffineRows rows(target, map, fill, Lane::f32, trial % 4 < 2);
      void *to[3], *back[3];
      for (int c = 0; c < 3; ++c) to[c] = forward.data() + c * 400, back[c] = backward.data() + c * 400;
      rows.row(s, {first, 1}, trial % 37, 0, n, to);
      rows.row(s, {first + n - 1, -1}, trial % 37, 0, n, back);
      for (int c = 0; c < 3; ++c)
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(std::memcmp(&forward[c * 400 + i], &backward[c * 400 + n - 1 - i], 4), 0)
              << "trial " << trial << ", output " << i << " of " << n;
    }
  }
}

}  // namespace
}  // namespace penstock
