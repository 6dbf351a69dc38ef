// SPDX-License-Identifier: Apache-2.0
// The calls to nvTIFF, with a fake library that decodes on the CPU. The pixels of the real one are tested on machines
// that have it.
#include "cuda/decode/nvtiff_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codecs/image_decoder.h"
#include "codecs/test_images.h"
#include "emulated_gpu/nvtiff_stand_in.h"

namespace penstock {
namespace {

DecodeParams gray() {
  DecodeParams params;
  params.type = ImageType::gray;
  return params;
}

class NvtiffDecoderTest : public ::testing::Test {
 protected:
  void SetUp() override { before_ = stand_in_counts(); }
  void TearDown() override {
    decoder_.reset();
    EXPECT_EQ(stand_in_counts().alive, before_.alive);
    EXPECT_EQ(stand_in_counts().wrong, before_.wrong);
  }
  const std::vector<uint8_t> file_ = test::gray_tiff(3, 4);
  const ImageInfo info_ = probe_image(file_, gray());
  std::unique_ptr<Driver> driver_ = make_driver();
  std::unique_ptr<BatchDecoder> decoder_ = make_nvtiff_decoder(nvtiff_stand_in("decodes"), *driver_, 0);
  StandInCounts before_;
};

TEST_F(NvtiffDecoderTest, DecodesMoreImagesThanItHasDecodersAndClosesTheirFiles) {
  constexpr int kCount = 30;
  std::vector<std::vector<uint8_t>> pixels(kCount, std::vector<uint8_t>(12));
  std::vector<DeviceDecode> images(kCount);
  for (int i = 0; i < kCount; ++i) images[i].file = file_, images[i].info = &info_, images[i].pixels = pixels[i].data();
  auto in_flight = decoder_->decode(images, gray(), nullptr);
  ASSERT_TRUE(in_flight);
  const int open = stand_in_counts().alive;
  in_flight->finish(images);
  EXPECT_EQ(stand_in_counts().alive, open - kCount);
  for (int i = 0; i < kCount; ++i) {
    EXPECT_FALSE(images[i].error);
    EXPECT_EQ(pixels[i], std::vector<uint8_t>(file_.end() - 12, file_.end()));
  }
  EXPECT_EQ(stand_in_counts().decoded - before_.decoded, kCount);
}

TEST_F(NvtiffDecoderTest, DecodesRegionsAndSaysWhichFilesFailed) {
  const std::vector<uint8_t> cut(file_.begin(), file_.begin() + 30);
  std::vector<uint8_t> pixels(4);
  DeviceDecode images[2];
  for (DeviceDecode& image : images) image.info = &info_, image.pixels = pixels.data(), image.region = {1, 2, 2, 2};
  images[0].file = cut, images[1].file = file_;
  decoder_->decode(images, gray(), nullptr);
  ASSERT_TRUE(images[0].error);
  EXPECT_EQ(images[0].error->kind(), ErrorKind::data);
  EXPECT_FALSE(images[1].error);
  EXPECT_EQ(pixels, (std::vector<uint8_t>{12, 13, 22, 23}));
}

TEST_F(NvtiffDecoderTest, DeclinesWhatIsNotStoredAsItIsWanted) {
  EXPECT_EQ(nvtiff_declines(file_, info_, gray()), "");
  EXPECT_EQ(nvtiff_declines(file_, info_, {}), "the 1 channels would need a conversion");
  const std::vector<uint8_t> cut(file_.begin(), file_.end() - 1);
  EXPECT_EQ(nvtiff_declines(cut, info_, gray()), "a strip or tile is not in the file");
  std::vector<uint8_t> white = file_;
  white[10 + 4 * 12 + 8] = 0;
  EXPECT_EQ(nvtiff_declines(white, info_, gray()), "the photometric interpretation is 0");
}

TEST_F(NvtiffDecoderTest, UsesTheHeaderThatTheHostHasRead) {
  std::vector<uint8_t> file = file_;
  ParsedHeader read;
  const ImageInfo info = probe_image(file, gray(), &read);
  std::fill_n(file.begin(), test::kGrayTiffHeader, 0xFF);
  EXPECT_EQ(nvtiff_declines(file, info, gray(), read), "");
}

}  // namespace
}  // namespace penstock
