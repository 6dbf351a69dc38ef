// SPDX-License-Identifier: Apache-2.0
// How groups are prepared and split, with a fake nvJPEG. The pixels of the real one are tested on machines that have
// it.
#include "cuda/decode/nvjpeg_decoder.h"

#include <gtest/gtest.h>

#include <set>

#include "codecs/image_decoder.h"
#include "codecs/test_images.h"
#include "cuda/decode/jpeg_engine.h"

namespace penstock {
namespace {

using nvjpeg::Status;

// The calls to the library, and the files on which it fails.
struct Asked {
  std::vector<int> prepared;
  std::vector<int> decoded;  // sizes
  int states = 0, handles = 0, size = 0;
  std::set<unsigned char> bad;  // first bytes of files
  Status status = Status::bad_file;
} asked;

Status create(int backend, void*, void*, unsigned, nvjpeg::Handle** handle) {
  EXPECT_EQ(backend, nvjpeg::kBackendHardware);
  *handle = reinterpret_cast<nvjpeg::Handle*>(&asked);
  ++asked.handles;
  return Status::success;
}
Status destroy(nvjpeg::Handle*) { return --asked.handles, Status::success; }
Status state_create(nvjpeg::Handle*, nvjpeg::State** state) {
  *state = reinterpret_cast<nvjpeg::State*>(new int(0));
  ++asked.states;
  return Status::success;
}
Status state_destroy(nvjpeg::State* state) {
  delete reinterpret_cast<int*>(state);
  return --asked.states, Status::success;
}
Status batched_initialize(nvjpeg::Handle*, nvjpeg::State* state, int size, int, nvjpeg::OutputFormat) {
  *reinterpret_cast<int*>(state) = size;
  asked.prepared.push_back(size);
  return Status::success;
}
// "Decodes" a file of one byte into one row of that byte.
Status batched_decode(nvjpeg::Handle*, nvjpeg::State* state, const unsigned char* const* files, const size_t*,
                      nvjpeg::Image* to, StreamHandle) {
  const int size = *reinterpret_cast<int*>(state);
  asked.decoded.push_back(size);
  for (int i = 0; i < size; ++i)
    if (asked.bad.count(*files[i])) return asked.status;
  for (int i = 0; i < size; ++i) std::fill_n(to[i].plane[0], to[i].pitch[0], *files[i]);
  return Status::success;
}

const nvjpeg::Library kLibrary{create, destroy, state_create, state_destroy, batched_initialize, batched_decode};

class NvjpegDecoderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    asked = Asked();
    std::string why;
    decoder_ = make_nvjpeg_decoder(kLibrary, *driver_, 0, why);
    ASSERT_TRUE(decoder_) << why;
  }
  void TearDown() override {
    decoder_.reset();
    EXPECT_EQ(asked.states, 0);
    EXPECT_EQ(asked.handles, 0);
  }
  // Images 0 to n - 1, each one row of `width` pixels; returns those with an error.
  std::vector<int> decode(int n) {
    std::vector<unsigned char> files(n), pixels(3 * kWidth * n);
    std::vector<DeviceDecode> images(n);
    ImageInfo info;
    info.height = 1;
    info.width = kWidth;
    for (int i = 0; i < n; ++i) {
      files[i] = static_cast<unsigned char>(i + 1);
      images[i].file = {&files[i], 1};
      images[i].info = &info;
      images[i].pixels = &pixels[3 * kWidth * i];
    }
    decoder_->decode(images, {}, nullptr);
    std::vector<int> failed;
    for (int i = 0; i < n; ++i) {
      if (images[i].error) failed.push_back(i);
      else EXPECT_EQ(std::count(&pixels[3 * kWidth * i], &pixels[3 * kWidth * i] + 3 * kWidth, files[i]), 3 * kWidth);
    }
    return failed;
  }

  static constexpr int kWidth = 5;
  std::unique_ptr<Driver> driver_ = make_driver();
  std::unique_ptr<BatchDecoder> decoder_;
};

TEST_F(NvjpegDecoderTest, PreparesAgainOnlyForOtherSizes) {
  for (int n : {100, 100, 100, 98, 98, 98, 98}) EXPECT_TRUE(decode(n).empty());
  EXPECT_EQ(asked.prepared, (std::vector{100, 100, 98, 98}));  // one for each of two states
  EXPECT_EQ(asked.decoded, (std::vector{100, 100, 100, 98, 98, 98, 98}));
}

TEST_F(NvjpegDecoderTest, FindsTheImagesThatFail) {
  asked.bad = {1, 42, 43, 64};
  EXPECT_EQ(decode(64), (std::vector{0, 41, 42, 63}));
  EXPECT_LT(asked.decoded.size(), 60u);
  asked.bad = {};
  EXPECT_TRUE(decode(64).empty());
}

TEST_F(NvjpegDecoderTest, SaysThatMemoryRanOut) {
  asked.bad = {7};
  asked.status = Status::allocator_failure;
  try {
    decode(8);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
  }
  asked.bad = {};
  EXPECT_TRUE(decode(8).empty());
}

TEST_F(NvjpegDecoderTest, TakesNothingFromAnEmptyGroup) {
  EXPECT_TRUE(decode(0).empty());
  EXPECT_TRUE(asked.decoded.empty());
}

std::string reasons(const test::File& file, DecodeParams params = {}) {
  return jpeg_engine_declines(file, probe_image(file, params), params);
}

TEST(JpegEngineDeclines, WhatEnginesCannotDo) {
  test::JpegRecipe plain;
  plain.height = plain.width = 32;
  const test::File file = test::make_jpeg(plain);
  EXPECT_EQ(reasons(file), "");
  test::File followed = file;
  followed.resize(file.size() + 10);
  EXPECT_EQ(reasons(followed), "");
  const test::File cut(file.begin(), file.end() - 10);
  EXPECT_EQ(reasons(cut), "the end marker is missing");

  auto of = [&](auto change) {
    test::JpegRecipe r = plain;
    change(r);
    return reasons(test::make_jpeg(r));
  };
  EXPECT_NE(of([](auto& r) { r.progressive = true; }), "");
  EXPECT_NE(of([](auto& r) { r.arithmetic = true; }), "");
  EXPECT_NE(of([](auto& r) { r.interleaved = false; }), "");
  EXPECT_NE(of([](auto& r) { r.h = 4; }), "");
  EXPECT_NE(of([](auto& r) { r.components = 4, r.stored = JCS_CMYK; }), "");
  EXPECT_NE(of([](auto& r) { r.stored = JCS_RGB; }), "");
  EXPECT_EQ(of([](auto& r) { r.components = 1, r.stored = JCS_GRAYSCALE; }), "the picture is gray");
  EXPECT_EQ(of([](auto& r) { r.height = 15; }), "the size of 15 x 32 pixels is not between 16 and 8192 on each side");
  EXPECT_EQ(of([](auto& r) { r.v = 1; }), "");
  EXPECT_EQ(of([](auto& r) { r.h = r.v = 1; }), "");
  EXPECT_EQ(of([](auto& r) { r.restart_mcus = 2; }), "");

  DecodeParams params;
  params.type = ImageType::bgr;
  EXPECT_EQ(reasons(file, params), "");
  params.type = ImageType::gray;
  params.dtype = DType::float32;
  params.eighths = 4;
  EXPECT_EQ(reasons(file, params),
            "it decodes to uint8, not to float32; it decodes only to RGB or BGR; it does not scale");
}

TEST(JpegEngineDeclines, UsesTheHeaderThatTheHostHasRead) {
  const auto said = [](test::JpegRecipe r) {
    r.height = r.width = 32;
    test::File file = test::make_jpeg(r);
    ParsedHeader read;
    const ImageInfo info = probe_image(file, {}, &read);
    std::fill(file.begin(), file.end() - 2, 0);  // only the end marker is looked for
    return jpeg_engine_declines(file, info, {}, read);
  };
  EXPECT_EQ(said({}), "");
  EXPECT_EQ(said({.components = 1, .stored = JCS_GRAYSCALE}), "the picture is gray");
  EXPECT_EQ(said({.progressive = true}), "neither baseline nor extended sequential Huffman coding");
}

}  // namespace
}  // namespace penstock
