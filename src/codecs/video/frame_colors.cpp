// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/frame_colors.h"

#include <algorithm>

namespace penstock {

using namespace ffmpeg;

const int* matrix_numbers(int64_t matrix) {
  const bool known = matrix >= 1 && matrix <= 10 && matrix != 2 && matrix != 8 && matrix != 3;
  return library().sws_getCoefficients(known ? static_cast<int>(matrix) : 5);
}

StreamColors stream_colors(const VideoFile& file) {
  const Library& lib = library();
  const Listener heard;
  StreamColors out;
  const char* format = lib.av_get_pix_fmt_name(lib.pixel_format(file.parameters()));
  out.format = format ? format : "an unknown format";
  CodecContext* codec = lib.avcodec_alloc_context3(nullptr);
  if (!codec) throw std::bad_alloc();
  if (lib.avcodec_parameters_to_context(codec, file.parameters()) >= 0) {
    lib.av_opt_get_int(codec, "colorspace", 0, &out.matrix);
    lib.av_opt_get_int(codec, "color_range", 0, &out.range);
  }
  lib.avcodec_free_context(&codec);
  return out;
}

YuvRgb make_yuv_rgb(const int* numbers, bool full_range) {
  constexpr int64_t kOne = 1 << 16;
  const int64_t luma = full_range ? kOne : kOne * 255 / 219, black = full_range ? 0 : 16 * kOne;
  const auto scaled = [&](int64_t n) { return full_range ? n * 224 / 255 : n; };
  const int64_t red = scaled(numbers[0]), blue = scaled(numbers[1]), green_u = scaled(-numbers[2]),
                green_v = scaled(-numbers[3]);
  const auto factor = [](int64_t f) {  // 13 fractional bits, within 16 bits
    return static_cast<int32_t>(std::clamp<int64_t>((f * 8192 + kOne / 2) >> 16, -32768, 32767));
  };
  const auto relative = [&](int64_t f) { return static_cast<int32_t>((f * kOne + kOne / 2) / luma); };
  const int64_t middle = full_range ? 384 : 326;  // where its tables have Y = 0
  YuvRgb m{};
  m.y = factor(luma), m.v_red = factor(red), m.u_green = factor(green_u), m.v_green = factor(green_v),
  m.u_blue = factor(blue);
  m.y_offset = static_cast<int32_t>(black * 8 / kOne);
  m.luma = static_cast<int32_t>(luma), m.red = relative(red), m.blue = relative(blue);
  m.green_u = relative(green_u), m.green_v = relative(green_v);
  m.base = static_cast<int32_t>(middle * luma - 384 * kOne - black + kOne / 2);
  return m;
}

}  // namespace penstock
