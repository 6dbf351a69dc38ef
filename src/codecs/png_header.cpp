// SPDX-License-Identifier: Apache-2.0
#include "codecs/png_header.h"

#include <cstring>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/jpeg_header.h"

namespace penstock {

namespace {

constexpr size_t kSignature = 8;
constexpr int64_t kLongest = 0x7FFFFFFF;

void check(const PngHeader& h) {
  if (h.width < 1 || h.height < 1 || h.width > kLongest || h.height > kLongest)
    bad_data("PNG: the header says {} x {} pixels", h.height, h.width);
  const bool color_known =
      h.color_type == 0 || h.color_type == 2 || h.color_type == 3 || h.color_type == 4 || h.color_type == 6;
  const bool small = h.bits == 1 || h.bits == 2 || h.bits == 4;
  const bool bits_known =
      h.bits == 8 || (h.bits == 16 && h.color_type != 3) || (small && (h.color_type == 0 || h.color_type == 3));
  if (!color_known || !bits_known) bad_data("PNG: color type {} cannot have {} bits", h.color_type, h.bits);
}

}  // namespace

PngHeader read_png_header(Bytes file) {
  if (file.size() < kSignature + 25) ends_early("PNG: the file of {} bytes ends in the header", file.size());
  const uint8_t* p = file.data() + kSignature;
  if (be32(p) != 13 || std::memcmp(p + 4, "IHDR", 4)) bad_data("PNG: the first chunk is not IHDR");
  PngHeader h;
  h.width = be32(p + 8);
  h.height = be32(p + 12);
  h.bits = p[16];
  h.color_type = p[17];
  h.interlaced = p[20] == 1;
  check(h);
  if (p[18] || p[19] || p[20] > 1) bad_data("PNG: unknown compression, filter or interlace method");
  // The eXIf chunk may precede or follow the pixels; finding it reads 8 bytes per chunk.
  for (size_t at = kSignature + 25; file.size() - at >= 12;) {
    const size_t length = be32(&file[at]);
    if (length > file.size() - at - 12 || !std::memcmp(&file[at + 4], "IEND", 4)) break;
    if (!std::memcmp(&file[at + 4], "eXIf", 4)) {
      h.orientation = exif_orientation(file.subspan(at + 8, length));
      break;
    }
    at += length + 12;
  }
  return h;
}

}  // namespace penstock
