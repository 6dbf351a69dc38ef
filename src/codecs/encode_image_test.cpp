// SPDX-License-Identifier: Apache-2.0
#include "codecs/encode_image.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "codecs/image_format.h"

namespace penstock {
namespace {

std::vector<uint8_t> noise(size_t bytes) {
  std::vector<uint8_t> pixels(bytes);
  uint32_t state = 1;
  for (uint8_t& v : pixels) state = state * 1664525 + 1013904223, v = static_cast<uint8_t>(state >> 24);
  return pixels;
}

// Python tests compare the pixels; here sanitizers see the encoders with all sizes of rows, and how they give up.
TEST(EncodeImage, WritesFilesOfAllSizes) {
  for (const int64_t height : {1, 2, 16, 33})
    for (const int64_t width : {1, 7, 8, 17, 65})
      for (const int channels : {1, 2, 3, 4}) {
        const std::vector<uint8_t> pixels = noise(static_cast<size_t>(height * width * channels) * 2);
        for (const int bits : {8, 16}) {
          const std::vector<uint8_t> file = encode_png({pixels.data(), height, width, channels, bits}, {});
          EXPECT_EQ(image_format_of(file)->id, "png");
        }
        if (channels >= 3)
          for (const bool lossless : {false, true}) {
            const auto file = encode_webp({pixels.data(), height, width, channels}, {80, lossless, 0});
            EXPECT_EQ(image_format_of(file)->id, "webp");
          }
        if (channels % 2 == 0) continue;
        for (const JpegSampling s : {JpegSampling::s444, JpegSampling::s422, JpegSampling::s420, JpegSampling::gray})
          for (const bool progressive : {false, true}) {
            const auto file = encode_jpeg({pixels.data(), height, width, channels}, {50, s, false, progressive, 1});
            EXPECT_EQ(image_format_of(file)->id, "jpeg");
          }
      }
}

TEST(EncodeImage, RefusesWhatAFormatDoesNotHold) {
  EXPECT_THROW(encode_jpeg({nullptr, 4, 4, 2}, {}), Error);
  EXPECT_THROW(encode_jpeg({nullptr, 4, 4, 3, 16}, {}), Error);
  EXPECT_THROW(encode_jpeg({nullptr, 4, 65501, 3}, {}), Error);
  EXPECT_THROW(encode_png({nullptr, 0, 4, 3}, {}), Error);
  EXPECT_THROW(encode_png({nullptr, 4, 4, 5}, {}), Error);
  EXPECT_THROW(encode_webp({nullptr, 16384, 4, 3}, {}), Error);
  EXPECT_THROW(encode_webp({nullptr, 4, 4, 1}, {}), Error);
}

}  // namespace
}  // namespace penstock
