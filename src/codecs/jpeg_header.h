// SPDX-License-Identifier: Apache-2.0
// The headers of a JPEG file, read without libjpeg: takes a few hundred nanoseconds, bounded, never outside the bytes.
#pragma once
#include <cstdint>

#include "codecs/image_decoder.h"

namespace penstock {

struct JpegHeader {
  int64_t height = 0, width = 0;
  int components = 0;
  int precision = 8;
  uint8_t frame = 0xC0;          // the SOF marker: C0 baseline, C1 extended, C2 progressive, C9 and CA arithmetic
  uint8_t h[4] = {}, v[4] = {};  // sampling factors, 1..4
  int orientation = 1;           // EXIF 1..8
  int adobe_transform = -1;      // of the Adobe marker: 0 RGB or CMYK, 1 YCbCr, 2 YCCK; -1 without a marker

  bool progressive() const { return frame == 0xC2 || frame == 0xCA; }
  bool arithmetic() const { return frame >= 0xC9; }
};

// Reads the markers up to the first scan. Throws ErrorKind::data with the cause.
JpegHeader read_jpeg_header(Bytes file);

// Whether the body of a marker APP1 is EXIF: kExifBegin bytes, then its TIFF header.
constexpr size_t kExifBegin = 6;
bool is_exif(Bytes body);
// The orientation (1..8) in an EXIF block that begins with its TIFF header; 1 if there is none or it is damaged.
int exif_orientation(Bytes tiff);

}  // namespace penstock
