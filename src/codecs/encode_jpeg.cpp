// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs FILE and size_t
#include <cstdlib>

#include <jpeglib.h>

#include "base/error.h"
#include "codecs/encode_image.h"

namespace penstock {
namespace {

struct JpegWriter {
  jpeg_compress_struct out{};
  jpeg_error_mgr errors{};
  unsigned char* file = nullptr;
  unsigned long size = 0;
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";
  JpegWriter() {
    out.err = jpeg_std_error(&errors);
    out.client_data = this;
    errors.error_exit = [](j_common_ptr c) {
      auto& w = *static_cast<JpegWriter*>(c->client_data);
      c->err->format_message(c, w.message);
      longjmp(w.jump, 1);
    };
    errors.output_message = [](j_common_ptr) {};
  }
  ~JpegWriter() {
    if (out.mem) jpeg_destroy_compress(&out);
    std::free(file);
  }
  JpegWriter(const JpegWriter&) = delete;
};

void set_parameters(jpeg_compress_struct& out, const Picture& p, const JpegSettings& s) {
  out.image_height = static_cast<JDIMENSION>(p.height), out.image_width = static_cast<JDIMENSION>(p.width);
  out.input_components = p.channels;
  out.in_color_space = p.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&out);
  if (p.channels == 3 && s.sampling == JpegSampling::gray) jpeg_set_colorspace(&out, JCS_GRAYSCALE);
  jpeg_set_quality(&out, s.quality, TRUE);
  if (out.num_components == 3) {
    out.comp_info[0].h_samp_factor = s.sampling == JpegSampling::s444 ? 1 : 2;
    out.comp_info[0].v_samp_factor = s.sampling == JpegSampling::s420 ? 2 : 1;
  }
  out.optimize_coding = s.optimize ? TRUE : FALSE;
  out.restart_interval = static_cast<unsigned>(s.restart_interval);
  if (s.progressive) jpeg_simple_progression(&out);
}

// Owns nothing on its stack: libjpeg leaves its functions by longjmp.
[[gnu::noinline]] bool write(JpegWriter& w, const Picture& p, const JpegSettings& s) {
  if (setjmp(w.jump)) return false;
  jpeg_create_compress(&w.out);
  jpeg_mem_dest(&w.out, &w.file, &w.size);
  set_parameters(w.out, p, s);
  jpeg_start_compress(&w.out, TRUE);
  constexpr int kRows = 16;
  JSAMPROW rows[kRows];
  auto* at = static_cast<JSAMPLE*>(const_cast<void*>(p.pixels));
  const int64_t row_bytes = p.width * p.channels;
  while (w.out.next_scanline < w.out.image_height) {
    JDIMENSION count = 0;
    for (int64_t y = w.out.next_scanline; y < p.height && count < kRows; ++y) rows[count++] = at + y * row_bytes;
    jpeg_write_scanlines(&w.out, rows, count);
  }
  jpeg_finish_compress(&w.out);
  return true;
}

}  // namespace

std::vector<uint8_t> encode_jpeg(const Picture& p, const JpegSettings& settings) {
  constexpr int64_t kLongest = JPEG_MAX_DIMENSION;
  if (p.bits != 8 || (p.channels != 1 && p.channels != 3))
    bad_argument("JPEG has 1 or 3 channels of uint8, got {} channels of {} bits", p.channels, p.bits);
  if (p.height < 1 || p.width < 1 || p.height > kLongest || p.width > kLongest)
    bad_argument("JPEG has from 1 to {} pixels along an axis, got {} x {}: resize or crop the image before", kLongest,
                 p.height, p.width);
  JpegWriter w;
  if (!write(w, p, settings))
    fail(ErrorKind::internal, "libjpeg could not encode {} x {}: {}", p.height, p.width,
         static_cast<const char*>(w.message));
  return {w.file, w.file + w.size};
}

}  // namespace penstock
