// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/jpeg_engine.h"

#include <algorithm>

#include "codecs/image_format.h"
#include "codecs/jpeg/scan_header.h"

namespace penstock {
namespace {

constexpr int64_t kSmallestSide = 16, kLargestSide = 8192;

}  // namespace

bool has_end_marker(Bytes file) {
  constexpr size_t kLooked = 64;
  for (size_t i = file.size(); i >= 2 && i + kLooked > file.size(); --i)
    if (file[i - 2] == 0xFF && file[i - 1] == 0xD9) return true;
  return false;
}

std::string jpeg_engine_declines(Bytes file, const ImageInfo& info, const DecodeParams& params,
                                 const ParsedHeader& read) {
  std::string reasons;
  auto add = [&](const std::string& reason) { reasons += (reasons.empty() ? "" : "; ") + reason; };
  if (params.dtype != DType::uint8) add(fmt::format("it decodes to uint8, not to {}", name_of(params.dtype)));
  if (params.type == ImageType::gray || params.type == ImageType::ycbcr) add("it decodes only to RGB or BGR");
  if (params.eighths != 8) add("it does not scale");
  if (params.apply_orientation && info.orientation != 1)
    add(fmt::format("the picture has the EXIF orientation {}", info.orientation));
  if (std::max(info.height, info.width) > kLargestSide || std::min(info.height, info.width) < kSmallestSide)
    add(fmt::format("the size of {} x {} pixels is not between {} and {} on each side", info.height, info.width,
                    kSmallestSide, kLargestSide));
  if (info.format->id != "jpeg") {
    add(fmt::format("the format is {}", info.format->id));
    return reasons;
  }
  jpeg::ScanHeader own;
  const char* unusual = nullptr;
  if (const jpeg::ScanHeader* scan = jpeg::scan_header_of(file, read, own, unusual)) {
    if (scan->components != 3) add("the picture is gray");
    if (scan->frame != 0xC0) add("the coding is not baseline");
  } else {
    add(unusual);
  }
  if (!has_end_marker(file)) add("the end marker is missing");
  return reasons;
}

}  // namespace penstock
