// SPDX-License-Identifier: Apache-2.0
// Image files made on the spot by libjpeg, for tests only.
#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace penstock::test {

using File = std::vector<uint8_t>;

struct JpegRecipe {
  int height = 8, width = 8;
  int components = 3;            // 1 gray, 3 YCbCr, 4 CMYK
  J_COLOR_SPACE stored = JCS_YCbCr;
  int h = 2, v = 2;              // sampling factors of the first component; the others (not K) have 1
  int quality = 90;
  bool progressive = false;
  bool interleaved = true;       // false: one scan for each component
  bool arithmetic = false;
  int restart_rows = 0;
  std::vector<uint8_t> exif;     // body of an APP1 segment
  uint32_t seed = 1;
  std::string text() const {
    return std::to_string(height) + "x" + std::to_string(width) + " components " + std::to_string(components) +
           " sampling " + std::to_string(h) + "x" + std::to_string(v) + (progressive ? " progressive" : "") +
           (interleaved ? "" : " in separate scans") + (arithmetic ? " arithmetic" : "") + " restart " +
           std::to_string(restart_rows) + " quality " + std::to_string(quality) + " stored " + std::to_string(stored);
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

inline File make_jpeg(const JpegRecipe& r) {
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
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
  jpeg_set_quality(&c, r.quality, TRUE);
  for (int i = 0; i < r.components; ++i) {
    const bool full = i == 0 || i == 3;
    c.comp_info[i].h_samp_factor = full ? r.h : 1;
    c.comp_info[i].v_samp_factor = full ? r.v : 1;
  }
  c.arith_code = r.arithmetic;
  c.restart_in_rows = r.restart_rows;
  std::vector<jpeg_scan_info> scans(r.components);
  if (r.progressive) jpeg_simple_progression(&c);
  else if (!r.interleaved) {
    for (int i = 0; i < r.components; ++i) scans[i] = {1, {i, 0, 0, 0}, 0, 63, 0, 0};
    c.scan_info = scans.data();
    c.num_scans = r.components;
  }
  jpeg_start_compress(&c, TRUE);
  if (!r.exif.empty()) jpeg_write_marker(&c, JPEG_APP0 + 1, r.exif.data(), r.exif.size());
  const auto pixels = make_pixels(r.height, r.width, r.components, r.seed);
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

// The whole image by plain libjpeg calls: what every decode here must equal.
struct Plain {
  int height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;
};
inline Plain decode_plainly(const File& file, J_COLOR_SPACE space, bool fancy = true) {
  jpeg_decompress_struct d;
  jpeg_error_mgr errors;
  d.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, file.data(), file.size());
  jpeg_read_header(&d, TRUE);
  d.out_color_space = space;
  d.do_fancy_upsampling = fancy;
  jpeg_start_decompress(&d);
  Plain p{static_cast<int>(d.output_height), static_cast<int>(d.output_width), d.output_components, {}};
  p.pixels.resize(static_cast<size_t>(p.height) * p.width * p.channels);
  while (d.output_scanline < d.output_height) {
    auto* row = &p.pixels[static_cast<size_t>(d.output_scanline) * p.width * p.channels];
    jpeg_read_scanlines(&d, &row, 1);
  }
  jpeg_finish_decompress(&d);
  jpeg_destroy_decompress(&d);
  return p;
}

// An APP1 body with nothing but an orientation.
inline std::vector<uint8_t> make_exif(int orientation, bool little) {
  std::vector<uint8_t> e{'E', 'x', 'i', 'f', 0, 0};
  auto put = [&](unsigned value, int bytes) {
    for (int i = 0; i < bytes; ++i) e.push_back(value >> 8 * (little ? i : bytes - 1 - i));
  };
  e.insert(e.end(), 2, little ? 'I' : 'M');
  put(42, 2), put(8, 4), put(2, 2);
  put(0x0100, 2), put(4, 2), put(1, 4), put(77, 4);
  put(0x0112, 2), put(3, 2), put(1, 4), put(orientation, 2), put(0, 2);
  put(0, 4);
  return e;
}

}  // namespace penstock::test
