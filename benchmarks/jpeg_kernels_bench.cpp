// SPDX-License-Identifier: Apache-2.0
// The sample kernels of the JPEG decoder alone, microseconds a picture, beside libjpeg-turbo's whole decode and its
// entropy decoding alone (the difference is its share of the same work).
//     ninja -C build jpeg_kernels_bench
//     build/jpeg_kernels_bench FILE.jpg... [rounds]      baseline 4:2:0 files; others are left out
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "codecs/jpeg/kernels.h"

namespace {

using namespace penstock;
using namespace penstock::jpeg;

struct Picture {
  std::vector<uint8_t> file;
  int width = 0, height = 0, mcu_columns = 0, mcu_rows = 0;
  std::vector<int16_t> coefficients;  // MCU by MCU: four of luma, one each of chroma; natural order
  std::vector<int16_t> quant;         // luma, luma; luma, luma; Cb, Cr
};

struct Decoder {
  jpeg_decompress_struct d;
  jpeg_error_mgr errors;
  explicit Decoder(const std::vector<uint8_t>& file) {
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, file.data(), file.size());
    jpeg_read_header(&d, TRUE);
  }
  ~Decoder() { jpeg_destroy_decompress(&d); }
};

bool read(const char* path, Picture& p) {
  std::ifstream in(path, std::ios::binary);
  p.file.assign(std::istreambuf_iterator<char>(in), {});
  Decoder decoder(p.file);
  jpeg_decompress_struct& d = decoder.d;
  if (d.num_components != 3 || d.progressive_mode || d.comp_info[0].h_samp_factor != 2 ||
      d.comp_info[0].v_samp_factor != 2 || d.comp_info[1].h_samp_factor != 1 || d.comp_info[1].v_samp_factor != 1)
    return false;
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&d);
  p.width = static_cast<int>(d.image_width), p.height = static_cast<int>(d.image_height);
  p.mcu_columns = (p.width + 15) / 16, p.mcu_rows = (p.height + 15) / 16;
  p.coefficients.resize(static_cast<size_t>(p.mcu_columns) * p.mcu_rows * 6 * 64);
  for (int c = 0; c < 3; ++c) {
    const int f = c == 0 ? 2 : 1;
    for (int y = 0; y < p.mcu_rows * f; ++y) {
      JBLOCKARRAY row = d.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&d), arrays[c],
                                                  static_cast<JDIMENSION>(y), 1, FALSE);
      for (int x = 0; x < p.mcu_columns * f; ++x) {
        const size_t mcu = static_cast<size_t>(y / f) * p.mcu_columns + x / f;
        const size_t block = c == 0 ? y % 2 * 2 + x % 2 : 3 + c;
        std::memcpy(&p.coefficients[(mcu * 6 + block) * 64], row[0][x], 128);
      }
    }
  }
  p.quant.resize(3 * 128);
  for (int pair = 0; pair < 3; ++pair)
    for (int k = 0; k < 128; ++k) {
      const jpeg_component_info& component = d.comp_info[pair < 2 ? 0 : k % 16 < 8 ? 1 : 2];
      p.quant[pair * 128 + k] = static_cast<int16_t>(component.quant_table->quantval[k / 16 * 8 + k % 8]);
    }
  jpeg_finish_decompress(&d);
  return true;
}

double now() {
  using std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

struct Planes {
  std::vector<uint8_t> data[3];
  int stride[3] = {}, rows[3] = {};
};

constexpr int kTogether = 8;  // MCUs timed together, few enough that the coefficients are as near as in a decoder

void transform_some(const Kernels& k, const Picture& p, int scale, int y, int first, int16_t* work,
                    const int16_t* quant, Planes& planes) {
  const int chroma_log = chroma_scale(2, 2, scale), luma = 1 << scale, chroma = 1 << chroma_log;
  for (int x = first; x < std::min(first + kTogether, p.mcu_columns); ++x) {
    int16_t* block = work + (x - first) * 6 * 64;
    for (int half = 0; half < 2; ++half) {
      uint8_t* to = &planes.data[0][static_cast<size_t>((2 * y + half) * luma * planes.stride[0] + 2 * x * luma)];
      k.inverse_dct[scale](block + 128 * half, block + 128 * half + 64, quant, to, planes.stride[0], to + luma,
                           planes.stride[0]);
    }
    const size_t at = static_cast<size_t>(y * chroma * planes.stride[1] + x * chroma);
    k.inverse_dct[chroma_log](block + 256, block + 320, quant + 256, &planes.data[1][at], planes.stride[1],
                              &planes.data[2][at], planes.stride[2]);
  }
}

double transform(const Kernels& k, const Picture& p, int scale, int16_t* work, const int16_t* quant, Planes& planes) {
  double taken = 0;
  for (int y = 0; y < p.mcu_rows; ++y)
    for (int x = 0; x < p.mcu_columns; x += kTogether) {
      const size_t count = static_cast<size_t>(std::min(kTogether, p.mcu_columns - x)) * 6 * 64;
      std::memcpy(work, &p.coefficients[(static_cast<size_t>(y) * p.mcu_columns + x) * 6 * 64], 2 * count);
      const double start = now();
      transform_some(k, p, scale, y, x, work, quant, planes);
      taken += now() - start;
    }
  return taken;
}

void color(const Kernels& k, const Picture& p, RowOutput output, Planes& planes, std::vector<uint8_t>& out) {
  const int chroma_rows = (p.height + 1) / 2;
  for (int y = 0; y < p.height; ++y) {
    ColorRow row;
    const int near = y / 2, far = std::clamp(y % 2 ? near + 1 : near - 1, 0, chroma_rows - 1);
    row.luma = &planes.data[0][static_cast<size_t>(y * planes.stride[0])];
    row.cb = &planes.data[1][static_cast<size_t>(near * planes.stride[1])];
    row.cr = &planes.data[2][static_cast<size_t>(near * planes.stride[2])];
    row.cb_far = &planes.data[1][static_cast<size_t>(far * planes.stride[1])];
    row.cr_far = &planes.data[2][static_cast<size_t>(far * planes.stride[2])];
    row.width = p.width;
    row.chroma_columns = (p.width + 1) / 2;
    const size_t pixels = static_cast<size_t>(p.width) * p.height, at = static_cast<size_t>(y) * p.width;
    uint8_t* const to[3] = {&out[output == RowOutput::rgb ? 3 * at : at], &out[pixels + at], &out[2 * pixels + at]};
    k.color_row[static_cast<int>(Upsampling::fancy_h2v2)][static_cast<int>(output)](row, to);
  }
}

double library(const Picture& p, bool pixels, std::vector<uint8_t>& out) {
  const double start = now();
  Decoder decoder(p.file);
  jpeg_decompress_struct& d = decoder.d;
  if (!pixels) {
    jpeg_read_coefficients(&d);
  } else {
    d.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&d);
    while (d.output_scanline < d.output_height) {
      uint8_t* row = &out[static_cast<size_t>(3) * p.width * d.output_scanline];
      jpeg_read_scanlines(&d, &row, 1);
    }
  }
  jpeg_finish_decompress(&d);
  return now() - start;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Picture> pictures;
  int rounds = 9;
  for (int i = 1; i < argc; ++i) {
    if (std::atoi(argv[i]) > 0) {
      rounds = std::atoi(argv[i]);
      continue;
    }
    Picture p;
    if (read(argv[i], p)) pictures.push_back(std::move(p));
  }
  if (pictures.empty()) {
    std::fprintf(stderr, "usage: jpeg_kernels_bench FILE.jpg... [rounds]\n");
    return 2;
  }
  // A line is the mean over the pictures of each picture's fastest round.
  struct Line {
    std::string name;
    std::vector<double> best;
  };
  std::vector<Line> lines;
  const auto note = [&](const std::string& name, size_t picture, double microseconds) {
    auto at = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.name == name; });
    if (at == lines.end()) at = lines.insert(lines.end(), {name, std::vector<double>(pictures.size(), 1e30)});
    at->best[picture] = std::min(at->best[picture], microseconds);
  };
  const std::string names[3] = {"scalar", "avx2", "avx512"};
  for (size_t i = 0; i < pictures.size(); ++i) {
    const Picture& p = pictures[i];
    std::vector<uint8_t> out(static_cast<size_t>(p.width) * p.height * 3 + 64);
    int16_t* work = static_cast<int16_t*>(std::aligned_alloc(64, kTogether * 6 * 128));
    int16_t* quant = static_cast<int16_t*>(std::aligned_alloc(64, 768));
    std::memcpy(quant, p.quant.data(), 768);
    Planes planes;
    for (int c = 0; c < 3; ++c) {
      planes.stride[c] = (p.mcu_columns * 16 + 63) / 64 * 64 + 128;
      planes.data[c].resize(static_cast<size_t>(planes.stride[c]) * p.mcu_rows * 16 + 64);
    }
    for (int round = 0; round < rounds; ++round) {
      note("libjpeg-turbo, whole decode", i, library(p, true, out));
      note("libjpeg-turbo, coefficients", i, library(p, false, out));
      for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
        const Kernels& k = kernels(static_cast<Target>(t));
        for (int scale = 0; scale < 4; ++scale)
          note(names[t] + ", inverse DCT at " + std::to_string(1 << scale) + "/8", i,
               transform(k, p, scale, work, quant, planes));
        for (const RowOutput output : {RowOutput::rgb, RowOutput::rgb_planar}) {
          const double begin = now();
          color(k, p, output, planes, out);
          note(names[t] + (output == RowOutput::rgb ? ", rows to RGB" : ", rows to planes"), i, now() - begin);
        }
      }
    }
    std::free(work);
    std::free(quant);
  }
  std::printf("%zu pictures, the first %d x %d; mean of each one's fastest of %d rounds\n", pictures.size(),
              pictures[0].width, pictures[0].height, rounds);
  for (const Line& line : lines) {
    double sum = 0;
    for (const double v : line.best) sum += v;
    std::printf("%-34s %8.1f us\n", line.name.c_str(), sum / static_cast<double>(pictures.size()));
  }
  return 0;
}
