// SPDX-License-Identifier: Apache-2.0
#include "codecs/pixel_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace penstock {

namespace {

template <class T>
T round_to(float v) {  // half to even
  return static_cast<T>(std::lrintf(v));
}

template <class T>
T gray_of(T r, T g, T b) {
  return round_to<T>(0.299f * r + 0.587f * g + 0.114f * b);
}

// ITU-R BT.601: 219 steps of luma, 224 of chroma, on a scale of 255.
template <class T>
void ycbcr_of(float r, float g, float b, T* out) {
  constexpr float unit = std::numeric_limits<T>::max() / 255.0f;
  out[0] = round_to<T>(0.25678823529f * r + 0.50412941176f * g + 0.09790588235f * b + 16 * unit);
  out[1] = round_to<T>(-0.14822289945f * r - 0.29099278682f * g + 0.43921568627f * b + 128 * unit);
  out[2] = round_to<T>(0.43921568627f * r - 0.36778831435f * g - 0.07142737192f * b + 128 * unit);
}

template <class T>
void convert_channels(const RowConversion& c, const T* in, int64_t width, T* out) {
  const int n = c.channels;
  const bool color = n >= 3;
  switch (c.type) {
    case ImageType::any_data:
      std::memcpy(out, in, sizeof(T) * n * width);
      return;
    case ImageType::gray:
      for (int64_t i = 0; i < width; ++i, in += n) out[i] = color ? gray_of(in[0], in[1], in[2]) : in[0];
      return;
    case ImageType::ycbcr:
      for (int64_t i = 0; i < width; ++i, in += n, out += 3)
        color ? ycbcr_of<T>(in[0], in[1], in[2], out) : ycbcr_of<T>(in[0], in[0], in[0], out);
      return;
    case ImageType::rgb:
    case ImageType::bgr: {
      const int first = color && c.type == ImageType::bgr ? 2 : 0;
      const int last = color ? 2 - first : 0;
      for (int64_t i = 0; i < width; ++i, in += n, out += 3) {
        const T a = in[first], b = in[color ? 1 : 0], z = in[last];
        out[0] = a, out[1] = b, out[2] = z;
      }
      return;
    }
  }
}

template <class T>
void rescale(const T* in, int64_t count, DType dtype, void* out) {
  if (dtype == DType::float32) {
    constexpr float scale = 1.0f / std::numeric_limits<T>::max();
    auto* to = static_cast<float*>(out);
    for (int64_t i = 0; i < count; ++i) to[i] = in[i] * scale;
  } else if (dtype == DType::uint16) {
    auto* to = static_cast<uint16_t*>(out);
    for (int64_t i = 0; i < count; ++i) to[i] = sizeof(T) == 1 ? in[i] * 257 : in[i];
  } else {  // round(v / 257): never a tie, because 257 is odd
    auto* to = static_cast<uint8_t*>(out);
    for (int64_t i = 0; i < count; ++i) to[i] = sizeof(T) == 1 ? in[i] : (in[i] + 128u) / 257u;
  }
}

template <class T>
void convert(const RowConversion& c, const T* in, int64_t width, void* out, std::vector<uint8_t>& scratch) {
  const bool same_depth = size_of(c.dtype) == sizeof(T) && !is_float(c.dtype);
  if (same_depth) return convert_channels(c, in, width, static_cast<T*>(out));
  const int64_t count = width * c.output_channels();
  const bool same_channels = c.type == ImageType::any_data || (c.type == ImageType::rgb && c.channels == 3) ||
                             (c.type == ImageType::gray && c.channels == 1);
  if (!same_channels) {
    if (scratch.size() < count * sizeof(T)) scratch.resize(count * sizeof(T));
    auto* row = reinterpret_cast<T*>(scratch.data());
    convert_channels(c, in, width, row);
    in = row;
  }
  rescale(in, count, c.dtype, out);
}

}  // namespace

bool RowConversion::is_copy() const {
  if (dtype != (wide ? DType::uint16 : DType::uint8)) return false;
  return type == ImageType::any_data || (type == ImageType::rgb && channels == 3) ||
         (type == ImageType::gray && channels == 1);
}

void convert_row(const RowConversion& c, const void* in, int64_t width, void* out, std::vector<uint8_t>& scratch) {
  if (c.wide) return convert(c, static_cast<const uint16_t*>(in), width, out, scratch);
  convert(c, static_cast<const uint8_t*>(in), width, out, scratch);
}

void cmyk_to_rgb_row(const uint8_t* in, int64_t width, bool inverted, uint8_t* rgb) {
  const unsigned flip = inverted ? 0 : 255;
  for (int64_t i = 0; i < width; ++i, in += 4, rgb += 3)
    for (int k = 0; k < 3; ++k) rgb[k] = (in[k] ^ flip) * (in[3] ^ flip) / 255;
}

void reverse_row(uint8_t* row, int64_t width, int64_t pixel_bytes) {
  uint8_t pixel[64];
  for (uint8_t *a = row, *b = row + (width - 1) * pixel_bytes; a < b; a += pixel_bytes, b -= pixel_bytes) {
    std::memcpy(pixel, a, pixel_bytes);
    std::memcpy(a, b, pixel_bytes);
    std::memcpy(b, pixel, pixel_bytes);
  }
}

}  // namespace penstock
