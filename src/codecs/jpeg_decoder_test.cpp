// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg_decoder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "codecs/test_images.h"

namespace penstock {

using namespace test;

namespace {

std::vector<uint8_t> decode_region(const File& file, const Region& region, const DecodeParams& params = {}) {
  const ImageInfo info = probe_image(file, params);
  const int64_t row = region.width * output_channels(info, params.type) * size_of(params.dtype);
  std::vector<uint8_t> out(row * region.height, 0xA5);
  decode_image(file, info, params, region, {out.data(), row});
  return out;
}

// The first wrong pixel as text, or "".
std::string compare(const Plain& full, const Region& r, const std::vector<uint8_t>& got) {
  for (int64_t y = 0; y < r.height; ++y)
    for (int64_t x = 0; x < r.width * full.channels; ++x) {
      const int a = full.pixels[((r.y + y) * full.width + r.x) * full.channels + x];
      const int b = got[y * r.width * full.channels + x];
      if (a != b)
        return fmt::format("region ({}, {}) + ({}, {}): row {}, column {}: {} instead of {}", r.y, r.x, r.height,
                           r.width, r.y + y, r.x + x / full.channels, b, a);
    }
  return "";
}

int rounds(int usual) {
  const char* factor = std::getenv("PENSTOCK_TEST_LONG");
  return factor ? usual * std::max(1, std::atoi(factor)) : usual;
}

TEST(JpegDecoder, EveryRegionEqualsTheFullDecode) {
  std::mt19937 random(7);
  auto in = [&](int lo, int hi) { return lo + static_cast<int>(random() % (hi - lo + 1)); };
  const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}, {1, 4}, {2, 4}, {3, 1}, {3, 2}, {1, 3}};
  int wrong = 0;
  for (int i = 0; i < rounds(1500); ++i) {
    JpegRecipe r;
    const bool large = i % 8 == 0;
    r.height = large ? in(71, 330) : in(1, 70);
    r.width = large ? in(71, 330) : in(1, 70);
    r.h = samplings[i % 11][0];
    r.v = samplings[i % 11][1];
    r.components = in(0, 5) == 0 ? 1 : in(0, 9) == 0 ? 4 : 3;
    if (r.components == 4 && r.h * r.v > 4) r.components = 3;
    r.stored = r.components == 4 ? (in(0, 1) ? JCS_YCCK : JCS_CMYK) : in(0, 9) == 0 ? JCS_RGB : JCS_YCbCr;
    if (r.components == 1 && in(0, 1)) r.h = r.v = 1;
    r.quality = in(10, 100);
    r.progressive = in(0, 4) == 0;
    r.interleaved = in(0, 5) != 0;
    r.restart_rows = in(0, 3) == 0 ? in(1, 3) : 0;
    r.arithmetic = in(0, 9) == 0;
    r.seed = i;
    const File file = make_jpeg(r);
    DecodeParams params;
    const bool gray = r.components != 4 && in(0, 4) == 0;
    params.type = gray ? ImageType::gray : ImageType::rgb;
    params.fancy_upsampling = in(0, 4) != 0;
    if (r.components == 4) continue;
    const Plain full = decode_plainly(file, gray ? JCS_GRAYSCALE : JCS_RGB, params.fancy_upsampling);
    for (int k = 0; k < 12; ++k) {
      Region region;
      region.height = k ? in(1, r.height) : r.height;
      region.width = k ? in(1, r.width) : r.width;
      if (k > 6) region.height = in(1, std::min(r.height, 20)), region.width = in(1, std::min(r.width, 20));
      region.y = in(0, r.height - region.height);
      region.x = in(0, r.width - region.width);
      if (k % 4 == 3) region.y = r.height - region.height;
      const std::string difference = compare(full, region, decode_region(file, region, params));
      if (!difference.empty() && ++wrong < 20)
        ADD_FAILURE() << r.text() << (gray ? " as gray" : "") << (params.fancy_upsampling ? "" : " not fancy") << ": "
                      << difference;
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace

}  // namespace penstock
