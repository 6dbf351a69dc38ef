// SPDX-License-Identifier: Apache-2.0
// Pixels in packed formats and as luma and chroma, to each other, on a GPU; and what one pixel is, for both devices. A
// thread makes some pixels of a row.
#pragma once
#include <cstdint>

#include "launch/entry.h"
#include "pixel/frame_colors.h"

namespace penstock::frame {

using namespace whole;

// An image: red, green, blue and alpha, or luma and the chromas of blue and red. Sample (y, x) of plane p is element
// y * pitch[p] + x * step[p]; a sample of chroma is for 2^half_x x 2^half_y pixels.
struct Side {
  const void* plane[4];
  int64_t pitch[4];
  int32_t step[4];
  int32_t half_x, half_y, kind, channels;
};

struct FrameRow {
  Side in, out;
  int64_t height, width;
  Matrix matrix;
  int32_t first_of_two;  // chroma of a pair is that of its first pixel, else of the mean
  int32_t unused = 0;
};
static_assert(sizeof(Side) == 96 && sizeof(FrameRow) % 8 == 0);

constexpr int kPixels = 8;  // of a row, for a thread: a multiple of what shares chroma
inline int64_t frame_units(const FrameRow& r) { return r.height * ((r.width + kPixels - 1) / kPixels); }

PENSTOCK_HD inline int32_t luma_of(const Matrix& m, const Pixel<uint8_t>& p) {
  return saturated((p.red * m.y[0] + p.green * m.y[1] + p.blue * m.y[2] + m.y_offset) >> m.bits);
}
// Of a pixel, or with `shift` 1 of the sum of two.
PENSTOCK_HD inline int32_t chroma_of(const int32_t (&weights)[3], const Matrix& m, const Pixel<uint8_t>& p, int shift) {
  return saturated((p.red * weights[0] + p.green * weights[1] + p.blue * weights[2] + (m.c_offset << shift)) >>
                   (m.bits + shift));
}

template <class T> PENSTOCK_HD inline T& sample(const Side& s, int p, int64_t y, int64_t x) {
  return static_cast<T*>(const_cast<void*>(s.plane[p]))[y * s.pitch[p] + x * s.step[p]];
}

template <class T, int kind> PENSTOCK_HD inline Pixel<T> load_pixel(const FrameRow& r, int64_t y, int64_t x) {
  const Side& s = r.in;
  const auto at = [&](int p) { return static_cast<Number<T>>(sample<const T>(s, p, y, x)); };
  if constexpr (kind == colors) {
    return {at(0), at(1), at(2), s.channels == 4 ? at(3) : NumberOf<T>::kFull};
  } else if constexpr (kind == gray) {
    return {at(0), at(0), at(0), NumberOf<T>::kFull};
  } else if constexpr (kind == chroma) {
    const int64_t cy = y >> s.half_y, cx = x >> s.half_x;
    return of_chroma(r.matrix, at(0), sample<const T>(s, 1, cy, cx), sample<const T>(s, 2, cy, cx));
  } else {
    const int32_t bits = at(0) | at(1) << 8;
    return kind == bits565 ? of_bits565(bits) : of_bits555(bits);
  }
}

// Pixels [x, x + n) of a row. n is at most kPixels, and x a multiple of it.
template <class T, int kind>
PENSTOCK_HD inline void store_pixels(const FrameRow& r, int64_t y, int64_t x, int n,
                                     const Pixel<T> (&pixels)[kPixels]) {
  const Side& s = r.out;
  for (int i = 0; i < n; ++i) {
    const Pixel<T>& p = pixels[i];
    const auto put = [&](int plane, Number<T> v) { sample<T>(s, plane, y, x + i) = static_cast<T>(v); };
    if constexpr (kind == colors) {
      put(0, p.red), put(1, p.green), put(2, p.blue);
      if (s.channels == 4) put(3, p.alpha);
    } else if constexpr (kind == gray) {
      put(0, gray_of(p.red, p.green, p.blue));
    } else if constexpr (kind == chroma) {
      put(0, luma_of(r.matrix, p));
      const int64_t own = (int64_t{1} << s.half_x) - 1;
      if (((x + i) & own) != 0 || (y & ((int64_t{1} << s.half_y) - 1)) != 0) continue;
      const bool mean = own != 0 && !r.first_of_two && i + 1 < n;
      const Pixel<T>& q = pixels[mean ? i + 1 : i];
      const Pixel<T> both = mean ? Pixel<T>{p.red + q.red, p.green + q.green, p.blue + q.blue, 0} : p;
      const int64_t cy = y >> s.half_y, cx = (x + i) >> s.half_x;
      sample<T>(s, 1, cy, cx) = static_cast<T>(chroma_of(r.matrix.u, r.matrix, both, mean));
      sample<T>(s, 2, cy, cx) = static_cast<T>(chroma_of(r.matrix.v, r.matrix, both, mean));
    } else {
      const int32_t bits = kind == bits565 ? p.blue >> 3 | (p.green & 0xFC) << 3 | (p.red & 0xF8) << 8
                                           : p.blue >> 3 | (p.green & 0xF8) << 2 | (p.red & 0xF8) << 7 |
                                                 (r.in.channels == 4 && p.alpha != 0 ? 0x8000 : 0);
      put(0, bits & 255), put(1, bits >> 8);
    }
  }
}

// Colors of bytes side by side, at an address that is a multiple of four: words.
template <int channels> PENSTOCK_KERNEL void store_words(uint32_t* to, const Side& s,
                                                         const Pixel<uint8_t> (&p)[kPixels]) {
  const bool turned = s.step[0] != 0 && static_cast<const char*>(s.plane[0]) > static_cast<const char*>(s.plane[2]);
  uint32_t words[kPixels * channels / 4] = {};
  PENSTOCK_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const uint32_t first = static_cast<uint32_t>(turned ? p[i].blue : p[i].red),
                   last = static_cast<uint32_t>(turned ? p[i].red : p[i].blue);
    const uint32_t own[4] = {first, static_cast<uint32_t>(p[i].green), last, static_cast<uint32_t>(p[i].alpha)};
    PENSTOCK_UNROLL
    for (int c = 0; c < channels; ++c) words[(i * channels + c) / 4] |= own[c] << ((i * channels + c) % 4 * 8);
  }
  PENSTOCK_UNROLL
  for (int k = 0; k < kPixels * channels / 4; ++k) to[k] = words[k];
}

template <class T, int from, int to> PENSTOCK_KERNEL void frame(const Entry<FrameRow>& e) {
  const FrameRow& r = e.row;
  const int64_t across = (r.width + kPixels - 1) / kPixels;
  for (int64_t unit = e.begin + thread(); unit < e.end; unit += threads()) {
    const int64_t y =
        unit >> 32 || across >> 32 ? unit / across : static_cast<uint32_t>(unit) / static_cast<uint32_t>(across);
    const int64_t x = (unit - y * across) * kPixels;
    const int n = static_cast<int>(r.width - x < kPixels ? r.width - x : kPixels);
    if constexpr (from == chroma && to == gray) {
      for (int i = 0; i < n; ++i) sample<T>(r.out, 0, y, x + i) = sample<const T>(r.in, 0, y, x + i);
      continue;
    }
    Pixel<T> pixels[kPixels];
    PENSTOCK_UNROLL
    for (int i = 0; i < kPixels; ++i) pixels[i] = load_pixel<T, from>(r, y, i < n ? x + i : x + n - 1);
    if constexpr (to == colors && sizeof(T) == 1) {
      const int first = static_cast<const char*>(r.out.plane[0]) > static_cast<const char*>(r.out.plane[2]) ? 2 : 0;
      T* const row = &sample<T>(r.out, first, y, x);
      if (n == kPixels && r.out.step[0] == r.out.channels && (reinterpret_cast<uint64_t>(row) & 3) == 0) {
        if (r.out.channels == 4) store_words<4>(reinterpret_cast<uint32_t*>(row), r.out, pixels);
        else store_words<3>(reinterpret_cast<uint32_t*>(row), r.out, pixels);
        continue;
      }
    }
    store_pixels<T, to>(r, y, x, n, pixels);
  }
}

}  // namespace penstock::frame
