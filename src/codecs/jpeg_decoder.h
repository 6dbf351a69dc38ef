// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "codecs/image_format.h"
#include "codecs/jpeg_header.h"

struct jpeg_decompress_struct;

namespace penstock {

// The part of a JPEG image that libjpeg-turbo is asked for, so that each pixel of the region is that of a full decode.
struct JpegWindow {
  bool crop = false;         // whether jpeg_crop_scanline is called
  int64_t x = 0, width = 0;  // columns
  int64_t skip = 0;          // rows given to jpeg_skip_scanlines
};
// After jpeg_start_decompress.
JpegWindow choose_jpeg_window(const jpeg_decompress_struct& d, const Region& region);

// What a probe keeps of a file that our decoder leaves to libjpeg-turbo, and why it does: nullptr where it has not been
// asked.
struct JpegOfLibrary {
  JpegHeader header;
  const char* why = nullptr;
};
const FileDecoder& libjpeg_turbo_decoder();
ImageInfo describe(const JpegHeader& header);
// Of `penstock verify`, as ImageFormat::verify: what libjpeg decodes, it can say more of than that there is an error.
bool verify_jpeg(const DecodeTask& task, std::vector<Finding>& found);

}  // namespace penstock
