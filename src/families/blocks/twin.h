// SPDX-License-Identifier: Apache-2.0
// What the kernels give, by plain loops over groups of 16 x 16 pixels and over elements.
#pragma once
#include <algorithm>

#include "families/blocks/kernels/jpeg.h"

namespace penstock::blocks {

inline void twin_block(int32_t* block, const uint8_t* steps, uint8_t* out, int64_t out_step) {
  for (int i = 0; i < 8; ++i) {
    const Eight r = forward(block + i * 8, 1, -2, 11);
    std::copy_n(r.v, 8, block + i * 8);
  }
  for (int i = 0; i < 8; ++i) {
    Eight r = forward(block + i, 8, 2, 15);
    for (int k = 0; k < 8; ++k) block[k * 8 + i] = quantized(r.v[k], steps[k * 8 + i]);
    r = inverse(block + i, 8, 11);
    for (int k = 0; k < 8; ++k) block[k * 8 + i] = r.v[k];
  }
  for (int i = 0; i < 8; ++i) {
    const Eight r = inverse(block + i * 8, 1, 18);
    for (int k = 0; k < 8; ++k) out[i * out_step + k] = byte_of(r.v[k] + 128);
  }
}

// One frame to its planes.
inline void twin_blocks(const uint8_t* in, const JpegRow& r, uint8_t* planes) {
  const int64_t width = r.columns * int64_t{16}, half = width / 2, last = (r.height + 1) / 2 - 1;
  const auto pixel = [&](int64_t y, int64_t x) {
    return in + (std::min<int64_t>(y, r.height - 1) * r.width + std::min<int64_t>(x, r.width - 1)) * 3;
  };
  int32_t block[64];
  for (int64_t y = 0; y < r.rows * 16; y += 8)
    for (int64_t x = 0; x < width; x += 8) {
      for (int i = 0; i < 64; ++i) {
        const uint8_t* p = pixel(y + i / 8, x + i % 8);
        block[i] = luma_of(p[0], p[1], p[2]);
      }
      twin_block(block, r.steps, planes + y * width + x, width);
    }
  for (int c = 0; c < 2; ++c)
    for (int64_t y = 0; y < r.rows * 8; y += 8)
      for (int64_t x = 0; x < half; x += 8) {
        for (int i = 0; i < 64; ++i) {
          int32_t sum = 0;
          for (int k = 0; k < 4; ++k) {
            const uint8_t* p = pixel(2 * std::min(y + i / 8, last) + k / 2, 2 * (x + i % 8) + k % 2);
            sum += c == 0 ? blue_of(p[0], p[1], p[2]) : red_of(p[0], p[1], p[2]);
          }
          block[i] = chroma_of(sum, i % 8);
        }
        twin_block(block, r.steps + 64, planes + (4 + c) * r.rows * 8 * half + y * half + x, half);
      }
}

// A frame's planes to its pixels.
inline void twin_colors(const uint8_t* planes, const JpegRow& r, uint8_t* out) {
  const int64_t half = r.columns * int64_t{8}, plane = half * r.rows * 8;
  const int64_t n = (r.width + 1) / 2, rows = (r.height + 1) / 2;
  const auto chroma = [&](const uint8_t* from, int64_t y, int64_t x) -> int32_t {
    const uint8_t* const near = from + y / 2 * half;
    if (n <= 2) return near[x / 2];
    const uint8_t* const far = from + std::clamp<int64_t>(y % 2 ? y / 2 + 1 : y / 2 - 1, 0, rows - 1) * half;
    const auto sum = [&](int64_t c) {
      const int64_t at = std::clamp<int64_t>(c, 0, n - 1);
      return 3 * near[at] + far[at];
    };
    return x % 2 ? odd_column(sum(x / 2), sum(x / 2 + 1)) : even_column(sum(x / 2), sum(x / 2 - 1));
  };
  for (int64_t y = 0; y < r.height; ++y)
    for (int64_t x = 0; x < r.width; ++x) {
      const int32_t v = planes[y * 2 * half + x];
      const int32_t b = chroma(planes + 4 * plane, y, x) - 128, d = chroma(planes + 5 * plane, y, x) - 128;
      uint8_t* const to = out + (y * r.width + x) * 3;
      to[0] = byte_of(v + to_red(d)), to[1] = byte_of(v + to_green(b, d)), to[2] = byte_of(v + to_blue(b));
    }
}

}  // namespace penstock::blocks
