// SPDX-License-Identifier: Apache-2.0
// Every target gives libjpeg-turbo's bytes: blocks are written through its coefficient interface and read back; planes
// are taken before its upsampling and compared with its pixels. Buffers have exactly the promised sizes, so that
// AddressSanitizer detects any excess.
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

#include "codecs/test_images.h"

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
  uint16_t quant[64] = {};            // natural order
  std::vector<int16_t> coefficients;  // 64 per block, natural order
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

struct Decoder : test::LibjpegDecoder {
  explicit Decoder(const std::vector<uint8_t>& file) : LibjpegDecoder(file) { d.dct_method = JDCT_ISLOW; }
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
    if (kind == 7) {  // as from an encoder: larger at lower frequencies
      for (int k = 0; k < 64; ++k) {
        const int limit = std::min(1023, 2 * largest / (1 + k / 8 + k % 8));
        block[k] = static_cast<int16_t>(random(-limit, limit));
      }
      continue;
    }
    const int count = std::vector<int>{0, 1, 2, 4, 10, 64, 8}[kind];
    for (int k = 0; k < count; ++k) block[random(0, 63)] = static_cast<int16_t>(random(-largest, largest));
    if (kind == 6)  // only row 0, or only column 0
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
std::unique_ptr<T[], decltype(&std::free)> aligned(size_t count) {  // exactly this size, for AddressSanitizer
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
                                         << round << ", block " << (i >> scale) % 128;
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

struct Plane {
  int width = 0, height = 0, stride = 0;  // of the picture; `data` extends to whole blocks
  std::vector<uint8_t> data;
  const uint8_t* row(int y) const { return &data[static_cast<size_t>(std::clamp(y, 0, height - 1) * stride)]; }
};

// libjpeg-turbo's samples before upsampling.
std::vector<Plane> planes_of(const test::File& file, int scale) {
  Decoder decoder(file);
  jpeg_decompress_struct& d = decoder.d;
  d.scale_num = 1;
  d.scale_denom = 8u >> scale;
  d.raw_data_out = TRUE;
  jpeg_start_decompress(&d);
  std::vector<Plane> planes(d.num_components);
  std::vector<std::vector<JSAMPROW>> rows(d.num_components);
  std::vector<JSAMPARRAY> arrays;
  const int step = d.max_v_samp_factor * d.min_DCT_scaled_size;
  for (int c = 0; c < d.num_components; ++c) {
    const jpeg_component_info& info = d.comp_info[c];
    Plane& p = planes[c];
    p.width = static_cast<int>(info.downsampled_width);
    p.height = static_cast<int>(info.downsampled_height);
    p.stride = static_cast<int>(info.width_in_blocks + 4) * info.DCT_scaled_size;
    p.data.resize(static_cast<size_t>(p.stride) * (info.height_in_blocks + 4) * info.DCT_scaled_size);
    rows[c].resize(static_cast<size_t>(info.v_samp_factor * info.DCT_scaled_size));
    arrays.push_back(rows[c].data());
  }
  for (int y = 0; d.output_scanline < d.output_height; ++y) {
    for (int c = 0; c < d.num_components; ++c)
      for (size_t i = 0; i < rows[c].size(); ++i)
        rows[c][i] = &planes[c].data[(static_cast<size_t>(y) * rows[c].size() + i) * planes[c].stride];
    jpeg_read_raw_data(&d, arrays.data(), static_cast<JDIMENSION>(step));
  }
  return planes;
}

// `count` samples at `p`, and the slack, in memory of exactly that size.
struct ExactInput {
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  const uint8_t* operator()(const uint8_t* p, int before, int count) {
    const int promised = before + count + kRowSlack;
    memory.emplace_back(new uint8_t[static_cast<size_t>(promised)]);
    std::memset(memory.back().get(), 200, static_cast<size_t>(promised));
    std::memcpy(memory.back().get(), p - before, static_cast<size_t>(before + count));
    return memory.back().get() + before;
  }
};

int64_t rows_compared = 0, pixels_compared = 0;  // with libjpeg-turbo, for each target and output; in the XML report

// Pixels [x, x + width) of row y of the decoded picture.
void expect_row(const std::vector<Plane>& planes, int h, int v, bool fancy, int x, int y, int width, const uint8_t* rgb,
                const std::string& what) {
  const Plane& chroma = planes[1];
  const Upsampling up = upsampling_of(h, v, chroma.width, fancy);
  const bool columns = up == Upsampling::fancy_h2v1 || up == Upsampling::fancy_h2v2;
  const bool two_rows = up == Upsampling::fancy_h1v2 || up == Upsampling::fancy_h2v2;
  ExactInput exact;
  ColorRow row;
  row.width = width;
  row.luma = exact(planes[0].row(y) + x, 0, width);
  const int first = x / h, last = (x + width - 1) / h;
  row.left = columns && first > 0;
  row.odd = h == 2 && x % 2;
  row.chroma_columns = chroma.width - first;
  const int count = std::min(last - first + 1 + columns, row.chroma_columns);
  const auto chroma_row = [&](int c, int at) { return exact(planes[c].row(at) + first, row.left, count); };
  row.cb = chroma_row(1, y / v);
  row.cr = chroma_row(2, y / v);
  if (two_rows) {
    row.far_below = y % 2;
    row.cb_far = chroma_row(1, y / 2 + (y % 2 ? 1 : -1));
    row.cr_far = chroma_row(2, y / 2 + (y % 2 ? 1 : -1));
  }
  const size_t n = static_cast<size_t>(width);
  for (Target t : targets())
    for (const RowOutput output : {RowOutput::rgb, RowOutput::bgr, RowOutput::rgb_planar}) {
      std::unique_ptr<uint8_t[]> one(new uint8_t[3 * n]), two(new uint8_t[n]), three(new uint8_t[n]);
      const bool planar = output == RowOutput::rgb_planar;
      if (planar) one.reset(new uint8_t[n]);
      uint8_t* const out[3] = {one.get(), two.get(), three.get()};
      kernels(t).color_row[static_cast<int>(up)][static_cast<int>(output)](row, out);
      ++rows_compared;
      pixels_compared += width;
      for (size_t i = 0; i < n; ++i)
        for (size_t c = 0; c < 3; ++c) {
          const uint8_t got = planar ? out[c][i] : out[0][3 * i + (output == RowOutput::bgr ? 2 - c : c)];
          ASSERT_EQ(got, rgb[3 * i + c]) << what << " output " << static_cast<int>(output) << " target "
                                         << static_cast<int>(t) << " row " << y << " columns " << x << " + " << width
                                         << " at " << i;
        }
    }
}

void expect_picture(int height, int width, int h, int v, bool fancy, int scale, Random& random) {
  test::JpegRecipe recipe;
  recipe.height = height;
  recipe.width = width;
  recipe.h = h;
  recipe.v = v;
  recipe.quality = random(0, 1) ? 90 : 30;
  recipe.seed = static_cast<uint32_t>(random(0, 1 << 30));
  const test::File file = test::make_jpeg(recipe);
  Decoder decoder(file);
  decoder.d.scale_num = 1;
  decoder.d.scale_denom = 8u >> scale;
  decoder.d.do_fancy_upsampling = fancy;
  const std::vector<uint8_t> rgb = decoder.pixels();
  const int columns = static_cast<int>(decoder.d.output_width), rows = static_cast<int>(decoder.d.output_height);
  const std::vector<Plane> planes = planes_of(file, scale);
  const int chroma = chroma_scale(h, v, scale), shift = chroma - scale;
  ASSERT_EQ(decoder.d.comp_info[1].DCT_scaled_size, 1 << chroma);
  const int h_left = h >> shift, v_left = v >> shift;
  const auto expect = [&](int x, int y, int count) {
    const uint8_t* expected = &rgb[static_cast<size_t>(3 * (y * columns + x))];
    expect_row(planes, h_left, v_left, fancy && scale > 0, x, y, count, expected,
               recipe.text() + " scale " + std::to_string(scale) + (fancy ? " fancy" : " plain"));
  };
  const int most = std::min(columns - 1, 40);
  for (int y = 0; y < rows && !testing::Test::HasFatalFailure(); ++y) {
    const int x = y == 0 ? 0 : random(0, most);
    expect(x, y, y < 2 ? columns - x : random(1, columns - x));
  }
  const int y = random(0, rows - 1);
  for (int x = 0; x <= most && !testing::Test::HasFatalFailure(); ++x)
    expect(x, y, random(0, 1) ? columns - x : random(1, columns - x));
}

TEST(JpegKernels, RowsAreThoseOfLibjpegTurbo) {
  Random random{std::mt19937(3)};
  const int factors[4][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
  for (const auto& f : factors)
    for (const bool fancy : {true, false})
      for (int width = 1; width <= 70; ++width)
        for (int k = 0; k < rounds(1); ++k) {
          expect_picture(random(1, 20), width, f[0], f[1], fancy, 3, random);
          if (HasFatalFailure()) return;
          expect_picture(random(1, 40), width * random(1, 8), f[0], f[1], fancy, random(0, 2), random);
          if (HasFatalFailure()) return;
        }
  for (const auto& f : factors)
    for (int k = 0; k < rounds(3); ++k) {
      expect_picture(random(20, 60), random(100, 1500), f[0], f[1], true, 3, random);
      if (HasFatalFailure()) return;
    }
  RecordProperty("rows", std::to_string(rows_compared));
  RecordProperty("pixels", std::to_string(pixels_compared));
}

// Any samples, any position in the row, all outputs: the targets agree with the plain code, and touch nothing else.
TEST(JpegKernels, TargetsMakeTheSameRows) {
  Random random{std::mt19937(4)};
  for (int round = 0; round < rounds(1500); ++round) {
    const int kind = round % kUpsamplings, output = random(0, kRowOutputs - 1);
    const bool wide = kind != 0 && kind != 3, odd = wide && random(0, 1);
    const bool left = (kind == 2 || kind == 4) && random(0, 1);
    const bool two_rows = kind >= 3;
    const int width = random(0, 9) ? random(1, 150) : random(150, 3000);
    const int own = wide ? (width + odd + 1) / 2 : width;  // chroma columns of these pixels
    const int beyond = random(0, 2) ? random(0, 70) : 0;
    const int stored = own + ((kind == 2 || kind == 4) && beyond > 0);
    const bool extreme = random(0, 1);
    const auto samples = [&](int before, int count) {
      std::vector<uint8_t> v(static_cast<size_t>(before + count));
      for (auto& s : v) s = static_cast<uint8_t>(extreme ? 255 * random(0, 1) : random(0, 255));
      return v;
    };
    ExactInput exact;
    const auto input = [&](int before, int count) {
      return exact(samples(before, count).data() + before, before, count);
    };
    ColorRow row;
    row.width = width;
    row.chroma_columns = own + beyond;
    row.odd = odd;
    row.left = left;
    row.far_below = random(0, 1);
    row.luma = input(0, width);
    row.cb = input(left, stored);
    row.cr = input(left, stored);
    if (two_rows) row.cb_far = input(left, stored), row.cr_far = input(left, stored);
    const size_t n = static_cast<size_t>(width) * (output < 2 ? 3 : 1);
    std::vector<std::vector<uint8_t>> expected;
    for (Target t : targets()) {
      std::unique_ptr<uint8_t[]> planes[3];
      uint8_t* out[3];
      for (int c = 0; c < 3; ++c) {
        planes[c].reset(new uint8_t[n]());
        out[c] = planes[c].get();
      }
      kernels(t).color_row[kind][output](row, out);
      std::vector<std::vector<uint8_t>> got;
      for (const auto& p : planes) got.emplace_back(p.get(), p.get() + n);
      if (t == Target::scalar) expected = got;
      ASSERT_EQ(got, expected) << "upsampling " << kind << " output " << output << " width " << width << " odd " << odd
                               << " left " << left << " target " << static_cast<int>(t);
    }
  }
}

TEST(JpegKernels, EveryColorIsConvertedAlike) {
  std::vector<uint8_t> y(256 * 256 + kRowSlack), cb(y.size()), cr(y.size()), expected[3], got[3];
  for (size_t i = 0; i < 256 * 256; ++i) cb[i] = static_cast<uint8_t>(i), cr[i] = static_cast<uint8_t>(i >> 8);
  for (auto& p : expected) p.resize(256 * 256);
  for (auto& p : got) p.resize(256 * 256);
  ColorRow row;
  row.luma = y.data(), row.cb = cb.data(), row.cr = cr.data();
  row.width = row.chroma_columns = 256 * 256;
  for (const int luma : {0, 1, 31, 64, 127, 128, 190, 254, 255}) {
    std::fill(y.begin(), y.end(), static_cast<uint8_t>(luma));
    uint8_t* const to[3] = {expected[0].data(), expected[1].data(), expected[2].data()};
    kernels(Target::scalar).color_row[0][2](row, to);
    for (Target t : targets()) {
      uint8_t* const out[3] = {got[0].data(), got[1].data(), got[2].data()};
      kernels(t).color_row[0][2](row, out);
      for (int c = 0; c < 3; ++c) ASSERT_TRUE(got[c] == expected[c]) << luma << " " << c << " " << static_cast<int>(t);
    }
  }
}

TEST(JpegKernels, GrayRows) {
  Random random{std::mt19937(5)};
  for (int width = 1; width <= 200; ++width)
    for (Target t : targets()) {
      std::vector<uint8_t> samples(static_cast<size_t>(width));
      for (auto& s : samples) s = static_cast<uint8_t>(random(0, 255));
      ExactInput exact;
      const uint8_t* luma = exact(samples.data(), 0, width);
      std::unique_ptr<uint8_t[]> out(new uint8_t[samples.size() * 3]);
      kernels(t).gray_row(luma, width, out.get());
      for (size_t i = 0; i < samples.size() * 3; ++i) ASSERT_EQ(out[i], samples[i / 3]) << width << " " << i;
    }
}

TEST(JpegKernels, DestuffDropsTheZerosAndStopsAtMarkers) {
  Random random{std::mt19937(6)};
  for (int round = 0; round < rounds(2000); ++round) {
    const size_t n = static_cast<size_t>(random(0, 9) ? random(0, 300) : random(300, 5000));
    const int rarity = std::vector<int>{2, 8, 64, 1000}[random(0, 3)];
    std::vector<uint8_t> in;
    while (in.size() < n) {
      if (random(1, rarity) == 1) {
        in.push_back(0xFF);
        in.push_back(static_cast<uint8_t>(random(1, 4 * rarity) == 1 ? random(1, 255) : 0));
      } else {
        in.push_back(static_cast<uint8_t>(random(0, 254)));
      }
    }
    in.resize(n);
    std::vector<uint8_t> plain;
    std::vector<uint32_t> positions;
    size_t at = 0;
    for (; at < n; ++at) {
      const bool ff = in[at] == 0xFF;
      if (ff && (at + 1 == n || in[at + 1] != 0)) break;
      if (ff) positions.push_back(static_cast<uint32_t>(plain.size()));
      plain.push_back(in[at]);
      at += ff;
    }
    for (Target t : targets())
      for (const bool note : {true, false}) {
        std::unique_ptr<uint8_t[]> from(new uint8_t[n]), to(new uint8_t[n + 64]);
        std::unique_ptr<uint32_t[]> removed(new uint32_t[n / 2]);
        std::copy(in.begin(), in.end(), from.get());
        const uint8_t* stopped = nullptr;
        uint32_t count = 0;
        uint8_t* end = kernels(t).destuff(from.get(), from.get() + n, to.get(), &stopped,
                                          note ? removed.get() : nullptr, note ? &count : nullptr);
        ASSERT_EQ(stopped - from.get(), static_cast<ptrdiff_t>(at));
        ASSERT_EQ(std::vector<uint8_t>(to.get(), end), plain);
        if (note) {
          ASSERT_EQ(std::vector<uint32_t>(removed.get(), removed.get() + count), positions);
        }
      }
  }
}

}  // namespace
}  // namespace penstock::jpeg
