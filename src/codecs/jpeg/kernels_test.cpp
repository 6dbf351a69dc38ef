// SPDX-License-Identifier: Apache-2.0
// Every target gives libjpeg-turbo's bytes: blocks written through its coefficient interface and read back, planes taken
// before its upsampling and compared with its pixels. Buffers have exactly the promised sizes, which AddressSanitizer
// watches.
#include "codecs/jpeg/kernels.h"

#include <gtest/gtest.h>
#include <jpeglib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace penstock::jpeg {
namespace {

std::vector<Target> targets() {
  std::vector<Target> all;
  for (int i = 0; i <= static_cast<int>(best_target()); ++i) all.push_back(static_cast<Target>(i));
  return all;
}

int rounds(int normal) {  // PENSTOCK_TEST_COUNT scales the random tests: 20 is the normal count
  const char* wish = std::getenv("PENSTOCK_TEST_COUNT");
  return wish ? std::max(1, static_cast<int>(static_cast<int64_t>(normal) * std::atoi(wish) / 20)) : normal;
}

struct Blocks {  // of a gray picture `columns` wide and one block high
  int columns = 0;
  uint16_t quant[64] = {};              // natural order
  std::vector<int16_t> coefficients;    // 64 a block, natural order
};

std::vector<uint8_t> encode(const Blocks& blocks) {
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};  // "quantization tables are too coarse for baseline JPEG"
  jpeg_create_compress(&c);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &memory, &size);
  c.image_width = static_cast<JDIMENSION>(8 * blocks.columns);
  c.image_height = 8;
  c.input_components = 1;
  c.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&c);
  for (int i = 0; i < 64; ++i) c.quant_tbl_ptrs[0]->quantval[i] = blocks.quant[i];
  c.optimize_coding = TRUE;
  jvirt_barray_ptr array = c.mem->request_virt_barray(reinterpret_cast<j_common_ptr>(&c), JPOOL_IMAGE, TRUE,
                                                      static_cast<JDIMENSION>(blocks.columns), 1, 1);
  jpeg_write_coefficients(&c, &array);
  JBLOCKARRAY rows = c.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&c), array, 0, 1, TRUE);
  std::memcpy(rows[0], blocks.coefficients.data(), blocks.coefficients.size() * 2);
  jpeg_finish_compress(&c);
  std::vector<uint8_t> file(memory, memory + size);
  jpeg_destroy_compress(&c);
  std::free(memory);
  return file;
}

// A decoder of libjpeg-turbo with its header read.
struct Decoder {
  jpeg_decompress_struct d;
  jpeg_error_mgr errors;
  explicit Decoder(const std::vector<uint8_t>& file) {
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, file.data(), file.size());
    jpeg_read_header(&d, TRUE);
    d.dct_method = JDCT_ISLOW;
  }
  ~Decoder() { jpeg_destroy_decompress(&d); }
  std::vector<uint8_t> pixels() {
    jpeg_start_decompress(&d);
    const size_t row_bytes = static_cast<size_t>(d.output_width) * d.output_components;
    std::vector<uint8_t> out(row_bytes * d.output_height);
    while (d.output_scanline < d.output_height) {
      uint8_t* row = out.data() + row_bytes * d.output_scanline;
      jpeg_read_scanlines(&d, &row, 1);
    }
    return out;
  }
};

struct Random {
  std::mt19937 engine;
  int operator()(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); }
};

Blocks random_blocks(Random& random, int columns) {
  Blocks b;
  b.columns = columns;
  const int steepest = std::vector<int>{1, 16, 255, 4095, 65535}[random(0, 4)];
  for (auto& q : b.quant) q = static_cast<uint16_t>(random(1, steepest));
  b.coefficients.resize(static_cast<size_t>(64 * columns));
  for (int i = 0; i < columns; ++i) {
    int16_t* block = &b.coefficients[static_cast<size_t>(64 * i)];
    const int largest = std::vector<int>{1, 8, 64, 1023}[random(0, 3)];
    const int kind = random(0, 7);
    if (kind == 7) {  // what an encoder makes: larger the lower the frequency
      for (int k = 0; k < 64; ++k) {
        const int limit = std::min(1023, 2 * largest / (1 + k / 8 + k % 8));
        block[k] = static_cast<int16_t>(random(-limit, limit));
      }
      continue;
    }
    const int count = std::vector<int>{0, 1, 2, 4, 10, 64, 8}[kind];
    for (int k = 0; k < count; ++k) block[random(0, 63)] = static_cast<int16_t>(random(-largest, largest));
    if (kind == 6)  // row 0 alone, or column 0 alone
      for (int k = 0, across = random(0, 1); k < 64; ++k)
        block[k] = across ? (k < 8 ? static_cast<int16_t>(random(-largest, largest)) : int16_t{0})
                          : (k % 8 == 0 ? static_cast<int16_t>(random(-largest, largest)) : int16_t{0});
    block[0] = static_cast<int16_t>(random(-1023, 1023));
    if (random(0, 3) == 0)
      for (int k = 0; k < 64; ++k)
        if (block[k]) block[k] = static_cast<int16_t>(block[k] < 0 ? -1023 : 1023);
  }
  return b;
}

template <class T>
std::unique_ptr<T[], decltype(&std::free)> aligned(size_t count) {  // exactly so much, for AddressSanitizer
  T* p = static_cast<T*>(std::aligned_alloc(32, (count * sizeof(T) + 31) / 32 * 32));
  return {p, &std::free};
}

// Samples of all blocks by our kernel, in pairs of neighbors; `scale` is the logarithm of the size.
std::vector<uint8_t> transform(const Kernels& k, const Blocks& blocks, int scale) {
  const int size = 1 << scale;
  const ptrdiff_t stride = static_cast<ptrdiff_t>(size) * blocks.columns;
  std::vector<uint8_t> out(static_cast<size_t>(stride * size), 77);
  auto a = aligned<int16_t>(64), b = aligned<int16_t>(64), quant = aligned<int16_t>(128);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 16; ++x) quant[16 * y + x] = static_cast<int16_t>(blocks.quant[8 * y + x % 8]);
  for (int i = 0; i + 1 < blocks.columns; i += 2) {
    std::memcpy(a.get(), &blocks.coefficients[static_cast<size_t>(64 * i)], 128);
    std::memcpy(b.get(), &blocks.coefficients[static_cast<size_t>(64 * i + 64)], 128);
    k.inverse_dct[scale](a.get(), b.get(), quant.get(), &out[static_cast<size_t>(size * i)], stride,
                         &out[static_cast<size_t>(size * i + size)], stride);
    for (int c = 0; c < 64; ++c) EXPECT_EQ(a[c] | b[c], 0);
  }
  return out;
}

TEST(JpegKernels, InverseTransformsAreThoseOfLibjpegTurbo) {
  Random random{std::mt19937(1)};
  for (int round = 0; round < rounds(60); ++round) {
    const Blocks blocks = random_blocks(random, 128);
    const std::vector<uint8_t> file = encode(blocks);
    for (int scale = 0; scale < 4; ++scale) {
      Decoder decoder(file);
      decoder.d.scale_num = 1;
      decoder.d.scale_denom = 8u >> scale;
      const std::vector<uint8_t> expected = decoder.pixels();
      for (Target t : targets()) {
        const std::vector<uint8_t> got = transform(kernels(t), blocks, scale);
        ASSERT_EQ(got.size(), expected.size());
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got[i], expected[i]) << "size " << (1 << scale) << ", target " << static_cast<int>(t) << ", round "
                                         << round << ", block " << i % (static_cast<size_t>(128) << scale) / (1u << scale);
      }
    }
  }
}

TEST(JpegKernels, TargetsTransformAnyCoefficientsAlike) {
  Random random{std::mt19937(2)};
  for (int round = 0; round < rounds(200); ++round) {
    Blocks blocks;
    blocks.columns = 32;
    for (auto& q : blocks.quant) q = static_cast<uint16_t>(random(0, 1) ? random(0, 65535) : 1);
    blocks.coefficients.resize(64 * 32);
    for (auto& c : blocks.coefficients)
      if (random(0, 3)) c = static_cast<int16_t>(random(0, 1) ? random(-32768, 32767) : random(0, 1) ? 32767 : -32768);
    for (int scale = 0; scale < 4; ++scale)
      for (Target t : targets())
        ASSERT_EQ(transform(kernels(t), blocks, scale), transform(kernels(Target::scalar), blocks, scale))
            << scale << " " << static_cast<int>(t);
  }
}

}  // namespace
}  // namespace penstock::jpeg
