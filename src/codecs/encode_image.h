// SPDX-License-Identifier: Apache-2.0
// Encoders of images: pixels become the bytes of a file. They throw ErrorKind::argument for pictures that the format
// does not hold.
#pragma once
#include <cstdint>
#include <vector>

namespace penstock {

// Dense rows of height x width pixels of interleaved channels: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
struct Picture {
  const void* pixels;
  int64_t height, width;
  int channels;
  int bits = 8;  // of a channel: 8 or 16
};

enum class JpegSampling : uint8_t { s444, s422, s420, gray };
struct JpegSettings {
  int quality = 75;
  JpegSampling sampling = JpegSampling::s420;
  bool optimize = false, progressive = false;
  int restart_interval = 0;  // MCUs between restart markers; 0: none
};
std::vector<uint8_t> encode_jpeg(const Picture& picture, const JpegSettings& settings);

enum class PngFilter : uint8_t { none, sub, up, average, paeth, adaptive };
struct PngSettings {
  int level = 6;
  PngFilter filter = PngFilter::adaptive;
  int strategy = -1;  // of zlib; -1: what libpng chooses for the filter
};
std::vector<uint8_t> encode_png(const Picture& picture, const PngSettings& settings);

struct WebpSettings {
  float quality = 80;
  bool lossless = false;
  int method = 4;  // 0: fastest, 6: smallest
};
std::vector<uint8_t> encode_webp(const Picture& picture, const WebpSettings& settings);

}  // namespace penstock
