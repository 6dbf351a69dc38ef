// SPDX-License-Identifier: Apache-2.0
// Thousands of damaged files: each decodes or ends in a typed error, and none takes more memory than its size allows.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "codecs/image_decoder.h"
#include "codecs/jpeg_header.h"
#include "codecs/test_images.h"

#ifdef __SANITIZE_ADDRESS__
// The sanitizer keeps freed memory for a while to catch its use. It keeps less here, so that the memory limit below
// means something.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "quarantine_size_mb=16:thread_local_quarantine_size_kb=64";
}
#endif

namespace penstock {

using namespace test;

namespace {

std::vector<File> good_files() {
  std::vector<File> files;
  for (int i = 0; i < 10; ++i) {
    JpegRecipe r;
    r.height = 40 + i * 3, r.width = 61 - i * 2;
    r.h = 1 + i % 2, r.v = 1 + i / 2 % 2;
    r.progressive = i % 3 == 1;
    r.incomplete = i >= 4;  // the progressive ones among them
    r.seed = i;
    r.components = i == 4 ? 1 : i == 5 ? 4 : 3;
    r.stored = i == 5 ? JCS_YCCK : JCS_YCbCr;
    r.restart_rows = i % 4 == 3;
    r.interleaved = i != 6;
    r.arithmetic = i == 8;
    if (i % 2) r.exif = make_exif(1 + i % 8, i % 4 == 1);
    files.push_back(make_jpeg(r));
  }
  const int kinds[][2] = {{8, 2}, {16, 6}, {2, 3}, {1, 0}, {8, 4}};
  for (int i = 0; i < 10; ++i) {
    PngRecipe r;
    r.height = 30 + i, r.width = 43 - i;
    r.bits = kinds[i % 5][0], r.color_type = kinds[i % 5][1];
    r.interlaced = i >= 5;
    r.transparent = i % 5 == 2;
    r.text_bytes = i % 3 ? 0 : 500;
    if (i % 2) r.exif = make_exif(6, true);
    files.push_back(make_png(r));
  }
  return files;
}

// PNG has a checksum per chunk. In some files they are corrected, so that damage gets past the check.
void mend_checksums(File& file) {
  for (size_t at = 8; at + 12 <= file.size();) {
    const uint64_t length = uint64_t{file[at]} << 24 | file[at + 1] << 16 | file[at + 2] << 8 | file[at + 3];
    if (length > file.size() - at - 12) return;
    uint32_t crc = ~0u;
    for (size_t i = at + 4; i < at + 8 + length; ++i) {
      crc ^= file[i];
      for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    crc = ~crc;
    for (int i = 0; i < 4; ++i) file[at + 8 + length + i] = crc >> (24 - 8 * i);
    at += length + 12;
  }
}

void damage(File& file, std::mt19937& random) {
  const size_t head = std::min<size_t>(file.size(), 700);
  const int kind = random() % 6;
  const int count = 1 + random() % 4;
  for (int i = 0; i < count && !file.empty(); ++i) {
    const size_t at = random() % (kind & 1 ? head : file.size());
    if (kind <= 1) file[at] ^= 1 << random() % 8;
    if (kind == 2 || kind == 3) file[at] = random();
    if (kind == 4) file.resize(at);
    if (kind == 5) file.erase(file.begin() + at, file.begin() + std::min(file.size(), at + random() % 30));
  }
  if (random() % 3 && file.size() > 8 && file[0] == 0x89) mend_checksums(file);
}

std::string describe(Bytes file, const DecodeParams& p) {
  if (file[0] != 0xFF) return "";
  const JpegHeader h = read_jpeg_header(file);
  std::string s = fmt::format("; frame {:02X}, {} components, type {}, dtype {}, fancy {}, sampling", h.frame,
                              h.components, static_cast<int>(p.type), name_of(p.dtype), p.fancy_upsampling);
  for (int i = 0; i < h.components; ++i) s += fmt::format(" {}x{}", h.h[i], h.v[i]);
  return s + fmt::format(", orientation {}", h.orientation);
}

// If decoding tolerates damage, a region has the same pixels as the whole picture, provided that that one decodes.
void expect_crop_of_full(Bytes file, const ImageInfo& info, const DecodeParams& params, const Region& r,
                         const uint8_t* region, int64_t row) {
  const int64_t full_row = row / r.width * info.width;
  std::vector<uint8_t> full(full_row * info.height);
  try {
    decode_image(file, info, params, {0, 0, info.height, info.width}, {full.data(), full_row});
  } catch (const Error&) {
    return;
  }
  for (int64_t y = 0; y < r.height; ++y)
    EXPECT_EQ(std::memcmp(region + y * row, &full[(r.y + y) * full_row + row / r.width * r.x], row), 0)
        << info.format << " " << info.height << " x " << info.width << ", region (" << r.y << ", " << r.x << ") + ("
        << r.height << ", " << r.width << "), row " << y << describe(file, params);
}

// Peak resident memory in bytes.
int64_t peak_memory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

TEST(DamagedFiles, EndInATypedErrorOrInPixels) {
  const auto good = good_files();
  std::mt19937 random(11);
  const std::clock_t start = std::clock();  // of the processor: as many files on a loaded machine
  const int64_t before = peak_memory();
  const char* factor = std::getenv("PENSTOCK_TEST_LONG");
  const int times = factor ? std::max(1, std::atoi(factor)) : 1;
  int decoded = 0, refused = 0;
  for (int i = 0; i < 8000 * times && std::clock() - start < 8 * times * CLOCKS_PER_SEC; ++i) {
    File damaged = good[i % good.size()];
    damage(damaged, random);
    // Exactly as long as the data, so that the sanitizer sees a read past the end.
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[damaged.size()]);
    std::copy(damaged.begin(), damaged.end(), exact.get());
    const Bytes file(exact.get(), damaged.size());
    DecodeParams params;
    params.max_pixels = 300000;
    params.type = static_cast<ImageType>(random() % 5);
    params.dtype = i % 3 ? DType::uint8 : DType::float32;
    params.fancy_upsampling = i % 4;
    try {
      const ImageInfo info = probe_image(file, params);
      ASSERT_LE(info.height * info.width, params.max_pixels);
      Region region{0, 0, info.height, info.width};
      if (i % 2) {
        region.height = 1 + random() % info.height, region.width = 1 + random() % info.width;
        region.y = random() % (info.height - region.height + 1);
        region.x = random() % (info.width - region.width + 1);
      }
      const int64_t row = region.width * output_channels(info, params.type) * size_of(params.dtype);
      const std::unique_ptr<uint8_t[]> out(new uint8_t[row * region.height]);
      decode_image(file, info, params, region, {out.get(), row});
      ++decoded;
      if (i % 2) expect_crop_of_full(file, info, params, region, out.get(), row);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::data) << e.what();
      EXPECT_GT(std::strlen(e.what()), 10u);
      ++refused;
    }
  }
  // 16 bytes per pixel of the result, the same again for the decoder's memory, and room for this test.
  EXPECT_LT(peak_memory() - before, 300000 * 32 + (int64_t{64} << 20));
  EXPECT_GT(decoded, 200);
  EXPECT_GT(refused, 200);
}

}  // namespace

}  // namespace penstock
