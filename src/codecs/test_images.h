// SPDX-License-Identifier: Apache-2.0
// Image files made on the fly by libjpeg and libpng, for tests only.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

namespace penstock::test {

using File = std::vector<uint8_t>;

struct JpegRecipe {
  int height = 8, width = 8;
  int components = 3;  // 1 gray, 3 YCbCr, 4 CMYK
  J_COLOR_SPACE stored = JCS_YCbCr;
  int h = 2, v = 2;  // sampling factors of the first component; the others (not K) have 1,
  int third_h = 1;   // except this one
  int quality = 90;
  bool progressive = false;
  bool interleaved = true;  // false: one scan for each component
  bool incomplete = false;  // progressive without the last bits
  bool arithmetic = false;
  int restart_rows = 0;
  int restart_mcus = 0;
  bool optimized = false;          // with optimized Huffman tables
  bool long_codes = false;         // frequent symbols have the longest codes, of 16 bits
  bool wide_quant = false;         // 16-bit quantization tables if the quality is low enough: extended sequential
  std::vector<uint8_t> exif = {};  // body of an APP1 segment
  uint32_t seed = 1;
  std::string text() const {
    return std::to_string(height) + "x" + std::to_string(width) + " components " + std::to_string(components) +
           " sampling " + std::to_string(h) + "x" + std::to_string(v) +
           (third_h > 1 ? " third " + std::to_string(third_h) : "") + (progressive ? " progressive" : "") +
           (incomplete ? " incomplete" : "") + (interleaved ? "" : " in separate scans") +
           (arithmetic ? " arithmetic" : "") + " restart " + std::to_string(restart_rows) + "/" +
           std::to_string(restart_mcus) + (optimized ? " optimized" : "") + (long_codes ? " long codes" : "") +
           (wide_quant ? " 16-bit quantization" : "") + " quality " + std::to_string(quality) + " stored " +
           std::to_string(stored);
  }
};

// Smooth areas, hard edges and noise, so that chroma upsampling matters everywhere.
inline std::vector<uint8_t> make_pixels(int height, int width, int channels, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> pixels(static_cast<size_t>(height) * width * channels);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const int wave = (x * (3 + c) + y * (5 - c)) & 255, noise = static_cast<int>(random() & 63);
        const int block = ((x / 5 + y / 3 + c) & 1) * 90;
        pixels[(static_cast<size_t>(y) * width + x) * channels + c] = (wave + noise + block) & 255;
      }
  return pixels;
}

// DC codes of 5 to 16 bits; the standard's AC tables with the order of their symbols reversed.
inline void lengthen_codes(jpeg_compress_struct& c) {
  for (int t = 0; t < 2; ++t) {
    JHUFF_TBL &dc = *c.dc_huff_tbl_ptrs[t], &ac = *c.ac_huff_tbl_ptrs[t];
    for (int l = 1; l <= 16; ++l) dc.bits[l] = l >= 5;
    for (int i = 0; i < 12; ++i) dc.huffval[i] = 11 - i;
    std::reverse(ac.huffval, ac.huffval + 162);
  }
}

// `pixels`: height * width * components, RGB if there are three, whatever is stored.
inline File make_jpeg(const JpegRecipe& r, const std::vector<uint8_t>& pixels) {
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_compress(&c);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &out, &size);
  c.image_height = r.height;
  c.image_width = r.width;
  c.input_components = r.components;
  c.in_color_space = r.components == 1 ? JCS_GRAYSCALE : r.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&c);
  if (r.components > 1) jpeg_set_colorspace(&c, r.stored);
  jpeg_set_quality(&c, r.quality, !r.wide_quant);
  for (int i = 0; i < r.components; ++i) {
    const bool full = i == 0 || i == 3;
    c.comp_info[i].h_samp_factor = full ? r.h : i == 2 ? r.third_h : 1;
    c.comp_info[i].v_samp_factor = full ? r.v : 1;
  }
  c.arith_code = r.arithmetic;
  c.restart_in_rows = r.restart_rows;
  c.restart_interval = r.restart_mcus;
  c.optimize_coding = r.optimized;
  if (r.long_codes) lengthen_codes(c);
  std::vector<jpeg_scan_info> scans(r.components);
  if (r.progressive && r.incomplete) {
    scans.assign(1, {r.components, {0, 1, 2, 3}, 0, 0, 0, static_cast<int>(r.seed % 2)});
    for (int i = 0; i < r.components; ++i)
      if (r.seed >> i & 4) scans.push_back({1, {i, 0, 0, 0}, 1, r.seed & 2 ? 5 : 63, 0, 1});
    c.scan_info = scans.data();
    c.num_scans = scans.size();
  } else if (r.progressive) jpeg_simple_progression(&c);
  else if (!r.interleaved) {
    for (int i = 0; i < r.components; ++i) scans[i] = {1, {i, 0, 0, 0}, 0, 63, 0, 0};
    c.scan_info = scans.data();
    c.num_scans = r.components;
  }
  jpeg_start_compress(&c, TRUE);
  if (!r.exif.empty()) jpeg_write_marker(&c, JPEG_APP0 + 1, r.exif.data(), r.exif.size());
  while (c.next_scanline < c.image_height) {
    auto* row = const_cast<uint8_t*>(&pixels[static_cast<size_t>(c.next_scanline) * r.width * r.components]);
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  File file(out, out + size);
  std::free(out);
  return file;
}
inline File make_jpeg(const JpegRecipe& r) {
  return make_jpeg(r, make_pixels(r.height, r.width, r.components, r.seed));
}

// The whole image by plain libjpeg calls: the reference for every decode here.
struct Plain {
  int height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;
};
// A decoder of libjpeg-turbo that has read its header.
struct LibjpegDecoder {
  jpeg_decompress_struct d;
  jpeg_error_mgr errors;
  explicit LibjpegDecoder(const File& file) {
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, file.data(), file.size());
    jpeg_read_header(&d, TRUE);
  }
  LibjpegDecoder(const LibjpegDecoder&) = delete;
  ~LibjpegDecoder() { jpeg_destroy_decompress(&d); }
};
inline Plain decode_plainly(const File& file, J_COLOR_SPACE space, bool fancy = true, int eighths = 8) {
  LibjpegDecoder decoder(file);
  jpeg_decompress_struct& d = decoder.d;
  d.out_color_space = space;
  d.do_fancy_upsampling = fancy;
  d.scale_num = static_cast<unsigned>(eighths);
  d.scale_denom = 8;
  jpeg_start_decompress(&d);
  Plain p{static_cast<int>(d.output_height), static_cast<int>(d.output_width), d.output_components, {}};
  p.pixels.resize(static_cast<size_t>(p.height) * p.width * p.channels);
  while (d.output_scanline < d.output_height) {
    auto* row = &p.pixels[static_cast<size_t>(d.output_scanline) * p.width * p.channels];
    jpeg_read_scanlines(&d, &row, 1);
  }
  jpeg_finish_decompress(&d);
  return p;
}

// An APP1 body with only an orientation.
inline std::vector<uint8_t> make_exif(int orientation, bool little) {
  std::vector<uint8_t> e{'E', 'x', 'i', 'f', 0, 0};
  auto put = [&](unsigned value, int bytes) {
    for (int i = 0; i < bytes; ++i) e.push_back(value >> 8 * (little ? i : bytes - 1 - i));
  };
  e.push_back(little ? 'I' : 'M'), e.push_back(e.back());
  put(42, 2), put(8, 4), put(2, 2);
  put(0x0100, 2), put(4, 2), put(1, 4), put(77, 4);
  put(0x0112, 2), put(3, 2), put(1, 4), put(orientation, 2), put(0, 2);
  put(0, 4);
  return e;
}

struct PngRecipe {
  int height = 8, width = 8;
  int bits = 8, color_type = PNG_COLOR_TYPE_RGB;
  bool interlaced = false;
  bool transparent = false;   // a tRNS chunk
  int text_bytes = 0;         // number of zeros in a zTXt chunk before the pixels
  std::vector<uint8_t> exif;  // from make_exif()
  uint32_t seed = 1;
  int channels() const {
    return color_type == 0 || color_type == 3 ? 1 : color_type == 4 ? 2 : color_type == 6 ? 4 : 3;
  }
  std::string text() const {
    return std::to_string(height) + "x" + std::to_string(width) + " bits " + std::to_string(bits) + " color type " +
           std::to_string(color_type) + (interlaced ? " interlaced" : "") + (transparent ? " tRNS" : "");
  }
};

// The samples (or palette indexes) that make_png stores.
inline std::vector<uint16_t> make_samples(const PngRecipe& r) {
  std::mt19937 random(r.seed);
  std::vector<uint16_t> s(static_cast<size_t>(r.height) * r.width * r.channels());
  for (size_t i = 0; i < s.size(); ++i) s[i] = (i * 37 + (random() & 0xFFF) * 16) & ((1u << r.bits) - 1);
  return s;
}
inline png_color palette_entry(int i) {
  return {static_cast<png_byte>(i * 7), static_cast<png_byte>(255 - i), static_cast<png_byte>(i * 31)};
}

inline File make_png(const PngRecipe& r) {
  File file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep data, size_t count) {
        auto& to = *static_cast<File*>(png_get_io_ptr(p));
        to.insert(to.end(), data, data + count);
      },
      nullptr);
  png_set_IHDR(png, info, r.width, r.height, r.bits, r.color_type, r.interlaced ? PNG_INTERLACE_ADAM7 : 0, 0, 0);
  png_color palette[256];
  png_byte alpha[256];
  for (int i = 0; i < 256; ++i) palette[i] = palette_entry(i), alpha[i] = i;
  if (r.color_type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 1 << r.bits);
  png_color_16 key{0, 1, 1, 1, 1};
  if (r.transparent) png_set_tRNS(png, info, alpha, 1 << std::min(r.bits, 8), &key);
  if (!r.exif.empty()) png_set_eXIf_1(png, info, r.exif.size() - 6, const_cast<uint8_t*>(r.exif.data()) + 6);
  std::string zeros(r.text_bytes, '0');
  png_text text{};
  text.compression = PNG_TEXT_COMPRESSION_zTXt;
  text.key = const_cast<char*>("Comment");
  text.text = zeros.data();
  text.text_length = zeros.size();
  if (r.text_bytes) png_set_text(png, info, &text, 1);
  png_write_info(png, info);
  png_set_packing(png);
  png_set_swap(png);
  const auto samples = make_samples(r);
  const size_t row = static_cast<size_t>(r.width) * r.channels();
  for (int pass = png_set_interlace_handling(png); pass > 0; --pass)
    for (int y = 0; y < r.height; ++y) {
      std::vector<uint8_t> bytes(row * 2);
      for (size_t i = 0; i < row; ++i) {
        if (r.bits == 16) std::memcpy(&bytes[2 * i], &samples[y * row + i], 2);
        else bytes[i] = samples[y * row + i];
      }
      png_write_row(png, bytes.data());
    }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

// Gray pixels 10 y + x, in one strip without compression, after kGrayTiffHeader bytes.
constexpr int kGrayTiffHeader = 10 + 8 * 12 + 4;
inline File gray_tiff(int height, int width) {
  File f{'I', 'I', 42, 0, 8, 0, 0, 0, 8, 0};
  const auto entry = [&](int tag, int type, int value) {
    for (int v : {tag, tag >> 8, type, 0, 1, 0, 0, 0, value, value >> 8, value >> 16, 0})
      f.push_back(static_cast<uint8_t>(v));
  };
  entry(256, 3, width), entry(257, 3, height), entry(258, 3, 8), entry(259, 3, 1), entry(262, 3, 1),
      entry(273, 4, kGrayTiffHeader), entry(278, 3, height), entry(279, 4, height * width);
  f.insert(f.end(), 4, 0);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) f.push_back(static_cast<uint8_t>(10 * y + x));
  return f;
}

}  // namespace penstock::test
