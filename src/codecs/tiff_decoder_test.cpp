// SPDX-License-Identifier: Apache-2.0
#include "codecs/tiff_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "codecs/decode_task.h"
#include "codecs/test_images.h"

namespace penstock {
namespace {

struct Gray {
  std::vector<uint8_t> pixels;
  DecodeTask task;

  explicit Gray(const std::vector<uint8_t>& file) {
    task.file = file;
    task.params.type = ImageType::gray;
    read_headers(task);
    request();
  }
  void request() {
    pixels.assign(static_cast<size_t>(task.info.height * task.info.width), 0);
    task.region = {0, 0, task.info.height, task.info.width};
    task.sink = {pixels.data(), task.info.width};
  }
  std::string decode() {
    decode_images({&task, 1});
    return task.error ? task.error->what() : "";
  }
};

// What libtiff would read a second time is not there any more.
void lose_header(std::vector<uint8_t>& file) { std::fill_n(file.begin(), test::kGrayTiffHeader, 0xFF); }

TEST(TiffDecoder, TheHeaderIsReadOnce) {
  std::vector<uint8_t> file = test::gray_tiff(3, 4);
  const std::vector<uint8_t> pixels(file.end() - 12, file.end());
  Gray gray(file);
  lose_header(file);
  EXPECT_EQ(gray.decode(), "");
  EXPECT_EQ(gray.pixels, pixels);
  EXPECT_NE(gray.decode(), "");  // libtiff's handle serves one decode
}

TEST(TiffDecoder, AKeptHeaderServesRepeatedDecodes) {
  const std::vector<uint8_t> file = test::gray_tiff(3, 4), copy = file;
  const std::vector<uint8_t> pixels(file.end() - 12, file.end());
  Gray gray(file);
  gray.task.file = copy;
  for (int i = 0; i < 3; ++i) {
    gray.request();
    EXPECT_EQ(gray.decode(), "");
    EXPECT_EQ(gray.pixels, pixels);
  }
  Gray first(file);
  std::vector<Gray> all(8, first);  // with one header
  for (Gray& each : all) each.request();
  std::vector<std::thread> threads;
  for (Gray& each : all) threads.emplace_back([&] { EXPECT_EQ(each.decode(), ""); });
  for (std::thread& t : threads) t.join();
  for (const Gray& each : all) EXPECT_EQ(each.pixels, pixels);
}

// libtiff may allocate more for a large block than for a header.
TEST(TiffDecoder, LargeBlocksAreDecoded) {
  const std::vector<uint8_t> file = test::gray_tiff(1100, 1000);
  Gray gray(file);
  EXPECT_EQ(gray.decode(), "");
  EXPECT_TRUE(std::equal(gray.pixels.begin(), gray.pixels.end(), file.begin() + test::kGrayTiffHeader));
}

TEST(TiffDecoder, WhatIsUnusualIsKnownFromTheKeptHeader) {
  std::vector<uint8_t> file = test::gray_tiff(3, 4);
  const std::vector<uint8_t> pixels(file.end() - 12, file.end());
  Gray gray(file);
  lose_header(file);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(tiff_is_unusual(file, gray.task.header), "");
  EXPECT_EQ(gray.decode(), "");
  EXPECT_EQ(gray.pixels, pixels);
}

}  // namespace
}  // namespace penstock
