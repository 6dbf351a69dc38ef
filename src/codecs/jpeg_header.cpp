// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg_header.h"

#include <cstring>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"

namespace penstock {

namespace {

void read_frame(Bytes body, uint8_t marker, JpegHeader& header) {
  if (body.size() < 6) bad_data("JPEG: the frame header is {} bytes long, too short", body.size());
  header.frame = marker;
  header.precision = body[0];
  header.height = be16(&body[1]);
  header.width = be16(&body[3]);
  header.components = body[5];
  if (header.width == 0 || header.height == 0)
    bad_data("JPEG: the header says {} x {} pixels", header.width, header.height);
  if (header.components < 1 || header.components > 4)
    bad_data("JPEG: the header says {} components", header.components);
  if (body.size() < 6 + 3 * static_cast<size_t>(header.components))
    bad_data("JPEG: the frame header is {} bytes long, too short for {} components", body.size(), header.components);
  for (int i = 0; i < header.components; ++i) {
    header.h[i] = body[7 + 3 * i] >> 4;
    header.v[i] = body[7 + 3 * i] & 15;
    if (header.h[i] < 1 || header.h[i] > 4 || header.v[i] < 1 || header.v[i] > 4)
      bad_data("JPEG: sampling factors {} x {} of component {} are not 1 to 4", header.h[i], header.v[i], i);
  }
}

bool starts_with(Bytes body, const char* text, size_t size) {
  return body.size() >= size && std::memcmp(body.data(), text, size) == 0;
}

}  // namespace

bool is_exif(Bytes body) { return starts_with(body, "Exif\0", kExifBegin); }  // "Exif", two zeros

int exif_orientation(Bytes t) {
  if (t.size() < 8) return 1;
  const bool little = t[0] == 'I' && t[1] == 'I';
  if (!little && !(t[0] == 'M' && t[1] == 'M')) return 1;
  auto u16 = [&](size_t at) -> unsigned { return little ? t[at] | t[at + 1] << 8 : t[at] << 8 | t[at + 1]; };
  auto u32 = [&](size_t at) -> size_t {
    return little ? u16(at) | static_cast<size_t>(u16(at + 2)) << 16 : static_cast<size_t>(u16(at)) << 16 | u16(at + 2);
  };
  if (u16(2) != 42) return 1;
  const size_t directory = u32(4);
  if (directory > t.size() - 2) return 1;
  const size_t entries = u16(directory);
  for (size_t i = 0, at = directory + 2; i < entries && at + 12 <= t.size(); ++i, at += 12) {
    if (u16(at) != 0x0112) continue;
    const unsigned type = u16(at + 2), value = type == 3 ? u16(at + 8) : type == 4 ? u32(at + 8) : 1;
    return value >= 1 && value <= 8 && u32(at + 4) == 1 ? value : 1;
  }
  return 1;
}

JpegHeader read_jpeg_header(Bytes file) {
  if (file.size() < 3 || file[0] != 0xFF || file[1] != 0xD8 || file[2] != 0xFF)
    bad_data("JPEG: the start marker is missing");
  JpegHeader header;
  bool framed = false, oriented = false;
  size_t at = 2;
  while (true) {
    // Bytes between segments are skipped, as in libjpeg.
    while (at < file.size() && file[at] != 0xFF) ++at;
    while (at < file.size() && file[at] == 0xFF) ++at;
    if (at >= file.size()) break;
    const uint8_t marker = file[at++];
    if (marker == 0x00 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;
    if (marker == 0xD9 || marker == 0xDA) break;  // end of image, start of scan
    if (file.size() - at < 2) break;
    const size_t length = be16(&file[at]);
    if (length < 2) bad_data("JPEG: the segment of marker {:02X} at byte {} has a length of {}", marker, at, length);
    if (length > file.size() - at) break;
    const Bytes body = file.subspan(at + 2, length - 2);
    const bool is_frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame && framed) bad_data("JPEG: the file has two frame headers");
    if (is_frame) {
      read_frame(body, marker, header);
      framed = true;
    } else if (marker == 0xE1 && !oriented && is_exif(body)) {
      header.orientation = exif_orientation(body.subspan(kExifBegin));
      oriented = true;
    } else if (marker == 0xEE && body.size() >= 12 && starts_with(body, "Adobe", 5)) {
      header.adobe_transform = body[11];
    }
    at += length;
  }
  if (!framed) ends_early("JPEG: the file of {} bytes ends before the frame header", file.size());
  return header;
}

}  // namespace penstock
