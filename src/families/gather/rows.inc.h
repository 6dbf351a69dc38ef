// SPDX-License-Identifier: Apache-2.0
// The samplers of rows, included once per target by rows.cpp.

// Where the neighbors of an output are all inside, and its pixel's neighbors may be read in one piece.
struct Inside {
  int32_t low, last_x, last_y;  // of the lower neighbor
  // `reads`: bytes that are read from the first neighbor of a row on.
  Inside(const Image& s, int64_t pixel, int64_t reads) {
    const int before = s.source.filter == kCubic, taps = taps_of(s.source.filter);
    low = before;
    last_y = s.source.height - taps + before;
    const int64_t row = s.source.width * pixel;
    last_x = row < reads ? -2 : static_cast<int32_t>((row - reads) / pixel) + before;
  }
  bool holds(int32_t x, int32_t y) const { return x >= low && x <= last_x && y >= low && y <= last_y; }
};

// ---- Any type and any number of channels.

// Output i of a block.
template <class T, class V> void sample_pixel(const Image& s, const Positions<V>& p, int i, T* out) {
  const T* in = static_cast<const T*>(s.data);
  const Neighbor<V> y{p.at[1][i], p.weight[1][i]}, x{p.at[0][i], p.weight[0][i]};
  for (int32_t c = 0; c < s.source.channels; ++c) out[c] = sampled<T, V>(in, s.source, y, x, c);
}
template <class T, class V> void any_row(const Image& s, const Positions<V>& p, int n, void* out) {
  const int64_t channels = s.source.channels, row = s.source.width * channels;
  const Inside inside(s, channels, taps_of(s.source.filter) * channels);
  T* to = static_cast<T*>(out);
  for (int i = 0; i < n; ++i, to += channels) {
    const int32_t x = p.at[0][i], y = p.at[1][i];
    if (!inside.holds(x, y)) {
      sample_pixel(s, p, i, to);
      continue;
    }
    const V wx = p.weight[0][i], wy = p.weight[1][i];
    const T* in = static_cast<const T*>(s.data) + (y - inside.low) * row + (x - inside.low) * channels;
    if (s.source.filter == kLinear) {
      for (int64_t c = 0; c < channels; ++c) {
        const auto at = [&](int64_t k) { return to_lane<T, V>(in[c + k]); };
        const V top = blended(at(0), at(channels), wx), bottom = blended(at(row), at(row + channels), wx);
        to[c] = from_lane<V, T>(blended(top, bottom, wy));
      }
      continue;
    }
    const CubicWeights<V> x4 = cubic_weights(wx), y4 = cubic_weights(wy);
    for (int64_t c = 0; c < channels; ++c) {
      V rows[4];
      for (int j = 0; j < 4; ++j) {
        V v[4];
        for (int k = 0; k < 4; ++k) v[k] = to_lane<T, V>(in[c + j * row + k * channels]);
        rows[j] = weighted(v, x4);
      }
      to[c] = from_lane<V, T>(weighted(rows, y4));
    }
  }
}

// ---- The nearest pixel: copies of its bytes, whatever they mean.

#include "operator/nearest_pixels.inc.h"

// The same where some are outside, and become the constant of the border.
template <int kBytes>
__attribute__((noinline)) void nearest_beside(const Image& s, const int32_t* at_x, const int32_t* at_y, int n,
                                              int32_t downward, char* to) {
  constexpr int kWide = kBytes % 3 ? kBytes : kBytes / 3 * 4;  // as copy_nearest writes
  const int32_t width = s.source.width, height = s.source.height, stride = width * kBytes;
  int32_t within[kNearestGroup], offset[kNearestGroup], any = 0, last_row = 0;
  for (int i = 0; i < n; ++i) {
    const int32_t x = at_x[i], y = at_y[i];
    within[i] = -static_cast<int32_t>((x >= 0) & (x < width) & (y >= 0) & (y < height));
    offset[i] = (y & within[i]) * stride + (x & within[i]) * kBytes;  // others may be so far that a product overflows
    any |= within[i], last_row |= height - 2 - (y & within[i]);
  }
  char fill[kWide] = {};
  std::memcpy(fill, s.fill, kBytes);
  if (any) {
    const char* const in = static_cast<const char*>(s.data);
    request_rows_ahead<pixels_of_request(kBytes)>(in, int64_t{stride} * downward, offset, n);
    copy_nearest<kBytes>(in, offset, last_row >= 0, n, to);
    for (int i = 0; i < n; ++i)
      if (!within[i]) std::memcpy(to + i * kBytes, fill, kBytes);
  } else {
    for (int i = 0; i + 1 < n; ++i) std::memcpy(to + i * kBytes, fill, kWide);
    std::memcpy(to + (n - 1) * kBytes, fill, kBytes);
  }
}
// Outputs [first, first + n) of a block.
template <int kBytes>
inline void nearest_group(const Image& s, const Positions<float>& p, int first, int n, char* to) {
  const int64_t bytes = kBytes ? kBytes : s.pixel, row = s.source.width * bytes;
  const int32_t *at_x = p.at[0] + first, *at_y = p.at[1] + first;
  const int32_t width = s.source.width, height = s.source.height;
  int32_t outside = 0, last_row = 0;
  for (int i = 0; i < n; ++i) {
    const int32_t x = at_x[i], y = at_y[i];
    outside |= x | y | (width - 1 - x) | (height - 1 - y);  // negative
    last_row |= height - 2 - y;
  }
  const char* in = static_cast<const char*>(s.data);
  if (outside >= 0 && s.small && kBytes != 0) {
    const auto stride = static_cast<int32_t>(row);
    alignas(64) int32_t offset[kNearestGroup];
    for (int i = 0; i < n; ++i) offset[i] = at_y[i] * stride + at_x[i] * kBytes;
    request_rows_ahead<pixels_of_request(kBytes)>(in, row * p.downward, offset, n);
    return copy_nearest<kBytes>(in, offset, last_row >= 0, n, to);
  }
  if constexpr (kBytes != 0)
    if (s.small && s.source.border == kConstant) return nearest_beside<kBytes>(s, at_x, at_y, n, p.downward, to);
  for (int i = 0; i < n; ++i, to += bytes) {
    const int32_t x = bordered(at_x[i], width, s.source.border), y = bordered(at_y[i], height, s.source.border);
    const char* from = x < 0 || y < 0 ? s.fill : in + y * row + x * bytes;
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}
// The pixels of outputs from `first` on that are known.
inline void read_pixels(const PixelPlanes& from, size_t first, int n, Positions<float>& to) {
  for (int a = 0; a < 2; ++a) {
    const int16_t* const known = from.axis[a].data() + first;
    int32_t* const at = to.at[a];
    for (int i = 0; i < n; ++i) at[i] = known[i];
  }
}
template <int kBytes> void nearest_row(const Image& s, const Positions<float>& p, int n, void* out) {
  char* to = static_cast<char*>(out);
  int i = 0;
  for (; i + kNearestGroup <= n; i += kNearestGroup, to += kNearestGroup * s.pixel)
    nearest_group<kBytes>(s, p, i, kNearestGroup, to);
  if (i < n) nearest_group<kBytes>(s, p, i, n - i, to);
}

#if PENSTOCK_TARGET_FLOATS
#include "families/gather/vectors.inc.h"

#include "families/gather/bytes.inc.h"
#include "families/gather/floats.inc.h"
#include "families/gather/doubles.inc.h"
#undef PENSTOCK_ALWAYS
#endif

inline RowFn linear_or_cubic(DType dtype, const Image& s) {
  [[maybe_unused]] const bool cubic = s.source.filter == kCubic;
#if PENSTOCK_TARGET_FLOATS
  const int32_t channels = s.small ? s.source.channels : 0;
  if (dtype == DType::uint8) {
    if (channels == 1) return cubic ? bytes_row<1, kCubic> : bytes_row<1, kLinear>;
    if (channels == 3) return cubic ? bytes_row<3, kCubic> : bytes_row<3, kLinear>;
    if (channels == 4) return cubic ? bytes_row<4, kCubic> : bytes_row<4, kLinear>;
  } else if (dtype == DType::float32) {
    if (channels == 1) return cubic ? plane_row<kCubic> : plane_row<kLinear>;
    if (channels == 3) return cubic ? pixels_row<3, kCubic> : pixels_row<3, kLinear>;
    if (channels == 4) return cubic ? pixels_row<4, kCubic> : pixels_row<4, kLinear>;
  }
#endif
  switch (dtype) {
    case DType::bool_: return any_row<bool, float>;
    case DType::uint8: return any_row<uint8_t, float>;
    case DType::int8: return any_row<int8_t, float>;
    case DType::float16: return any_row<Half, float>;
    default: return any_row<float, float>;
  }
}
#if PENSTOCK_TARGET_FLOATS
template <class T, int C> WideRowFn wide_row_by(Filter filter) {
  return filter == kCubic ? wide_row<T, C, kCubic> : wide_row<T, C, kLinear>;
}
#endif
// Sums in float64; null: the type has sums in float32.
template <class T> WideRowFn short_row([[maybe_unused]] const Image& s) {
#if PENSTOCK_TARGET_FLOATS
  if (s.small && s.source.channels == 1) return wide_row_by<T, 1>(s.source.filter);
  if (s.small && s.source.channels == 3) return wide_row_by<T, 3>(s.source.filter);
  if (s.small && s.source.channels == 4) return wide_row_by<T, 4>(s.source.filter);
#endif
  return any_row<T, double>;
}
inline WideRowFn wide_row_of(DType dtype, const Image& s) {
  switch (dtype) {
    case DType::uint16: return short_row<uint16_t>(s);
    case DType::int16: return short_row<int16_t>(s);
    case DType::uint32: return any_row<uint32_t, double>;
    case DType::int32: return any_row<int32_t, double>;
    case DType::uint64: return any_row<uint64_t, double>;
    case DType::int64: return any_row<int64_t, double>;
    case DType::float64: return any_row<double, double>;
    default: return nullptr;
  }
}
inline RowFn row_of(DType dtype, const Image& s) {
  if (s.source.filter != kNearest) return linear_or_cubic(dtype, s);
  switch (s.pixel) {
    case 1: return nearest_row<1>;
    case 2: return nearest_row<2>;
    case 3: return nearest_row<3>;
    case 4: return nearest_row<4>;
    case 6: return nearest_row<6>;
    case 8: return nearest_row<8>;
    case 12: return nearest_row<12>;
    case 16: return nearest_row<16>;
    default: return nearest_row<0>;
  }
}
