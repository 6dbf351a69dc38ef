// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "codecs/jpeg_header.h"
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

// The whole picture, by plain libjpeg calls. Not for files that are smoothed, which the linked version may do
// differently (tests/test_incomplete_jpegs.py defines what is correct).
Plain whole_picture(const JpegRecipe& r, const File& file, J_COLOR_SPACE space, const DecodeParams& params) {
  Plain full = decode_plainly(file, space, params.fancy_upsampling, params.eighths);
  if (!r.incomplete) return full;
  if (space == JCS_CMYK) full.channels = 3;
  full.pixels = decode_region(file, {0, 0, full.height, full.width}, params);
  return full;
}

// CMYK with an Adobe marker: all values are stored inverted, so that color times black is the remaining light.
Plain to_rgb(const Plain& cmyk) {
  Plain rgb{cmyk.height, cmyk.width, 3, {}};
  for (size_t i = 0; i < cmyk.pixels.size(); i += 4)
    for (int c = 0; c < 3; ++c) rgb.pixels.push_back(cmyk.pixels[i + c] * cmyk.pixels[i + 3] / 255);
  return rgb;
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
    if (r.components == 3 && r.h == 4 && r.v == 1) r.third_h = in(1, 2);
    r.quality = in(10, 100);
    r.progressive = in(0, 4) == 0;
    r.incomplete = r.progressive && in(0, 2) == 0;
    r.interleaved = in(0, 5) != 0;
    r.restart_rows = in(0, 3) == 0 ? in(1, 3) : 0;
    r.arithmetic = in(0, 9) == 0;
    r.seed = i;
    const File file = make_jpeg(r);
    DecodeParams params;
    const bool gray = r.components != 4 && in(0, 4) == 0;
    params.type = gray ? ImageType::gray : ImageType::rgb;
    params.fancy_upsampling = in(0, 4) != 0;
    const auto space = r.components == 4 ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
    Plain full = whole_picture(r, file, space, params);
    if (full.channels == 4) full = to_rgb(full);
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

TEST(JpegDecoder, RegionsOfSmallerPictures) {
  std::mt19937 random(11);
  auto in = [&](int lo, int hi) { return lo + static_cast<int>(random() % (hi - lo + 1)); };
  const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {3, 2}};
  int wrong = 0;
  for (int i = 0; i < rounds(400); ++i) {
    JpegRecipe r;
    r.height = in(1, 150), r.width = in(1, 150);
    r.h = samplings[i % 6][0], r.v = samplings[i % 6][1];
    r.components = in(0, 5) == 0 ? 1 : 3;
    r.progressive = in(0, 4) == 0;
    r.incomplete = r.progressive && in(0, 2) == 0;
    r.seed = i;
    const File file = make_jpeg(r);
    DecodeParams params;
    params.eighths = 1 << in(0, 3);
    const Plain full = whole_picture(r, file, JCS_RGB, params);
    ASSERT_EQ(full.height, scaled_extent(r.height, params));
    ASSERT_EQ(full.width, scaled_extent(r.width, params));
    for (int k = 0; k < 6; ++k) {
      Region region;
      region.height = k ? in(1, full.height) : full.height, region.width = k ? in(1, full.width) : full.width;
      region.y = in(0, full.height - region.height), region.x = in(0, full.width - region.width);
      const std::string difference = compare(full, region, decode_region(file, region, params));
      if (!difference.empty() && ++wrong < 20)
        ADD_FAILURE() << r.text() << " at " << params.eighths << "/8: " << difference;
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(JpegDecoder, TypesAndDepths) {
  JpegRecipe r;
  r.height = 21, r.width = 34;
  for (int components : {1, 3}) {
    r.components = components;
    const File file = make_jpeg(r);
    const Plain rgb = decode_plainly(file, JCS_RGB), gray = decode_plainly(file, JCS_GRAYSCALE);
    const Region all{0, 0, 21, 34};
    DecodeParams params;
    params.type = ImageType::bgr;
    EXPECT_EQ(compare(decode_plainly(file, JCS_EXT_BGR), all, decode_region(file, all, params)), "");
    params.type = ImageType::gray;
    EXPECT_EQ(compare(gray, all, decode_region(file, all, params)), "");
    params.type = ImageType::any_data;
    EXPECT_EQ(compare(components == 1 ? gray : rgb, all, decode_region(file, all, params)), "");
    params.type = ImageType::ycbcr;
    const auto ycbcr = decode_region(file, all, params);
    params.type = ImageType::rgb;
    params.dtype = DType::uint16;
    const auto wide = decode_region(file, all, params);
    params.dtype = DType::float32;
    const auto unit = decode_region(file, all, params);
    for (size_t i = 0; i < rgb.pixels.size(); ++i) {
      uint16_t w;
      float f;
      std::memcpy(&w, &wide[2 * i], 2);
      std::memcpy(&f, &unit[4 * i], 4);
      ASSERT_EQ(w, rgb.pixels[i] * 257);
      ASSERT_NEAR(f, rgb.pixels[i] / 255.0, 1e-7);
    }
    const double m[3][3] = {{65.481, 128.553, 24.966}, {-37.797, -74.203, 112}, {112, -93.786, -18.214}};
    for (size_t i = 0; i < rgb.pixels.size(); i += 3)
      for (int c = 0; c < 3; ++c) {
        double want = c ? 128 : 16;
        for (int k = 0; k < 3; ++k) want += m[c][k] / 255 * rgb.pixels[i + k];
        ASSERT_NEAR(ycbcr[i + c], want, 0.501);
      }
  }
}

// The position in the stored picture of pixel (y, x) of the upright one, from the wording of the EXIF standard: the
// stored row 0 is the visual `side`, the stored column 0 is the visual `side`.
std::pair<int, int> stored_place(int orientation, int y, int x, int stored_height, int stored_width) {
  const int H = stored_height - 1, W = stored_width - 1;
  switch (orientation) {
    case 1: return {y, x};          // top, left
    case 2: return {y, W - x};      // top, right
    case 3: return {H - y, W - x};  // bottom, right
    case 4: return {H - y, x};      // bottom, left
    case 5: return {x, y};          // left, top
    case 6: return {H - x, y};      // right, top
    case 7: return {H - x, W - y};  // right, bottom
    default: return {x, W - y};     // left, bottom
  }
}

TEST(JpegDecoder, EveryOrientationAndRegion) {
  std::mt19937 random(9);
  for (int orientation = 0; orientation <= 9; ++orientation)
    for (int big = 0; big < 2; ++big) {
      JpegRecipe r;
      r.height = big ? 90 : 19, r.width = big ? 133 : 37;
      r.exif = make_exif(orientation, orientation & 1);
      const File file = make_jpeg(r);
      const Plain stored = decode_plainly(file, JCS_RGB);
      const int valid = orientation >= 1 && orientation <= 8 ? orientation : 1;
      DecodeParams params;
      ImageInfo info = probe_image(file, params);
      ASSERT_EQ(info.orientation, valid);
      ASSERT_EQ(info.height, valid >= 5 ? r.width : r.height);
      Plain upright{static_cast<int>(info.height), static_cast<int>(info.width), 3, {}};
      for (int y = 0; y < upright.height; ++y)
        for (int x = 0; x < upright.width; ++x) {
          const auto [sy, sx] = stored_place(valid, y, x, r.height, r.width);
          for (int c = 0; c < 3; ++c) upright.pixels.push_back(stored.pixels[(sy * r.width + sx) * 3 + c]);
        }
      for (int k = 0; k < 30; ++k) {
        Region region{0, 0, upright.height, upright.width};
        if (k) {
          region.height = 1 + random() % upright.height, region.width = 1 + random() % upright.width;
          region.y = random() % (upright.height - region.height + 1);
          region.x = random() % (upright.width - region.width + 1);
        }
        ASSERT_EQ(compare(upright, region, decode_region(file, region, params)), "") << "orientation " << orientation;
      }
      params.apply_orientation = false;
      EXPECT_EQ(probe_image(file, params).height, r.height);
      const Region all{0, 0, r.height, r.width};
      EXPECT_EQ(compare(stored, all, decode_region(file, all, params)), "");
    }
}

TEST(JpegDecoder, ThreadsDoNotDisturbEachOther) {
  std::vector<File> files;
  std::vector<Plain> full;
  JpegRecipe r;
  for (int i = 0; i < 8; ++i) {
    r.height = 40 + 9 * i, r.width = 90 - 7 * i, r.seed = i, r.progressive = i & 1;
    files.push_back(make_jpeg(r));
    full.push_back(decode_plainly(files.back(), JCS_RGB));
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 80; ++k) {
        const int i = (k * 3 + t) % 8;
        const Region region{k % 9, k % 7, full[i].height - 9 - k % 5, full[i].width - 7 - k % 11};
        wrong += !compare(full[i], region, decode_region(files[i], region)).empty();
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(JpegDecoder, NothingIsWrittenOutsideTheRegion) {
  JpegRecipe r;
  r.height = 50, r.width = 50;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    r.exif = make_exif(orientation, true);
    const File file = make_jpeg(r);
    std::vector<uint8_t> out(60 * 200, 0xA5);
    DecodeParams params;
    decode_image(file, probe_image(file, params), params, {7, 9, 30, 21}, {out.data() + 10 * 200 + 50, 200});
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 200; ++x)
        if (y < 10 || y >= 40 || x < 50 || x >= 50 + 63) {
          ASSERT_EQ(out[y * 200 + x], 0xA5) << y << " " << x;
        }
  }
}

std::string error_of(const File& file, Region region = {}, const DecodeParams& params = {}) {
  try {
    const ImageInfo info = probe_image(file, params);
    if (!region.height) region = {0, 0, info.height, info.width};
    decode_region(file, region, params);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::data) << e.what();
    return e.what();
  }
  return "";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(JpegDecoder, AFileThatEndsEarlyIsAnErrorThatNamesTheRow) {
  JpegRecipe r;
  r.height = 200, r.width = 150;
  for (bool progressive : {false, true}) {
    r.progressive = progressive;
    const File good = make_jpeg(r);
    for (size_t size = 0; size + 2 < good.size(); size += 1 + size / 50) {
      const std::string error = error_of(File(good.begin(), good.begin() + size));
      EXPECT_NE(error, "") << size << " of " << good.size();
      if (size > good.size() / 2) {
        EXPECT_TRUE(contains(error, "premature end of file at row")) << error;
      }
    }
  }
  r.progressive = false;
  const File good = make_jpeg(r);
  const File half(good.begin(), good.begin() + good.size() / 2);
  EXPECT_TRUE(contains(error_of(half), "of 200")) << error_of(half);
  // For a region only what it reads counts, and a missing end marker alone is not an error.
  EXPECT_EQ(error_of(half, {0, 0, 40, 150}), "");
  EXPECT_NE(error_of(half, {160, 0, 40, 150}), "");
  EXPECT_EQ(error_of(File(good.begin(), good.end() - 2)), "");
}

TEST(JpegDecoder, DamageInsideTheDataKeepsThePixels) {
  JpegRecipe r;
  r.height = 200, r.width = 150;
  File file = make_jpeg(r);
  for (size_t i = file.size() / 2; i < file.size() / 2 + 40; ++i) file[i] = 0;
  EXPECT_EQ(error_of(file), "");
  const Plain full = decode_plainly(file, JCS_RGB);  // libjpeg's own version of the damaged picture
  EXPECT_EQ(compare(full, {0, 0, 200, 150}, decode_region(file, {0, 0, 200, 150})), "");
}

TEST(JpegDecoder, HostileHeadersFailQuickly) {
  File file = make_jpeg({});
  const uint8_t marker[] = {0xFF, 0xC0};
  const auto frame = std::search(file.begin(), file.end(), marker, marker + 2);
  ASSERT_NE(frame, file.end());
  auto with_size = [&](int height, int width) {
    frame[5] = height >> 8, frame[6] = height & 255, frame[7] = width >> 8, frame[8] = width & 255;
    return file;
  };
  EXPECT_TRUE(contains(error_of(with_size(65500, 65500)), "65500 x 65500 pixels are more than the limit of 178956970"));
  EXPECT_TRUE(contains(error_of(with_size(0, 0)), "0 x 0"));
  EXPECT_TRUE(contains(error_of(with_size(0, 8)), "0 x 8") || contains(error_of(with_size(0, 8)), "8 x 0"));
  DecodeParams wide;
  wide.max_pixels = int64_t{1} << 40;
  const File huge = with_size(65500, 65500);
  EXPECT_TRUE(contains(error_of(huge, {0, 0, 1, 1}, wide), "cannot hold"));
  wide.max_pixels = 100;
  EXPECT_TRUE(contains(error_of(with_size(11, 10), {}, wide), "limit of 100"));
}

TEST(JpegDecoder, OtherFilesAreNamed) {
  auto bytes = [](const std::string& s) { return File(s.begin(), s.end()); };
  EXPECT_TRUE(contains(error_of({}), "empty"));
  EXPECT_TRUE(contains(error_of(bytes("%PDF-1.4")), "looks like PDF"));
  EXPECT_TRUE(contains(error_of(bytes("this is a letter, not a picture")), "looks like text"));
  EXPECT_TRUE(contains(error_of(bytes("<html>")), "HTML"));
  EXPECT_TRUE(contains(error_of(bytes("RIFF....WEBPVP8 ")), "WebP"));
  EXPECT_TRUE(contains(error_of({0, 1, 2, 3}), "not an image in a supported format"));
  EXPECT_NE(error_of({0xFF, 0xD8}), "");
  EXPECT_NE(error_of({0xFF, 0xD8, 0xFF}), "");
}

TEST(JpegDecoder, ARegionOutsideTheImageIsTheCallersFault) {
  const File file = make_jpeg({});
  const DecodeParams params;
  const ImageInfo info = probe_image(file, params);
  uint8_t out[8 * 8 * 3];
  for (const Region& r : {Region{0, 0, 9, 8}, Region{0, 0, 0, 8}, Region{-1, 0, 2, 2}, Region{0, 7, 1, 2},
                          Region{0, INT64_MAX, 1, 1}, Region{1, 1, INT64_MAX, 1}})
    EXPECT_THROW(decode_image(file, info, params, r, {out, 24}), Error);
}

TEST(JpegHeader, ReadsWhatLibjpegReads) {
  JpegRecipe r;
  for (int i = 0; i < 200; ++i) {
    r.height = 1 + i * 37 % 500, r.width = 1 + i * 91 % 700;
    r.components = i % 5 == 0 ? 1 : i % 7 == 0 ? 4 : 3;
    r.stored = r.components == 4 ? JCS_YCCK : JCS_YCbCr;
    r.progressive = i % 3 == 0;
    r.h = 1 + i % 2, r.v = 1 + i / 2 % 2;
    r.exif = i % 4 ? std::vector<uint8_t>{} : make_exif(1 + i % 8, i % 8);
    const JpegHeader h = read_jpeg_header(make_jpeg(r));
    EXPECT_EQ(h.height, r.height);
    EXPECT_EQ(h.width, r.width);
    EXPECT_EQ(h.components, r.components);
    EXPECT_EQ(h.progressive(), r.progressive);
    EXPECT_EQ(h.h[0], r.h);
    EXPECT_EQ(h.v[0], r.v);
    EXPECT_EQ(h.orientation, i % 4 ? 1 : 1 + i % 8);
    EXPECT_EQ(h.adobe_transform, r.components == 4 ? 2 : -1);
  }
}

}  // namespace

}  // namespace penstock
