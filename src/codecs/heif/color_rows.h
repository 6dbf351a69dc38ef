// SPDX-License-Identifier: Apache-2.0
// Converts the planes of a decoded picture to rows of gray, RGB or RGBA.
//
// Chroma of half the size is interpolated between the centers of its samples, as libavif and libyuv do: (9 a + 3 b + 3
// c + d + 8) / 16 of the four nearest, (3 a + b + 2) / 4 of two where only its width is halved, rounded down; at an
// edge the nearest sample replaces the missing one. The matrix is ITU-T H.273's in float32, rounded half up to the type
// of the result: uint8, or uint16 for deeper samples, with the range of the samples.
#pragma once
#include <vector>

#include "codecs/heif/heif_library.h"

namespace penstock::heif {

// The decoded part of a picture: at least what a region needs.
struct DecodedPart {
  Region part;  // position of the planes in the picture
  int bits = 8;
  Chroma chroma = Chroma::none;
  Colors colors;
  Plane planes[3];
  std::vector<uint8_t> joined[3];  // assembled from several tiles
  std::shared_ptr<const void> owner;
};

class ColorRows {
 public:
  // Throws ErrorKind::data if the matrix is not one of those. `alpha` may be null.
  ColorRows(const DecodedPart& color, const DecodedPart* alpha, const Region& region);
  int channels() const { return channels_; }
  DType dtype() const { return color_.bits > 8 ? DType::uint16 : DType::uint8; }
  // Row y of the picture; points to the first of the region's columns.
  const void* row(int64_t y);

 private:
  const uint16_t* samples(const DecodedPart& p, int plane, int64_t y, std::vector<uint16_t>& to);
  const uint16_t* upsampled(int plane, int64_t y, std::vector<uint16_t>& to);
  template <class T> void convert(int64_t y);

  const DecodedPart& color_;
  const DecodedPart* alpha_;
  Region region_;
  int channels_;
  float kr_ = 0.299f, kb_ = 0.114f;
  std::vector<uint16_t> luma_, chroma_[2], opacity_;
  std::vector<int32_t> mixed_;
  std::vector<uint16_t> row_;
};

}  // namespace penstock::heif
