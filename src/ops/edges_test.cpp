// SPDX-License-Identifier: Apache-2.0
// The sums of Sobel's windows, and the sizes at which Canny's edges have few neighbors. tests/test_edges.py compares
// with OpenCV.
#include <gtest/gtest.h>

#include "operator/image_work.h"
#include "ops/shared/byte_derivatives.h"
#include "ops/shared/canny_edges.h"

namespace penstock {
namespace {

TEST(ByteDerivatives, AreTheSumsOfTheirWindows) {
  for (const int64_t height : {1, 2, 5, 9})
    for (const int64_t width : {1, 2, 8, 37})
      for (const int size : {1, 3, 5, 7})
        for (const int border : {kBorderConstant, kBorderClamp, kBorderReflect101, kBorderReflect1001, kBorderWrap}) {
          const int64_t channels = 2, row = width * channels;
          std::vector<uint8_t> image(static_cast<size_t>(height * row));
          for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(i * i * 37 + i * 11);
          const SobelTaps down = sobel_taps(size, 1), across = sobel_taps(size, 0);
          ByteDerivatives d(image.data(), height, width, channels, border, down, across);
          std::vector<int32_t> found(static_cast<size_t>(row));
          for (int64_t y = 0; y < height; ++y) {
            d.row(y, found.data());
            for (int64_t e = 0; e < row; ++e) {
              int64_t sum = 0;
              for (int j = 0; j < down.size; ++j)
                for (int i = 0; i < across.size; ++i) {
                  const int64_t at = ImageRule::bordered(y + j - down.size / 2, height, border);
                  const int64_t x = ImageRule::bordered(e / channels + i - across.size / 2, width, border);
                  if (at >= 0 && x >= 0)
                    sum += int64_t{down.weights[static_cast<size_t>(j)]} * across.weights[static_cast<size_t>(i)] *
                           image[static_cast<size_t>(at * row + x * channels + e % channels)];
                }
              ASSERT_EQ(found[static_cast<size_t>(e)], sum) << size << ' ' << border << ' ' << y << ' ' << e;
            }
          }
        }
}

TEST(CannyEdges, AreWhereAStepIs) {
  for (const int64_t height : {1, 2, 3, 17})
    for (const int64_t width : {1, 2, 3, 9, 40})
      for (const int64_t channels : {1, 3})
        for (const int size : {3, 5, 7}) {
          std::vector<uint8_t> image(static_cast<size_t>(height * width * channels)),
              edges(static_cast<size_t>(height * width), 7);
          for (size_t i = 0; i < image.size(); ++i)
            image[i] = static_cast<int64_t>(i) / channels % width >= width / 2 ? 200 : 0;
          canny_edges(image.data(), edges.data(), {height, width, channels, size, 10, 50, false});
          for (int64_t y = 0; y < height; ++y) {
            int64_t found = 0;
            for (int64_t x = 0; x < width; ++x) found += edges[static_cast<size_t>(y * width + x)] == 255;
            EXPECT_EQ(found, width > 1 ? 1 : 0) << height << " x " << width;
          }
        }
}

}  // namespace
}  // namespace penstock
