// SPDX-License-Identifier: Apache-2.0
// The kernel as ordinary C++, with fibers for threads, gives the bytes that the CPU gives on every target.
#include "emulated_gpu/launch_rows.h"
//
#include "families/window/bilateral.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::window {
namespace {

View bilateral_view(void* data, DType dtype, const char* layout, Shape shape) {
  return {data, dtype, layout, shape, dense_strides(shape)};
}

template <class T> void expect_bilateral_hosts_bytes(std::mt19937& random, int i) {
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  const int64_t images = between(1, 2), height = between(1, 12), width = between(1, i % 4 ? 20 : 90);
  const int64_t channels = i % 2 ? 3 : 1, others = i % 3 ? 3 : 1;
  const bool planar = i % 5 == 0, joint = i % 3 != 2;
  const size_t pixels = static_cast<size_t>(images * height * width);
  std::vector<T> in(pixels * static_cast<size_t>(channels)), guide(pixels * static_cast<size_t>(others));
  std::vector<T> out(in.size()), expected(in.size());
  for (T& x : in) x = static_cast<T>(random() % 120);
  for (T& x : guide) x = static_cast<T>(random() % 120);
  const Shape shape = planar ? Shape{images, channels, height, width} : Shape{images, height, width, channels};
  const View image = bilateral_view(in.data(), dtype_of<T>, planar ? "FCHW" : "FHWC", shape);
  const View other = bilateral_view(guide.data(), dtype_of<T>, "FHWC", {images, height, width, others});
  const BilateralCircle circle{between(0, 9), 0.5f + static_cast<float>(random() % 60), 1.5f};
  BilateralRow row{};
  row.image = bilateral_planes(image), row.guide = bilateral_planes(joint ? other : image);
  row.height = height, row.width = width, row.joint = joint, row.border = i % 5;
  row.color = -0.7f / circle.sigma_color / circle.sigma_color;
  const std::vector<BilateralTap> taps = bilateral_taps(circle);
  row.count = static_cast<int32_t>(taps.size());
  for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
    row.out = expected.data();
    bilateral_rows(static_cast<Target>(t), dtype_of<T>, row, taps, bilateral_reach(circle), images);
    row.out = out.data();
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
      const int64_t plane = height * width, k = static_cast<int64_t>(pixel) / plane;
      const int64_t at = static_cast<int64_t>(pixel) % plane;
      float results[kBilateralChannels];
      const T* const from = in.data() + k * plane * channels;
      bilateral_pixel<T, ImageRule>(row, taps.data(), from, joint ? guide.data() + k * plane * others : from,
                                    at / width, at % width, results);
      for (int64_t c = 0; c < channels; ++c)
        out[static_cast<size_t>(k * plane * channels + at * row.image.pixel + c * row.image.channel)] =
            stored<T>(results[c]);
    }
    ASSERT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)), 0)
        << name_of(dtype_of<T>) << ", case " << i << ", target " << t;
  }
}

TEST(BilateralKernel, GivesTheBytesOfTheHost) {
  std::mt19937 random(3);
  for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
    if (i % 4 == 0) expect_bilateral_hosts_bytes<uint8_t>(random, i);
    else if (i % 4 == 1) expect_bilateral_hosts_bytes<float>(random, i);
    else if (i % 4 == 2) expect_bilateral_hosts_bytes<int16_t>(random, i);
    else expect_bilateral_hosts_bytes<Half>(random, i);
  }
}

}  // namespace
}  // namespace penstock::window
