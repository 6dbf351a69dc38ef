// SPDX-License-Identifier: Apache-2.0
// Converts the samples of a codec to the channels and the type that the caller requested, one row at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "codecs/image_decoder.h"

namespace penstock {

// Rules, each measured against DALI 2.4, which gives the same bytes except for gray:
// - gray, if the codec does not store it: round(0.299 R + 0.587 G + 0.114 B) in the depth of the file. DALI rounds it
//   down for 8 bits, and differs by up to 4 of 65535 for 16;
// - ycbcr: ITU-R BT.601 with studio range, as in DALI (Y 16..235, Cb and Cr 16..240 for 8 bits), not JFIF's; in
//   float32 from the file's depth to the result's type, with the offsets 1/16 and 1/2 of that type's range;
// - alpha is dropped, never multiplied in, except for any_data, which keeps it;
// - integers are rescaled so that the largest value becomes the largest: exactly to 8 and 16 bits; to 32 bits in
//   float32, which has 24 bits; to floating point as v / maximum. Signed types use 0 and up. DALI has no float16,
//   float64;
// - files of floating point have values from 0 to 1: for integers they are clamped to that (NaN is 0) and rounded half
//   to even; for floating point they do not change.
struct RowConversion {
  int channels = 3;             // of the input: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA, more: RGB and others
  DType stored = DType::uint8;  // of the input: uint8, uint16 or float32 (native byte order)
  ImageType type = ImageType::rgb;
  DType dtype = DType::uint8;

  int output_channels() const { return type == ImageType::any_data ? channels : type == ImageType::gray ? 1 : 3; }
  int64_t output_bytes(int64_t width) const { return width * output_channels() * static_cast<int64_t>(size_of(dtype)); }
  // Whether the output is the input, byte for byte.
  bool is_copy() const;
};

// `scratch` grows to a row. `in` and `out` must not overlap.
void convert_row(const RowConversion& conversion, const void* in, int64_t width, void* out,
                 std::vector<uint8_t>& scratch);

// Fills the sink with the region of a picture; row_at(y) returns the whole row y of the picture, as the codec stores
// it.
template <class RowAt>
void store_rows(const RowConversion& c, const Region& region, const PixelSink& sink, const RowAt& row_at) {
  std::vector<uint8_t> scratch;
  const int64_t pixel = c.channels * static_cast<int64_t>(size_of(c.stored));
  auto* to = static_cast<uint8_t*>(sink.data);
  for (int64_t y = region.y; y < region.y + region.height; ++y, to += sink.row_bytes)
    convert_row(c, static_cast<const uint8_t*>(row_at(y)) + region.x * pixel, region.width, to, scratch);
}

// CMYK as Adobe writes it in JPEG files (all four inverted): R = floor(C * K / 255), which is DALI's arithmetic (Pillow
// and OpenCV differ from it by at most 1). Without `inverted`, plain CMYK.
void cmyk_to_rgb_row(const uint8_t* cmyk, int64_t width, bool inverted, uint8_t* rgb);

// Reverses the order of the pixels of a row, `pixel_bytes` each.
void reverse_row(uint8_t* row, int64_t width, int64_t pixel_bytes);

}  // namespace penstock
