// SPDX-License-Identifier: Apache-2.0
// The kernel as ordinary C++, with fibers for threads, gives what a plain loop gives.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "families/mask/kernels/mask.h"

namespace penstock::mask {
namespace {

struct Stripes {
  struct Coef {
    double across, down;
  };
  static bool clears(double x, double y, const Coef& c) { return static_cast<int>(x * c.across + y * c.down) % 3 == 0; }
};

template <class T> void expect_masked(std::mt19937& random) {
  const auto between = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
  const int64_t height = between(20), width = between(60), channels = between(5), images = between(2);
  std::vector<T> in(static_cast<size_t>(images * height * width * channels)), out(in.size() + 1, T(7));
  for (T& v : in) v = static_cast<T>(random());
  const Stripes::Coef coef{0.7, 1.9};
  whole::launch<MaskRow>({{in.data(), out.data(), height, width, channels, {}}}, {images * height * width}, 512,
                         mask_pixels<T, Stripes>, &coef, sizeof coef);
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t pixel = static_cast<int64_t>(i) / channels, line = pixel / width;
    const bool cleared =
        Stripes::clears(static_cast<double>(pixel - line * width), static_cast<double>(line % height), coef);
    ASSERT_EQ(out[i], cleared ? T(0) : in[i]) << i << " of " << height << " x " << width << " x " << channels;
  }
  ASSERT_EQ(out.back(), T(7));
}

TEST(MaskKernel, KeepsOrClearsPixels) {
  std::mt19937 random(5);
  for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); ++i) {
    expect_masked<uint8_t>(random);
    expect_masked<uint32_t>(random);
    expect_masked<uint64_t>(random);
  }
}

}  // namespace
}  // namespace penstock::mask
