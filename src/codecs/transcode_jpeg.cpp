// SPDX-License-Identifier: Apache-2.0
#include "codecs/transcode_jpeg.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "codecs/image_format.h"
#include "codecs/jpeg_header.h"
#include "codecs/jpeg_session.h"

namespace penstock {

bool is_worth_baseline(Bytes file) {
  if (const ImageFormat* format = image_format_of(file); !format || format->id != "jpeg") return false;
  JpegSession s(file);
  bool worth = false;
  const bool read = s.guarded([&] {
    jpeg_read_header(&s.in, TRUE);
    worth = s.in.progressive_mode || s.in.arith_code || s.in.comps_in_scan < s.in.num_components;
  });
  return read && worth && s.in.data_precision == 8;
}

std::vector<uint8_t> to_baseline_jpeg(Bytes file, int64_t max_pixels) {
  const JpegHeader header = read_jpeg_header(file);
  if (header.precision != 8) bad_data("JPEG: {} bits per sample; only 8 can be transcoded", header.precision);
  if (header.height * header.width > max_pixels)
    bad_data("{} x {} pixels are more than the limit of {}", header.height, header.width, max_pixels);
  int h = 1, v = 1;
  for (int c = 0; c < header.components; ++c) h = std::max<int>(h, header.h[c]), v = std::max<int>(v, header.v[c]);
  for (int c = 0; c < header.components;
       ++c)  // no decoder here supports them, so nothing could verify that the new file is complete
    if (h % header.h[c] || v % header.v[c])
      bad_data("JPEG: component {} has {} x {} samples where another has {} x {}: fractional sampling is not supported",
               c, int{header.v[c]}, int{header.h[c]}, v, h);
  struct Memory {
    unsigned char* data = nullptr;
    unsigned long size = 0;
    ~Memory() { std::free(data); }
  } memory;
  JpegSession s(file);
  bool complete = true;
  const bool done = s.guarded([&] {
    jpeg_save_markers(&s.in, JPEG_COM, 0xFFFF);
    for (int k = 0; k < 16; ++k) jpeg_save_markers(&s.in, JPEG_APP0 + k, 0xFFFF);
    jpeg_read_header(&s.in, TRUE);
    jvirt_barray_ptr* const coefficients = jpeg_read_coefficients(&s.in);
    constexpr int kSmoothed = 10;  // coefficients that libjpeg smooths
    for (int c = 0; s.in.progressive_mode && c < s.in.num_components; ++c)
      for (int k = 0; k < kSmoothed; ++k) complete &= s.in.coef_bits[c][k] == 0;
    if (s.warnings() > 0 || s.ended() || !complete) return;
    s.share_errors();
    jpeg_create_compress(&s.out);
    jpeg_mem_dest(&s.out, &memory.data, &memory.size);
    jpeg_copy_critical_parameters(&s.in, &s.out);
    s.out.optimize_coding = TRUE;
    s.out.arith_code = FALSE;
    s.out.num_scans = 0;
    s.out.scan_info = nullptr;
    jpeg_write_coefficients(&s.out, coefficients);
    for (jpeg_saved_marker_ptr m = s.in.marker_list; m; m = m->next) {
      // libjpeg writes these two itself, from what it read.
      if (s.out.write_JFIF_header && m->marker == JPEG_APP0 && m->data_length >= 5 && !std::memcmp(m->data, "JFIF", 5))
        continue;
      if (s.out.write_Adobe_marker && m->marker == JPEG_APP0 + 14 && m->data_length >= 5 &&
          !std::memcmp(m->data, "Adobe", 5))
        continue;
      jpeg_write_marker(&s.out, m->marker, m->data, m->data_length);
    }
    jpeg_finish_compress(&s.out);
    jpeg_finish_decompress(&s.in);
  });
  if (!done) bad_data("JPEG: {}", s.message());
  if (s.warnings() > 0) bad_data("JPEG: the file is damaged: {}", s.first_warning());
  if (s.ended()) bad_data("JPEG: the file ends without an end marker");
  if (!complete) bad_data("JPEG: the scans omit bits of low frequencies");
  return {memory.data, memory.data + memory.size};
}

}  // namespace penstock
