// SPDX-License-Identifier: Apache-2.0
// The order of calls to nvJPEG2000, and the handling of its errors, with a fake library that decodes on the CPU. The
// pixels of the real one are tested on machines that have it.
#include "cuda/decode/nvjpeg2000_decoder.h"

#include <gtest/gtest.h>

#include <numeric>

#include "codecs/image_format.h"
#include "codecs/test_images.h"
#include "cuda/decode/decoder_by_format.h"
#include "emulated_gpu/nvjpeg2000_stand_in.h"

namespace penstock {
namespace {

// 6 rows of 9 pixels: (20 x, 30 y, 10 (x + y)), lossless.
const uint8_t kColor[] = {255, 79,  255, 81,  0,   47,  0,   0,   0,   0,   0,   9,   0,   0,   0,   6,   0,   0,   0,
                          0,   0,   0,   0,   0,   0,   0,   0,   9,   0,   0,   0,   6,   0,   0,   0,   0,   0,   0,
                          0,   0,   0,   3,   7,   1,   1,   7,   1,   1,   7,   1,   1,   255, 82,  0,   12,  0,   0,
                          0,   1,   0,   1,   4,   4,   0,   1,   255, 92,  0,   7,   64,  64,  72,  72,  80,  255, 100,
                          0,   37,  0,   1,   67,  114, 101, 97,  116, 101, 100, 32,  98,  121, 32,  79,  112, 101, 110,
                          74,  80,  69,  71,  32,  118, 101, 114, 115, 105, 111, 110, 32,  50,  46,  53,  46,  52,  255,
                          144, 0,   10,  0,   0,   0,   0,   0,   74,  0,   1,   255, 147, 223, 128, 88,  9,   82,  192,
                          57,  23,  220, 38,  24,  144, 53,  187, 223, 128, 56,  7,   155, 144, 63,  47,  32,  152, 223,
                          128, 120, 6,   182, 25,  82,  28,  241, 180, 105, 13,  183, 10,  12,  242, 113, 223, 128, 160,
                          249, 194, 128, 12,  192, 254, 205, 215, 160, 124, 129, 0,   12,  192, 57,  207, 255, 217};
// 8 rows of 8 gray pixels in four tiles: 9 x + 20 y.
const uint8_t kTiles[] = {
    255, 79,  255, 81,  0,   41,  0,   0,   0,   0,   0,   8,   0,   0,   0,   8,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   4,   0,   0,   0,   4,   0,   0,   0,   0,   0,   0,   0,   0,   0,   1,   7,   1,
    1,   255, 82,  0,   12,  0,   0,   0,   1,   0,   0,   4,   4,   0,   1,   255, 92,  0,   4,   64,  64,  255,
    100, 0,   37,  0,   1,   67,  114, 101, 97,  116, 101, 100, 32,  98,  121, 32,  79,  112, 101, 110, 74,  80,
    69,  71,  32,  118, 101, 114, 115, 105, 111, 110, 32,  50,  46,  53,  46,  52,  255, 144, 0,   10,  0,   0,
    0,   0,   0,   35,  0,   1,   255, 147, 223, 128, 144, 18,  11,  206, 107, 255, 76,  143, 98,  236, 31,  252,
    187, 187, 64,  61,  91,  27,  127, 255, 144, 0,   10,  0,   1,   0,   0,   0,   33,  0,   1,   255, 147, 207,
    180, 64,  16,  226, 94,  242, 168, 228, 217, 180, 144, 2,   213, 57,  105, 134, 168, 119, 255, 144, 0,   10,
    0,   2,   0,   0,   0,   32,  0,   1,   255, 147, 199, 212, 30,  18,  90,  254, 108, 133, 171, 76,  18,  182,
    238, 120, 14,  236, 92,  191, 255, 144, 0,   10,  0,   3,   0,   0,   0,   33,  0,   1,   255, 147, 207, 180,
    64,  30,  208, 53,  115, 90,  147, 109, 131, 78,  60,  209, 98,  4,   163, 237, 183, 255, 217};

constexpr Bytes kFiles[] = {kColor, kTiles};

class Nvjpeg2000DecoderTest : public ::testing::Test {
 protected:
  void SetUp() override { before_ = stand_in_counts(); }
  void TearDown() override {
    decoder_.reset();
    EXPECT_EQ(stand_in_counts().alive, before_.alive);
    EXPECT_EQ(stand_in_counts().wrong, before_.wrong);
  }
  void make(const char* how) {
    std::string why;
    decoder_ = make_nvjpeg2000_decoder(nvjpeg2000_stand_in(how), *driver_, 0, why);
    ASSERT_TRUE(decoder_) << why;
  }
  int decoded() const { return stand_in_counts().decoded - before_.decoded; }

  std::unique_ptr<Driver> driver_ = make_driver();
  std::unique_ptr<BatchDecoder> decoder_;
  StandInCounts before_;
};

DecodeParams any_data() {
  DecodeParams params;
  params.type = ImageType::any_data;
  return params;
}

std::vector<uint8_t> by_cpu(Bytes file, const Region& r) {
  const ImageInfo info = probe_image(file, any_data());
  std::vector<uint8_t> pixels(static_cast<size_t>(r.height * r.width * info.channels));
  decode_image(file, info, any_data(), r, {pixels.data(), r.width * info.channels});
  return pixels;
}

TEST_F(Nvjpeg2000DecoderTest, DecodesMoreImagesThanItHasStates) {
  make("decodes");
  constexpr int kCount = 50;
  std::vector<ImageInfo> infos(kCount);
  std::vector<std::vector<uint8_t>> pixels(kCount);
  std::vector<DeviceDecode> images(kCount);
  for (int i = 0; i < kCount; ++i) {
    const Bytes file = kFiles[i % 2];
    infos[i] = probe_image(file, any_data());
    pixels[i].resize(static_cast<size_t>(infos[i].height * infos[i].width * infos[i].channels));
    images[i].file = file, images[i].info = &infos[i], images[i].pixels = pixels[i].data();
  }
  EXPECT_EQ(decoder_->decode(images, any_data(), nullptr), nullptr);
  for (int i = 0; i < kCount; ++i) {
    EXPECT_FALSE(images[i].error);
    EXPECT_EQ(pixels[i], by_cpu(kFiles[i % 2], {0, 0, infos[i].height, infos[i].width}));
  }
  EXPECT_EQ(pixels[0][3 * (9 * 2 + 4)], 80);
  EXPECT_EQ(decoded(), kCount);
}

TEST_F(Nvjpeg2000DecoderTest, DecodesRegionsOfOneTileAndLeavesThoseOfSeveral) {
  make("decodes");
  ImageInfo infos[] = {probe_image(kColor, any_data()), probe_image(kTiles, any_data())};
  std::vector<uint8_t> pixels(3 * 3 * 5, 7);
  DeviceDecode image;
  image.file = kColor, image.info = &infos[0], image.pixels = pixels.data(), image.region = {2, 1, 3, 5};
  decoder_->decode({&image, 1}, any_data(), nullptr);
  EXPECT_FALSE(image.error);
  EXPECT_EQ(pixels, by_cpu(kColor, {2, 1, 3, 5}));
  image.file = kTiles, image.info = &infos[1];
  decoder_->decode({&image, 1}, any_data(), nullptr);
  EXPECT_TRUE(image.error);
  image.error.reset(), image.region = {0, 0, 8, 8};
  pixels.resize(64);
  image.pixels = pixels.data();
  decoder_->decode({&image, 1}, any_data(), nullptr);
  EXPECT_FALSE(image.error);
  EXPECT_EQ(pixels, by_cpu(kTiles, {0, 0, 8, 8}));
}

TEST_F(Nvjpeg2000DecoderTest, SaysWhichFilesFailed) {
  make("decodes");
  const std::vector<uint8_t> cut(kColor, kColor + 60);  // only the header
  const ImageInfo info = probe_image(kColor, any_data());
  std::vector<uint8_t> pixels(3 * 6 * 9);
  DeviceDecode images[3];
  for (DeviceDecode& image : images) image.file = kColor, image.info = &info, image.pixels = pixels.data();
  images[1].file = cut;
  decoder_->decode(images, any_data(), nullptr);
  EXPECT_FALSE(images[0].error);
  ASSERT_TRUE(images[1].error);
  EXPECT_EQ(images[1].error->kind(), ErrorKind::data);
  EXPECT_FALSE(images[2].error);
  EXPECT_EQ(pixels, by_cpu(kColor, {0, 0, 6, 9}));
}

TEST_F(Nvjpeg2000DecoderTest, DeclinesWhatIsNotStoredAsItIsWanted) {
  const auto reasons = [](Bytes file, auto change) {
    DecodeParams params;
    change(params);
    return nvjpeg2000_declines(file, probe_image(file, params), params);
  };
  const auto as_it_is = [](DecodeParams&) {};
  EXPECT_EQ(reasons(kColor, as_it_is), "");
  EXPECT_EQ(reasons(kTiles, as_it_is), "the 1 components would need a conversion");
  EXPECT_EQ(reasons(kTiles, [](DecodeParams& p) { p.type = ImageType::gray; }), "");
  EXPECT_EQ(reasons(kColor, [](DecodeParams& p) { p.type = ImageType::bgr; }),
            "the 3 components would need a conversion");
  EXPECT_EQ(reasons(kColor, [](DecodeParams& p) { p.dtype = DType::float32; }), "it decodes to uint8, not to float32");
  EXPECT_EQ(reasons(Bytes(kColor).first(sizeof kColor - 2), as_it_is), "the end marker is missing");
  EXPECT_EQ(reasons(test::make_png({}), as_it_is), "the format is png");
}

TEST_F(Nvjpeg2000DecoderTest, UsesTheHeaderThatTheHostHasRead) {
  std::vector<uint8_t> file(std::begin(kColor), std::end(kColor));
  ParsedHeader read;
  const ImageInfo info = probe_image(file, {}, &read);
  std::fill(file.begin(), file.end() - 2, 0);  // only the end marker is looked for
  EXPECT_EQ(nvjpeg2000_declines(file, info, {}, read), "");
}

// Decodes nothing, and reports errors later.
class FailsLater final : public BatchDecoder {
  class Later final : public DecodesInFlight {
    void finish(std::span<DeviceDecode> images) override {
      for (DeviceDecode& image : images) image.error = Error(ErrorKind::data, fmt::format("{}", image.info->width));
    }
  };
  const char* name() const override { return "first"; }
  int best_group() const override { return 5; }
  std::string declines(std::span<const uint8_t>, const ImageInfo&, const DecodeParams&, const ParsedHeader&,
                       ParsedHeader*) const override {
    return "first declines";
  }
  std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode>, const DecodeParams&, StreamHandle) override {
    return std::make_unique<Later>();
  }
};

TEST_F(Nvjpeg2000DecoderTest, GetsItsFormatOutOfAGroup) {
  std::string why;
  decoder_ = decoder_by_format(std::make_unique<FailsLater>(),
                               make_nvjpeg2000_decoder(nvjpeg2000_stand_in("decodes"), *driver_, 0, why), "jpeg2000");
  EXPECT_STREQ(decoder_->name(), "first");
  ImageInfo infos[2] = {probe_image(kColor, any_data()), {}};
  const ImageFormat jpeg{.id = "jpeg"};
  infos[1].format = &jpeg, infos[1].height = 1, infos[1].width = 77;
  EXPECT_EQ(decoder_->declines(kColor, infos[0], any_data(), {}, nullptr), "");
  EXPECT_EQ(decoder_->declines({}, infos[1], any_data(), {}, nullptr), "first declines");
  std::vector<uint8_t> pixels(3 * 6 * 9);
  DeviceDecode images[4];
  for (int i = 0; i < 4; ++i) images[i].file = kColor, images[i].info = &infos[i % 2], images[i].pixels = pixels.data();
  auto in_flight = decoder_->decode(images, any_data(), nullptr);
  ASSERT_TRUE(in_flight);
  in_flight->finish(images);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(images[i].error.has_value(), i % 2 == 1);
  EXPECT_STREQ(images[3].error->what(), "77");
  EXPECT_EQ(decoded(), 2);
}

}  // namespace
}  // namespace penstock
