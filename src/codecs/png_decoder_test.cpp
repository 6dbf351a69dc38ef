// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "codecs/image_decoder.h"
#include "codecs/png_write.h"
#include "codecs/test_images.h"

namespace penstock {

using namespace test;

namespace {

// One pixel of the picture as the format's specification defines it: RGBA in the depth of the file.
struct Pixel {
  double v[4] = {0, 0, 0, 0};
  double top = 255;
};
Pixel expected_pixel(const PngRecipe& r, const std::vector<uint16_t>& samples, int64_t y, int64_t x) {
  const uint16_t* s = &samples[(y * r.width + x) * r.channels()];
  Pixel p;
  if (r.color_type == PNG_COLOR_TYPE_PALETTE) {
    const png_color c = palette_entry(s[0]);
    p.v[0] = c.red, p.v[1] = c.green, p.v[2] = c.blue;
    return p;
  }
  p.top = r.bits == 16 ? 65535 : 255;
  const double scale = r.bits < 8 ? 255.0 / ((1 << r.bits) - 1) : 1;
  const bool color = r.channels() >= 3;
  for (int c = 0; c < 3; ++c) p.v[c] = s[color ? c : 0] * scale;
  p.v[3] = r.channels() % 2 == 0 ? s[r.channels() - 1] : 0;
  return p;
}

// What the decoder promises for one pixel of one type, before any rounding; `top` becomes the largest value.
std::vector<double> in_type(const PngRecipe& r, const Pixel& p, ImageType type, double top) {
  const bool color = r.channels() >= 3 || r.color_type == PNG_COLOR_TYPE_PALETTE;
  const double scale = top / p.top, R = p.v[0] * scale, G = p.v[1] * scale, B = p.v[2] * scale;
  switch (type) {
    case ImageType::rgb: return {R, G, B};
    case ImageType::bgr: return {B, G, R};
    case ImageType::gray: return {color ? 0.299 * R + 0.587 * G + 0.114 * B : R};
    case ImageType::ycbcr: {  // BT.601: the definition, from its two constants
      const double y = 0.299 * R + 0.587 * G + 0.114 * B, range = top == 1 ? 1 : top + 1;
      return {range / 16 + 219.0 / 255 * y, range / 2 + 224.0 / 255 * (B - y) / (2 * (1 - 0.114)),
              range / 2 + 224.0 / 255 * (R - y) / (2 * (1 - 0.299))};
    }
    default: {
      std::vector<double> v = color ? std::vector<double>{R, G, B} : std::vector<double>{R};
      if (r.channels() % 2 == 0) v.push_back(p.v[3] * scale);
      return v;
    }
  }
}

double element(const std::vector<uint8_t>& out, size_t i, DType dtype) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    T v;
    std::memcpy(&v, &out[sizeof(T) * i], sizeof(T));
    return static_cast<double>(v);
  });
}

double top_of(DType dtype) { return is_float(dtype) ? 1 : std::exp2(8 * size_of(dtype) - !is_unsigned(dtype)) - 1; }

void check_region(const PngRecipe& r, const File& file, const Region& region, const DecodeParams& params) {
  const ImageInfo info = probe_image(file, params);
  ASSERT_EQ(info.height, r.height);
  ASSERT_EQ(info.width, r.width);
  const int channels = output_channels(info, params.type);
  const int64_t row = region.width * channels * size_of(params.dtype);
  std::vector<uint8_t> out(row * region.height, 0xA5);
  decode_image(file, info, params, region, {out.data(), row});
  const auto samples = make_samples(r);
  const bool whole = is_integer(params.dtype) &&
                     size_of(params.dtype) < 4;  // 32-bit results are float32's, with 24 bits, and not rounded
  const double top = top_of(params.dtype);
  size_t i = 0;
  for (int64_t y = region.y; y < region.y + region.height; ++y)
    for (int64_t x = region.x; x < region.x + region.width; ++x) {
      const Pixel p = expected_pixel(r, samples, y, x);
      const auto want = in_type(r, p, params.type, top);
      ASSERT_EQ(static_cast<int>(want.size()), channels);
      for (double w : want) {
        const double got = element(out, i++, params.dtype);
        const double ulp = params.dtype == DType::float16 ? 0x1p-11 : 0;
        double allowed = ulp ? ulp : whole ? 0.5 + 1e-9 : 1.3e-7 * top;
        if (params.type == ImageType::ycbcr) allowed = ulp ? ulp : whole ? 0.51 : 4e-7 * top;
        if (params.type == ImageType::gray) allowed += 0.51 * top / p.top;  // first rounded in the depth of the file
        if (whole && std::fmod(top, p.top) == 0 && params.type != ImageType::ycbcr) allowed -= 0.5;
        ASSERT_NEAR(got, w, allowed) << r.text() << " at " << y << ", " << x << " type "
                                     << static_cast<int>(params.type) << " as " << name_of(params.dtype);
      }
    }
}

const int kKinds[][2] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {8, 2}, {16, 2}, {1, 3},
                         {2, 3}, {4, 3}, {8, 3}, {8, 4}, {16, 4}, {8, 6}, {16, 6}};

const DType kTypes[] = {DType::uint8,  DType::uint16, DType::float32, DType::int8,   DType::int16,
                        DType::uint32, DType::int32,  DType::float16, DType::float64};

TEST(PngDecoder, EveryKindTypeDepthAndRegion) {
  std::mt19937 random(3);
  auto in = [&](int lo, int hi) { return lo + static_cast<int>(random() % (hi - lo + 1)); };
  for (int i = 0; i < 450; ++i) {
    PngRecipe r;
    r.bits = kKinds[i % 15][0];
    r.color_type = kKinds[i % 15][1];
    r.height = in(1, 40);
    r.width = in(1, 40);
    r.interlaced = i / 15 % 2;
    r.transparent = in(0, 2) == 0 && r.color_type <= 3;
    r.text_bytes = in(0, 3) == 0 ? 1000 : 0;
    r.seed = i;
    const File file = make_png(r);
    for (int k = 0; k < 9; ++k) {
      DecodeParams params;
      params.type = static_cast<ImageType>(in(0, 4));
      params.dtype = kTypes[k];
      Region region{0, 0, k > 1 ? in(1, r.height) : r.height, k ? in(1, r.width) : r.width};
      region.y = in(0, r.height - region.height);
      region.x = in(0, r.width - region.width);
      check_region(r, file, region, params);
      if (HasFatalFailure()) return;
    }
  }
}

std::string png_error_of(const File& file, DecodeParams params = {}) {
  try {
    const ImageInfo info = probe_image(file, params);
    std::vector<uint8_t> out(info.height * info.width * 16);
    decode_image(file, info, params, {0, 0, info.height, info.width}, {out.data(), info.width * 3});
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::data);
    return e.what();
  }
  return "";
}

TEST(PngDecoder, DamageIsAnErrorThatNamesTheCause) {
  PngRecipe r;
  r.height = 50, r.width = 60;
  const File good = make_png(r);
  EXPECT_EQ(png_error_of(good), "");
  File cut(good.begin(), good.begin() + good.size() / 2);
  EXPECT_NE(png_error_of(cut).find("premature end of file at row"), std::string::npos) << png_error_of(cut);
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(png_error_of(File(good.begin(), good.begin() + size)), "") << size << " of " << good.size();
  File wrong = good;
  wrong[good.size() / 2] ^= 0x10;
  EXPECT_NE(png_error_of(wrong), "");
  File checksum = good;  // of the last IDAT chunk, which ends before the 12 bytes of IEND
  checksum[good.size() - 13] ^= 1;
  EXPECT_NE(png_error_of(checksum).find("CRC"), std::string::npos) << png_error_of(checksum);
}

// The header says `width` x `height`; the rest of the file does not change, and the checksum is corrected.
File with_size(File file, uint32_t width, uint32_t height) {
  for (int i = 0; i < 4; ++i) file[16 + i] = width >> (24 - 8 * i), file[20 + i] = height >> (24 - 8 * i);
  uint32_t crc = ~0u;
  for (int i = 12; i < 29; ++i) {
    crc ^= file[i];
    for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
  }
  crc = ~crc;
  for (int i = 0; i < 4; ++i) file[29 + i] = crc >> (24 - 8 * i);
  return file;
}

TEST(PngDecoder, HostileSizesFailBeforeMemoryIsTaken) {
  const File file = make_png({});
  EXPECT_NE(png_error_of(with_size(file, 0x7FFFFFFF, 0x7FFFFFFF)).find("limit"), std::string::npos);
  EXPECT_NE(png_error_of(with_size(file, 0xFFFFFFFF, 1)).find("the header says"), std::string::npos);
  EXPECT_NE(png_error_of(with_size(file, 0, 5)).find("the header says"), std::string::npos);
  EXPECT_NE(png_error_of(with_size(file, 0x7FFFFFFF, 1)).find("limit"), std::string::npos);
  const File wide = with_size(file, 178956970, 1);  // within the limit; the file cannot contain it
  const DecodeParams params;
  uint8_t pixel[3];
  try {
    decode_image(wide, probe_image(wide, params), params, {0, 0, 1, 1}, {pixel, 3});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cannot hold"), std::string::npos);
  }
}

TEST(PngDecoder, OrientationOfTheExifChunk) {
  PngRecipe r;
  r.height = 5, r.width = 9;
  r.exif = make_exif(6, false);
  const File file = make_png(r);
  const DecodeParams params;
  const ImageInfo info = probe_image(file, params);
  ASSERT_EQ(info.orientation, 6);
  ASSERT_EQ(info.height, 9);
  std::vector<uint8_t> out(5 * 9 * 3);
  decode_image(file, info, params, {0, 0, 9, 5}, {out.data(), 15});
  const auto s = make_samples(r);
  for (int y = 0; y < 9; ++y)  // rotated clockwise: the upper left pixel comes from the lower left
    for (int x = 0; x < 5; ++x)
      for (int c = 0; c < 3; ++c) EXPECT_EQ(out[(y * 5 + x) * 3 + c], s[((4 - x) * 9 + y) * 3 + c]);
}

TEST(PngWrite, WhatIsWrittenIsReadBack) {
  for (int channels : {1, 3})
    for (int width : {1, 7, 300}) {
      const auto pixels = make_pixels(11, width, channels, 5);
      const File file = encode_png(pixels.data(), 11, width, channels);
      DecodeParams params;
      params.type = ImageType::any_data;
      const ImageInfo info = probe_image(file, params);
      ASSERT_EQ(info.channels, channels);
      std::vector<uint8_t> out(pixels.size());
      decode_image(file, info, params, {0, 0, 11, width}, {out.data(), width * channels});
      EXPECT_EQ(out, pixels);
    }
  EXPECT_THROW(encode_png(nullptr, 0, 5, 3), Error);
  EXPECT_THROW(encode_png(nullptr, 5, 5, 2), Error);
}

}  // namespace

}  // namespace penstock
