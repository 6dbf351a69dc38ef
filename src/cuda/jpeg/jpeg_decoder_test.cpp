// SPDX-License-Identifier: Apache-2.0
// The GPU's decoder on the emulated GPU: the bytes of decode_image, whatever the file, the batch and the region.
#include "cuda/jpeg/jpeg_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "codecs/image_decoder.h"
#include "codecs/test_images.h"
#include "cuda/jpeg/file_header.h"
#include "cuda/jpeg/test_jpegs.h"

namespace penstock {
namespace {

using test::File;
using test::JpegRecipe;

TEST(JpegOnTheGpu, GivesTheCpusBytesForEverySamplingAndSize) {
  test::GpuJpegs gpu;
  const int sizes[][2] = {{1, 1}, {8, 8}, {9, 17}, {5, 3}, {47, 33}, {120, 160}, {300, 16}, {16, 300}, {201, 333}};
  uint32_t seed = 0;
  for (const auto& [height, width] : sizes)
    for (int h = 1; h <= 2; ++h)
      for (int v = 1; v <= 2; ++v)
        for (int components : {3, 1}) {
          JpegRecipe r;
          r.height = height, r.width = width, r.h = h, r.v = v, r.components = components;
          r.seed = ++seed;
          r.quality = seed % 3 == 0 ? 50 : seed % 3 == 1 ? 92 : 100;
          r.optimized = seed % 2;
          gpu.add(test::make_jpeg(r), r.text());
        }
  for (const ImageType type : {ImageType::rgb, ImageType::bgr, ImageType::gray}) {
    DecodeParams params;
    params.type = type;
    gpu.expect_equal(params);
  }
}

// A pipeline's memory_limit relies on it.
TEST(JpegOnTheGpu, ForeseesAboutWhatItTakes) {
  for (const int sampling : {1, 2})
    for (const bool part : {false, true}) {
      test::GpuJpegs gpu;
      for (int i = 0; i < 6; ++i) {
        JpegRecipe r;
        r.height = 375, r.width = 500, r.h = r.v = sampling, r.components = i == 5 ? 1 : 3;
        r.quality = 60 + 8 * i, r.seed = static_cast<uint32_t>(i);
        gpu.add(test::make_jpeg(r), r.text(), part ? std::optional(Region{40, 50, 224, 224}) : std::nullopt);
      }
      gpu.decode({});
      const double ratio = static_cast<double>(gpu.foreseen_bytes) / static_cast<double>(gpu.taken_bytes);
      EXPECT_GT(ratio, 0.75) << sampling << part;
      EXPECT_LT(ratio, 1.25) << sampling << part;
    }
}

TEST(JpegOnTheGpu, TakesTheLongestSides) {
  test::GpuJpegs gpu;
  for (const auto& [height, width] : {std::pair{65500, 3}, {3, 65500}, {1, 65499}, {65497, 9}}) {
    JpegRecipe r;
    r.height = height, r.width = width, r.h = width > 8 ? 2 : 1, r.v = height > 8 ? 2 : 1;
    r.seed = static_cast<uint32_t>(height), r.quality = 40;
    r.restart_mcus = width == 9 ? 700 : 0;
    gpu.add(test::make_jpeg(r), r.text());
    gpu.add(test::make_jpeg(r), r.text() + ", its end",
            Region{height / 2, width / 2, (height + 1) / 2, (width + 1) / 2});
  }
  gpu.expect_equal();
}

TEST(JpegOnTheGpu, TakesRestartMarkers) {
  test::GpuJpegs gpu;
  uint32_t seed = 100;
  for (const int every : {1, 2, 7, 40, 1000})
    for (int h = 1; h <= 2; ++h) {
      JpegRecipe r;
      r.height = 150, r.width = 131, r.h = h, r.v = h;
      r.components = every == 2 ? 1 : 3;
      r.restart_mcus = every;
      r.seed = ++seed;
      gpu.add(test::make_jpeg(r), r.text());
      r.restart_mcus = 0, r.restart_rows = 1;
      gpu.add(test::make_jpeg(r), r.text());
    }
  gpu.expect_equal();
}

TEST(JpegOnTheGpu, TakesAnyTables) {
  test::GpuJpegs gpu;
  for (int i = 0; i < 12; ++i) {
    JpegRecipe r;
    r.height = 90 + i, r.width = 140 - i;
    r.h = 1 + i % 2, r.v = 1 + i / 2 % 2;
    r.long_codes = i % 3 == 0, r.optimized = i % 3 == 1, r.wide_quant = i % 3 == 2;
    r.quality = i % 3 == 2 ? 1 : 70;
    r.seed = 200 + i;
    gpu.add(test::make_jpeg(r), r.text());
  }
  gpu.expect_equal();
}

// APP1 with only an orientation.
std::vector<uint8_t> exif_of(int orientation) {
  return {'E', 'x', 'i', 'f', 0,  0, 'M', 'M', 0, 42, 0, 0, 0,
          8,   0,   1,   1,   18, 0, 3,   0,   0, 0,  1, 0, static_cast<uint8_t>(orientation),
          0,   0,   0,   0,   0,  0};
}

TEST(JpegOnTheGpu, DecodesRegionsOfPicturesThatAreTurned) {
  std::mt19937 random(7);
  for (const ImageType type : {ImageType::rgb, ImageType::gray}) {
    test::GpuJpegs gpu;
    DecodeParams params;
    params.type = type;
    for (int i = 0; i < 64; ++i) {
      JpegRecipe r;
      r.height = 1 + static_cast<int>(random() % 120), r.width = 1 + static_cast<int>(random() % 120);
      r.h = 1 + i % 2, r.v = 1 + i / 2 % 2;
      r.components = i % 9 == 0 ? 1 : 3;
      r.restart_mcus = i % 5 == 0 ? 1 + i / 5 : 0;
      r.exif = exif_of(1 + i % 8);
      r.seed = 300 + i;
      const File file = test::make_jpeg(r);
      const ImageInfo info = probe_image(file, params);
      EXPECT_EQ(info.orientation, 1 + i % 8);
      Region region{0, 0, info.height, info.width};
      if (i % 4) {
        region.y = random() % info.height, region.x = random() % info.width;
        region.height = 1 + random() % (info.height - region.y), region.width = 1 + random() % (info.width - region.x);
      }
      gpu.add(file, r.text() + " orientation " + std::to_string(1 + i % 8), region);
    }
    gpu.expect_equal(params);
  }
}

TEST(JpegOnTheGpu, UsesTheHeaderThatTheHostHasRead) {
  File file = test::make_jpeg({});
  ParsedHeader read, kept;
  const ImageInfo info = probe_image(file, {}, &read);
  std::fill(file.begin(), file.end(), 0);
  EXPECT_EQ(jpeg_gpu::jpeg_cuda_declines(file, info, {}, read, &kept), "");
  const auto* header = kept.get<jpeg_gpu::FileHeader>();
  ASSERT_TRUE(header);
  EXPECT_EQ(header->height, info.height);
  EXPECT_EQ(header->width, info.width);

  JpegRecipe progressive;
  progressive.progressive = true;
  file = test::make_jpeg(progressive);
  probe_image(file, {}, &read);
  std::fill(file.begin(), file.end(), 0);
  EXPECT_EQ(jpeg_gpu::jpeg_cuda_declines(file, info, {}, read),
            "neither baseline nor extended sequential Huffman coding");
}

// Many blocks of threads, and data that cannot synchronize.
TEST(JpegOnTheGpu, SynchronizesLargeAndFlatPictures) {
  for (const jpeg_gpu::Division division :
       {jpeg_gpu::Division{1024, 1024, 4096}, jpeg_gpu::Division{}, {4096, 2048, 24576}}) {
    test::GpuJpegs gpu(division);
    for (int i = 0; i < 4; ++i) {
      JpegRecipe r;
      r.height = 700, r.width = 900, r.quality = i % 2 ? 100 : 30, r.seed = 400 + i;
      r.h = r.v = 1 + i / 2;
      gpu.add(test::make_jpeg(r), r.text());
    }
    gpu.add(test::flat_jpeg(1080, 1920, 77), "flat");
    gpu.expect_equal();
  }
}

// A file has no effect on the others.
TEST(JpegOnTheGpu, LeavesTheRestOfABatchAloneWhateverAFileHolds) {
  std::mt19937 random(11);
  std::vector<File> good;
  for (int i = 0; i < 6; ++i) {
    JpegRecipe r;
    r.height = 60 + 10 * i, r.width = 130 - 10 * i, r.seed = 500 + i;
    r.h = 1 + i % 2, r.v = 1 + i / 2 % 2;
    r.restart_mcus = i == 3 ? 5 : 0;
    good.push_back(test::make_jpeg(r));
  }
  int flagged = 0, taken = 0;
  for (int round = 0; round < 20; ++round) {
    test::GpuJpegs gpu;
    for (int i = 0; i < 12; ++i) {
      File file = good[i % 6];
      if (i >= 6) {
        const size_t scan = file.size() / 2 + random() % (file.size() / 2);
        switch (random() % 4) {
          case 0: file.resize(scan); break;
          case 1: file[scan] ^= 1 << random() % 8; break;
          case 2:
            file.insert(file.begin() + static_cast<ptrdiff_t>(scan),
                        {0xFF, static_cast<uint8_t>(0xD0 + random() % 16)});
            break;
          default: file.erase(file.begin() + static_cast<ptrdiff_t>(scan)); break;
        }
      }
      gpu.add(file, "round " + std::to_string(round) + " file " + std::to_string(i));
    }
    const auto got = gpu.decode({}), want = gpu.decode_on_cpu({});
    for (size_t i = 0; i < got.size(); ++i) {
      if (i < 6) {
        EXPECT_EQ(got[i].error, "");
      }
      if (got[i].error.empty()) {
        gpu.expect_same(i, {}, got[i].pixels, want[i].pixels);
        ++taken;
      } else {
        ++flagged;
      }
    }
  }
  EXPECT_GT(flagged, 80);
  EXPECT_GT(taken, 120);
}

// The data ends early, and the bytes read after it are zeros, which are codes too.
TEST(JpegOnTheGpu, SeesThatDataEndBeforeARegion) {
  JpegRecipe r;
  r.height = 96, r.width = 88, r.h = r.v = 1, r.seed = 600;
  const File whole = test::make_jpeg(r);
  test::GpuJpegs gpu;
  for (int percent = 55; percent < 100; percent += 2) {
    File file(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(whole.size() * percent / 100));
    while (file.back() == 0xFF) file.pop_back();
    file.insert(file.end(), {0xFF, 0xD9});
    for (const int64_t end : {24, 56, 80}) gpu.add(file, std::to_string(percent) + " %", Region{end - 20, 5, 20, 60});
  }
  const auto got = gpu.decode({}), want = gpu.decode_on_cpu({});
  size_t flagged = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].error.empty()) gpu.expect_same(i, {}, got[i].pixels, want[i].pixels);
    else ++flagged;
  }
  EXPECT_GT(flagged, 10u);
  EXPECT_LT(flagged, got.size());
}

}  // namespace
}  // namespace penstock
