// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "codecs/image_format.h"
#include "codecs/jpeg_header.h"

struct jpeg_decompress_struct;

namespace penstock {

// What to request from libjpeg-turbo so that each pixel of the region equals that of a full decode.
struct JpegWindow {
  bool crop = false;         // whether to call jpeg_crop_scanline
  int64_t x = 0, width = 0;  // columns
  int64_t skip = 0;          // rows to pass to jpeg_skip_scanlines
};
// Call it after jpeg_start_decompress.
JpegWindow choose_jpeg_window(const jpeg_decompress_struct& d, const Region& region);

// What a probe keeps about a file that our decoder leaves to libjpeg-turbo, and why it does: nullptr if it was not
// asked.
struct JpegOfLibrary {
  JpegHeader header;
  const char* why = nullptr;
};
const FileDecoder& libjpeg_turbo_decoder();
ImageInfo describe(const JpegHeader& header);
// ImageFormat::verify for `penstock verify`: for files that libjpeg decodes, it reports more than that there is an
// error.
bool verify_jpeg(const DecodeTask& task, std::vector<Finding>& found);

}  // namespace penstock
