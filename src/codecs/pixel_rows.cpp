// SPDX-License-Identifier: Apache-2.0
#include "codecs/pixel_rows.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

namespace penstock {

namespace {

template <class T>
T gray_of(T r, T g, T b) {
  const float v = 0.299f * r + 0.587f * g + 0.114f * b;
  if constexpr (std::is_integral_v<T>) return static_cast<T>(std::lrintf(v));  // half to even
  else return v;
}

template <class T> constexpr double top_of = 1;
template <std::integral T> constexpr double top_of<T> = std::numeric_limits<T>::max();

// Converts an integer to the range of another type.
template <class T, class Out>
Out rescaled_integer(T v) {
  constexpr uint32_t from = std::numeric_limits<T>::max();
  if constexpr (std::is_same_v<Out, T>) {
    return v;
  } else if constexpr (std::is_same_v<Out, double>) {
    return v / top_of<T>;
  } else if constexpr (!std::is_integral_v<Out>) {
    return static_cast<Out>(v * (1.0f / from));
  } else if constexpr (sizeof(Out) <= 2) {  // never a tie, because `from` is odd
    return static_cast<Out>((v * static_cast<uint32_t>(top_of<Out>) + from / 2) / from);
  } else {
    constexpr float to = static_cast<float>(top_of<Out>);
    return static_cast<Out>(std::min(static_cast<double>(v * (1.0f / from) * to) + 0.5, top_of<Out>));
  }
}

// Converts a sample to the range of another type.
template <class T, class Out>
Out rescaled(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (!std::is_integral_v<Out>) return static_cast<Out>(v);
    else return static_cast<Out>(std::nearbyint(v > 0 ? std::min<double>(v, 1) * top_of<Out> : 0.0));
  } else {
    return rescaled_integer<T, Out>(v);
  }
}

// ITU-R BT.601: 219 steps of luma, 224 of chroma, on a scale of 255; the offsets are 1/16 and 1/2 of the type's range.
template <class T, class Out>
void ycbcr_row(const RowConversion& c, const T* in, int64_t width, Out* out) {
  using F = std::conditional_t<std::is_same_v<Out, double>, double, float>;
  constexpr F scale = static_cast<F>(top_of<Out> / top_of<T>);
  constexpr F low = static_cast<F>(std::is_integral_v<Out> ? (top_of<Out> + 1) / 16 : 1 / 16.0), half = 8 * low;
  constexpr F m[3][3] = {{F(0.25678823529) * scale, F(0.50412941176) * scale, F(0.09790588235) * scale},
                         {F(-0.14822289945) * scale, F(-0.29099278682) * scale, F(0.43921568627) * scale},
                         {F(0.43921568627) * scale, F(-0.36778831435) * scale, F(-0.07142737192) * scale}};
  const int g = c.channels >= 3 ? 1 : 0, b = 2 * g;
  for (int64_t i = 0; i < width; ++i, in += c.channels, out += 3)
    for (int k = 0; k < 3; ++k) {
      const F v = m[k][0] * in[0] + m[k][1] * in[g] + m[k][2] * in[b] + (k ? half : low);
      if constexpr (!std::is_integral_v<Out>) out[k] = static_cast<Out>(v);
      else if constexpr (std::is_integral_v<T>)
        out[k] = static_cast<Out>(static_cast<double>(v) + 0.5);  // never negative
      else out[k] = rescaled<float, Out>(static_cast<float>(v / static_cast<F>(top_of<Out>)));
    }
}

template <class T>
void convert_channels(const RowConversion& c, const T* in, int64_t width, T* out) {
  const int n = c.channels;
  const bool color = n >= 3;
  switch (c.type) {
    case ImageType::any_data: std::memcpy(out, in, sizeof(T) * n * width); return;
    case ImageType::gray:
      for (int64_t i = 0; i < width; ++i, in += n) out[i] = color ? gray_of(in[0], in[1], in[2]) : in[0];
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
    case ImageType::ycbcr: return;  // ycbcr_row()
  }
}

template <class T, class Out>
void convert(const RowConversion& c, const T* in, int64_t width, Out* out, std::vector<uint8_t>& scratch) {
  if (c.type == ImageType::ycbcr) return ycbcr_row(c, in, width, out);
  if constexpr (std::is_same_v<T, Out>) return convert_channels(c, in, width, out);
  const int64_t count = width * c.output_channels();
  const bool same_channels = c.type == ImageType::any_data || (c.type == ImageType::rgb && c.channels == 3) ||
                             (c.type == ImageType::gray && c.channels == 1);
  if (!same_channels) {
    if (scratch.size() < count * sizeof(T)) scratch.resize(count * sizeof(T));
    auto* row = reinterpret_cast<T*>(scratch.data());
    convert_channels(c, in, width, row);
    in = row;
  }
  for (int64_t i = 0; i < count; ++i) out[i] = rescaled<T, Out>(in[i]);
}

template <class T>
void convert_from(const RowConversion& c, const T* in, int64_t width, void* out, std::vector<uint8_t>& scratch) {
  const auto to = [&]<class Out>(Out) { convert(c, in, width, static_cast<Out*>(out), scratch); };
  switch (c.dtype) {
    case DType::uint8: return to(uint8_t{});
    case DType::int8: return to(int8_t{});
    case DType::uint16: return to(uint16_t{});
    case DType::int16: return to(int16_t{});
    case DType::uint32: return to(uint32_t{});
    case DType::int32: return to(int32_t{});
    case DType::float16: return to(Half{});
    case DType::float64: return to(double{});
    default: return to(float{});
  }
}

}  // namespace

bool RowConversion::is_copy() const {
  if (dtype != stored) return false;
  return type == ImageType::any_data || (type == ImageType::rgb && channels == 3) ||
         (type == ImageType::gray && channels == 1);
}

void convert_row(const RowConversion& c, const void* in, int64_t width, void* out, std::vector<uint8_t>& scratch) {
  if (c.stored == DType::uint16) return convert_from(c, static_cast<const uint16_t*>(in), width, out, scratch);
  if (c.stored == DType::float32) return convert_from(c, static_cast<const float*>(in), width, out, scratch);
  convert_from(c, static_cast<const uint8_t*>(in), width, out, scratch);
}

void cmyk_to_rgb_row(const uint8_t* in, int64_t width, bool inverted, uint8_t* rgb) {
  const unsigned flip = inverted ? 0 : 255;
  for (int64_t i = 0; i < width; ++i, in += 4, rgb += 3)
    for (int k = 0; k < 3; ++k) rgb[k] = (in[k] ^ flip) * (in[3] ^ flip) / 255;
}

void reverse_row(uint8_t* row, int64_t width, int64_t pixel_bytes) {
  for (uint8_t *a = row, *b = row + (width - 1) * pixel_bytes; a < b; a += pixel_bytes, b -= pixel_bytes)
    std::swap_ranges(a, a + pixel_bytes, b);
}

}  // namespace penstock
