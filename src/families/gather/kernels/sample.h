// SPDX-License-Identifier: Apache-2.0
// The family's kernel: neighboring threads make neighboring columns of a few pixels, with all channels. It gives what
// the twin gives.
#pragma once
#include "families/gather/kernels/twin.h"
#include "launch/entry.h"

namespace penstock::gather {

// `images` of the output follow each other, and those of the source.
template <class Coef> struct Row {
  const void* in;
  void* out;
  Source source;
  int32_t height, width;  // of the output
  Coef coef;
};
static_assert(sizeof(Row<int64_t>) == 56);

// Pixels of a column that a thread has in flight: as many as registers hold.
constexpr int rows_together(int bytes_of_element, int channels, int filter) {
  return channels == 0 || filter == kCubic ? 1 : bytes_of_element == 1 ? 4 : 2;
}
// Columns of pixels by the lane that makes them: a warp makes 32 neighbors of one image.
struct Columns {
  int32_t across, down;

  PENSTOCK_HD Columns(int32_t height, int32_t width, int rows)
      : across((width + 31) / 32 * 32), down((height + rows - 1) / rows) {}
};
constexpr int64_t units_of(int32_t images, const Columns& c) { return int64_t{images} * c.across * c.down; }
struct Place {
  int32_t image, down, x;
};
PENSTOCK_KERNEL Place place_of(int64_t i, const Columns& c) {
  const int64_t line = i >> 32 ? i / c.across : static_cast<uint32_t>(i) / static_cast<uint32_t>(c.across);
  const int64_t image = line >> 32 ? line / c.down : static_cast<uint32_t>(line) / static_cast<uint32_t>(c.down);
  return {static_cast<int32_t>(image), static_cast<int32_t>(line - image * c.down),
          static_cast<int32_t>(i - line * c.across)};
}
// The place `by` columns after another one.
PENSTOCK_KERNEL Place after(Place p, int32_t by, const Columns& c) {
  p.x += by;
  while (p.x >= c.across) {
    p.x -= c.across;
    if (++p.down == c.down) p.down = 0, ++p.image;
  }
  return p;
}

// ---- Neighbors that are all inside.

// The lower word of two, moved down by 0 to 24 bits.
PENSTOCK_KERNEL uint32_t shifted(uint32_t low, uint32_t high, int by) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, by);
#else
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> by);
#endif
}
// n bytes from any address, by the aligned words that hold one of them.
template <int n> struct Bytes {
  static constexpr int kWords = (n + 3) / 4;
  uint32_t word[kWords];

  PENSTOCK_HD void read(const uint8_t* p) {
    const auto low = static_cast<int>(reinterpret_cast<uint64_t>(p) & 3);
    const auto* from = reinterpret_cast<const uint32_t*>(p - low);
    uint32_t all[kWords + 1];
    PENSTOCK_UNROLL
    for (int k = 0; k < kWords; ++k) all[k] = from[k];
    all[kWords] = from[(low + n - 1) / 4];  // the last word that holds one, which may be the one before
    PENSTOCK_UNROLL
    for (int k = 0; k < kWords; ++k) word[k] = shifted(all[k], all[k + 1], 8 * low);
  }
  // A byte plus kRaw: a difference of two is exact.
  static constexpr float kRaw = 8388608.0f;
  PENSTOCK_HD float raw(int i) const {
#ifdef __CUDA_ARCH__
    return __uint_as_float(__byte_perm(word[i / 4], 0x4B000000u, 0x7440 | (i % 4)));
#else
    return std::bit_cast<float>((word[i / 4] >> (8 * (i % 4)) & 255) | 0x4B000000u);
#endif
  }
  PENSTOCK_HD uint8_t operator[](int i) const { return static_cast<uint8_t>(word[i / 4] >> (8 * (i % 4))); }
};
// A number between two bytes, rounded half to even.
PENSTOCK_KERNEL uint8_t byte_of(float v) { return static_cast<uint8_t>(std::bit_cast<uint32_t>(v + 8388608.0f)); }
// n contiguous elements.
template <class T, int n> struct Line {
  T of[n];

  PENSTOCK_HD void read(const T* p) {
    PENSTOCK_UNROLL
    for (int i = 0; i < n; ++i) of[i] = p[i];
  }
  PENSTOCK_HD T operator[](int i) const { return of[i]; }
};
template <int n> struct Line<uint8_t, n> : Bytes<n> {};

// neighbor() without conversions, which are slow: for positions that is_near() holds for.
PENSTOCK_KERNEL bool is_near(float v) { return abs(v) < 4194304.0f; }
PENSTOCK_KERNEL Neighbor<float> near_neighbor(float v, float rest) {
  constexpr float kWhole = 12582912.0f;  // numbers beside it are whole, and their last bits count
  const float moved = v + kWhole, round = moved - kWhole, low = round > v ? round - 1.0f : round;
  const float part = (v - low) + rest, carry = part < 0.0f ? -1.0f : part >= 1.0f ? 1.0f : 0.0f;
  return {std::bit_cast<int32_t>(low + carry + kWhole) - 0x4B400000, part - carry};
}
PENSTOCK_KERNEL bool is_near(double) { return true; }
PENSTOCK_KERNEL Neighbor<double> near_neighbor(double v, double rest) { return neighbor(v, rest); }

template <int filter> constexpr int kTaps = filter == kCubic ? 4 : filter == kLinear ? 2 : 1;
// The pixels around a position, on both axes `kTaps` of them.
template <class T, int channels, int filter, class V> struct Cell {
  static constexpr int taps = kTaps<filter>, kPixelBytes = channels * static_cast<int>(sizeof(T));
  static constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  int32_t y, x;  // the first one
  V wy, wx;
  Line<T, taps * channels> lines[taps];

  // Whether all of them are inside. Without branches, so that the positions of several pixels are read at once.
  PENSTOCK_HD bool place(const Position<V>& p, uint32_t end_y, uint32_t end_x) {
    const Neighbor<V> at_y = near_neighbor(p.y, p.rest_y), at_x = near_neighbor(p.x, p.rest_x);
    if constexpr (filter == kNearest) y = nearest(at_y), x = nearest(at_x);
    else y = at_y.at - (filter == kCubic), x = at_x.at - (filter == kCubic), wy = at_y.weight, wx = at_x.weight;
    return is_near(p.y) & is_near(p.x) & (static_cast<uint32_t>(y) < end_y) & (static_cast<uint32_t>(x) < end_x);
  }
  PENSTOCK_HD void read(const T* image, int32_t stride) {
    const char* at = reinterpret_cast<const char*>(image) + int64_t{y} * stride + int64_t{x} * kPixelBytes;
    PENSTOCK_UNROLL
    for (int r = 0; r < taps; ++r, at += stride) lines[r].read(reinterpret_cast<const T*>(at));
  }
  PENSTOCK_HD V number(int line, int i) const {
    if constexpr (kBytes) return lines[line].raw(i) - lines[line].kRaw;
    else return to_lane<T, V>(lines[line][i]);
  }
  PENSTOCK_HD V blended_across(int line, int c) const {
    if constexpr (kBytes) {
      const float raw = lines[line].raw(c);
      return fma(lines[line].raw(c + channels) - raw, wx, raw - lines[line].kRaw);
    } else {
      return blended(number(line, c), number(line, c + channels), wx);
    }
  }
  PENSTOCK_HD void write(T* to) const {
    if constexpr (filter == kNearest) {
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) to[c] = lines[0][c];
    } else if constexpr (filter == kLinear) {
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) {
        const V top = blended_across(0, c), bottom = blended_across(1, c);
        if constexpr (kBytes) to[c] = byte_of(blended(top, bottom, wy));
        else to[c] = from_lane<V, T>(blended(top, bottom, wy));
      }
    } else {
      const CubicWeights<V> by_x = cubic_weights(wx), by_y = cubic_weights(wy);
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) {
        V rows[taps];
        PENSTOCK_UNROLL
        for (int r = 0; r < taps; ++r) {
          V v[taps];
          PENSTOCK_UNROLL
          for (int i = 0; i < taps; ++i) v[i] = number(r, c + i * channels);
          rows[r] = weighted(v, by_x);
        }
        to[c] = from_lane<V, T>(weighted(rows, by_y));
      }
    }
  }
};

// ---- Any pixel.

// One whose neighbors may be outside; `channels` 0: as many as the source has.
template <class T, int channels, int filter, class V>
PENSTOCK_KERNEL __attribute__((noinline)) void sample_anywhere(const T* image, const Source& s, Neighbor<V> y,
                                                               Neighbor<V> x, T* to) {
  constexpr int taps = kTaps<filter>, before = filter == kCubic;
  const int32_t count = channels ? channels : s.channels;
  int32_t v[taps], u[taps];
  bool any_v = false, any_u = false;
  PENSTOCK_UNROLL
  for (int k = 0; k < taps; ++k) {
    v[k] = bordered(filter == kNearest ? nearest(y) : y.at - before + k, s.height, s.border);
    u[k] = bordered(filter == kNearest ? nearest(x) : x.at - before + k, s.width, s.border);
    any_v = any_v || v[k] >= 0, any_u = any_u || u[k] >= 0;
  }
  // A blend of equal numbers is that number, but for sums of cubic weights and for infinity.
  if (filter != kCubic && !(any_v && any_u) && s.fill - s.fill == 0) {
    for (int32_t c = 0; c < count; ++c) to[c] = from_lane<float, T>(s.fill);
    return;
  }
  for (int32_t c = 0; c < count; ++c) {
    const auto element = [&](int j, int i) { return image[(int64_t{v[j]} * s.width + u[i]) * count + c]; };
    if constexpr (filter == kNearest) {
      to[c] = v[0] < 0 || u[0] < 0 ? from_lane<float, T>(s.fill) : element(0, 0);
    } else {
      V rows[taps];
      PENSTOCK_UNROLL
      for (int j = 0; j < taps; ++j) {
        V of[taps];
        PENSTOCK_UNROLL
        for (int i = 0; i < taps; ++i)
          of[i] = v[j] < 0 || u[i] < 0 ? static_cast<V>(s.fill) : to_lane<T, V>(element(j, i));
        if constexpr (filter == kLinear) rows[j] = blended(of[0], of[1], x.weight);
        else rows[j] = weighted(of, cubic_weights(x.weight));
      }
      if constexpr (filter == kLinear) to[c] = from_lane<V, T>(blended(rows[0], rows[1], y.weight));
      else to[c] = from_lane<V, T>(weighted(rows, cubic_weights(y.weight)));
    }
  }
}

// Units of work are those of Columns.
template <class T, int channels, int filter, class Rule>
PENSTOCK_KERNEL void sample_pixels(const whole::Entry<Row<typename Rule::Coef>>& e) {
  using V = PositionNumber<T, filter>;
  constexpr int kRows = rows_together(sizeof(T), channels, filter);
  const Row<typename Rule::Coef> row = e.row;  // a copy: what a kernel writes might be its row
  const Source& source = row.source;
  const int32_t height = row.height, width = row.width;
  const int64_t pixel = channels ? channels : source.channels;
  const int64_t of_image = int64_t{source.height} * source.width * pixel;
  // Where cells that are inside end, on both axes. Lines of 2 GiB are left to sample_anywhere().
  const int64_t line = source.width * pixel * static_cast<int64_t>(sizeof(T));
  const auto end = [line](int32_t n) {
    return n < kTaps<filter> || line >> 31 ? 0 : static_cast<uint32_t>(n - kTaps<filter>) + 1;
  };
  const uint32_t end_y = end(source.height), end_x = end(source.width);
  const auto stride = static_cast<int32_t>(line);
  const Columns columns(height, width, kRows);
  const auto step = static_cast<int32_t>(whole::threads());
  Place p = place_of(e.begin + whole::thread(), columns);
  for (int64_t i = e.begin + whole::thread(); i < e.end; i += step, p = after(p, step, columns)) {
    if (p.x >= width) continue;
    const T* image = static_cast<const T*>(row.in) + p.image * of_image;
    const int32_t y0 = p.down * kRows;
    T* to = static_cast<T*>(row.out) + ((int64_t{p.image} * height + y0) * width + p.x) * pixel;
    if constexpr (channels != 0) {
      using C = Cell<T, channels, filter, V>;
      C cells[kRows];
      bool inside = y0 + kRows <= height;
      PENSTOCK_UNROLL
      for (int k = 0; k < kRows; ++k) {
        const int32_t y = y0 + k < height ? y0 + k : y0;
        inside = inside & cells[k].place(Rule::template at<V>(p.image, y, p.x, row.coef), end_y, end_x);
      }
      if (inside) {
        PENSTOCK_UNROLL
        for (int k = 0; k < kRows; ++k) cells[k].read(image, stride);
        PENSTOCK_UNROLL
        for (int k = 0; k < kRows; ++k) cells[k].write(to + k * width * pixel);
        continue;
      }
    }
    PENSTOCK_UNROLL_BY(1)
    for (int k = 0; k < kRows && y0 + k < height; ++k) {
      Neighbor<V> y, x;
      neighbors<Rule>(p.image, y0 + k, p.x, row.coef, y, x);
      sample_anywhere<T, channels, filter>(image, source, y, x, to + k * width * pixel);
    }
  }
}

}  // namespace penstock::gather
