// SPDX-License-Identifier: Apache-2.0
// Images with planes and pitches as batches without a copy.
#include "penstock/image.hpp"

#include "capi/capi_test.h"
#include "penstock/fn/arrays.h"

namespace {

using namespace penstock;
using capi_test::ramp;

std::vector<uint8_t> dense(const Tensor& t) {
  std::vector<uint8_t> all;
  const auto* p = t.as<const uint8_t>();
  for (int64_t y = 0; y < t.shape[0]; ++y)
    for (int64_t x = 0; x < t.shape[1]; ++x)
      for (int64_t c = 0; c < t.shape[2]; ++c) all.push_back(p[y * t.strides[0] + x * t.strides[1] + c * t.strides[2]]);
  return all;
}

TEST(Images, PlanesWithPitchesAreConvertedAsTheFrameIs) {
  const int h = 6, w = 8, pitch = 20;
  const auto luma = ramp(h * pitch), chroma = ramp(200);
  std::vector<uint8_t> frame;  // (H * 3 / 2, W, 1), as the operator takes it in one
  for (int i = 0; i < h * w; ++i) frame.push_back(luma[static_cast<size_t>(i / w * pitch + i % w)]);
  for (int i = 0; i < h / 2 * w; ++i) frame.push_back(chroma[static_cast<size_t>(i / w * 24 + i % w)]);
  const Image image(ImageFormat::nv12, w, h, {const_cast<uint8_t*>(luma.data()), const_cast<uint8_t*>(chroma.data())},
                    {pitch, 24});
  const Image smaller(ImageFormat::nv12, 4, 2, {image.plane(0), image.plane(1)}, {pitch, 24});
  const ImageBatch batch({image, smaller});
  EXPECT_EQ(batch.plane(0)[0].data, luma.data());
  EXPECT_EQ(batch.plane(1)[0].shape, (Shape{3, 4, 2}));
  const Batch rgb = batch.rgb();
  const Batch wanted = fn::color_space_conversion(Batch::wrap(frame.data(), {1, h * 3 / 2, w, 1}, "HWC"),
                                                  {.image_type = ColorFormat::nv12, .output_type = ColorFormat::rgb});
  EXPECT_EQ(dense(rgb[0]), dense(wanted[0]));
  EXPECT_EQ(rgb[1].shape, (Shape{2, 4, 3}));
  const Batch full = batch.rgb({.range = ColorSpaceConversionRange::full});
  EXPECT_NE(dense(full[0]), dense(rgb[0]));
}

TEST(Images, PackedFormatsAreOnePlaneUpwardsToo) {
  auto bytes = ramp(5 * 32);
  const Image image(ImageFormat::rgba, 7, 5, {bytes.data() + 4 * 32}, {-32});
  const Batch plane = ImageBatch({image}).plane(0);
  EXPECT_EQ(plane[0].shape, (Shape{5, 7, 4}));
  const Batch copied = fn::copy(plane);
  EXPECT_EQ(copied[0].as<uint8_t>()[0], bytes[4 * 32]);
  EXPECT_EQ(copied[0].as<uint8_t>()[4 * 28 + 5], bytes[5]);
  EXPECT_EQ(dense(ImageBatch({image}).to(ColorFormat::bgra)[0])[2], bytes[4 * 32]);
}

TEST(Images, OwnersLiveAsLongAsTheBatches) {
  auto owner = std::make_shared<std::vector<uint8_t>>(ramp(64));
  const std::weak_ptr<void> watch = owner;
  Batch plane = ImageBatch({Image(ImageFormat::gray, 8, 8, {owner->data()})}, owner).plane(0);
  owner = nullptr;
  EXPECT_FALSE(watch.expired());
  plane = {};
  EXPECT_TRUE(watch.expired());
}

TEST(Images, WhatIsNoImageIsRefused) {
  uint8_t bytes[64] = {};
  const auto refused = [](const std::string& words, auto&& body) {
    try {
      body();
      ADD_FAILURE() << words;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  const auto one = [&](ImageFormat f, int64_t w, int64_t h, std::vector<void*> planes, std::vector<int64_t> pitches) {
    ImageBatch({Image(f, w, h, planes, pitches)}).plane(0);
  };
  refused("2 planes", [&] { one(ImageFormat::nv12, 4, 4, {bytes}, {}); });
  refused("width that 2 divides", [&] { one(ImageFormat::nv12, 5, 4, {bytes, bytes}, {}); });
  refused("a height that 2 does", [&] { one(ImageFormat::i420, 4, 3, {bytes, bytes, bytes}, {}); });
  refused("width that 2 divides", [&] { one(ImageFormat::yuyv, 5, 3, {bytes}, {}); });
  refused("a pitch of 11 bytes, less than the 12 of a row", [&] { one(ImageFormat::rgb, 4, 4, {bytes}, {11}); });
  refused("-1 x 4 pixels", [&] { one(ImageFormat::rgb, -1, 4, {bytes}, {}); });
  refused("is NULL", [&] { one(ImageFormat::rgb, 4, 4, {nullptr}, {}); });
  refused("not a format", [&] { one(static_cast<ImageFormat>(4), 4, 4, {bytes}, {}); });
  refused("there is no plane 1", [&] { ImageBatch({Image(ImageFormat::gray, 4, 4, {bytes})}).plane(1); });
  refused("differ in their format", [&] {
    ImageBatch({Image(ImageFormat::gray, 4, 4, {bytes}), Image(ImageFormat::rgb, 4, 4, {bytes})}).plane(0);
  });
}

}  // namespace
