// SPDX-License-Identifier: Apache-2.0
// What a stream says about its colors, and how its frames become RGB.
#pragma once
#include <string>

#include "codecs/video/video_file.h"
#include "pixel/yuv_rgb.h"

namespace penstock {

// The four numbers of a matrix (of ITU-T H.273) in libswscale's form: BT.601 if the stream states none.
const int* matrix_numbers(int64_t matrix);
constexpr bool is_full_range(int64_t range) { return range == 2; }

// From the stream's parameters.
struct StreamColors {
  std::string format;  // FFmpeg's name: "yuv420p10le"
  int64_t matrix = 2, range = 0;
};
StreamColors stream_colors(const VideoFile& file);

// The numbers of pixel/yuv_rgb.h.
YuvRgb make_yuv_rgb(const int* numbers, bool full_range);

}  // namespace penstock
