// SPDX-License-Identifier: Apache-2.0
// The part of an image that JPEG preserves at a quality, without the bit stream: the samples that libjpeg-turbo would
// decode from its own encoding (integer transforms, chroma halved both ways). ITU-T T.81; transforms after C. Loeffler,
// A. Ligtenberg and G. Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications", 1989.
#pragma once
#include "operator/image_work.h"

namespace penstock {

// Group g is the g-th 16 x 16 pixels of a frame: four blocks of luma, one of each chroma.
struct JpegBlocksRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t height, width, columns, rows;  // of pixels, and of groups
        uint8_t* planes;                       // of each frame: luma, blue, red; padded to whole blocks
        uint8_t steps[128];                    // quantization: luma, chroma
      };
      struct Eight { int32_t v[8]; }; PENSTOCK_INLINE static int32_t descale(int32_t v, int bits) {
        return (v + (1 << (bits - 1))) >> bits;
      } struct Odd { int32_t a, b, c, d; };
      PENSTOCK_INLINE static Odd odd_part(int32_t a, int32_t b, int32_t c, int32_t d) {
        const int32_t z5 = (a + c + b + d) * 9633;
        const int32_t z1 = (a + d) * -7373;
        const int32_t z2 = (b + c) * -20995;
        const int32_t z3 = (a + c) * -16069 + z5;
        const int32_t z4 = (b + d) * -3196 + z5;
        return {a * 2446 + z1 + z3, b * 16819 + z2 + z4, c * 25172 + z2 + z3, d * 12299 + z1 + z4};
      }
      // `shift` of the even part's sums (to the left where negative), `bits` of the products.
      PENSTOCK_INLINE static Eight forward(const int32_t* in, int step, int shift, int bits) {
        int32_t s[4];
        int32_t d[4];
        for (int i = 0; i < 4; ++i) {
          s[i] = in[i * step] + in[(7 - i) * step];
          d[i] = in[i * step] - in[(7 - i) * step];
        }
        const int32_t t10 = s[0] + s[3];
        const int32_t t13 = s[0] - s[3];
        const int32_t t11 = s[1] + s[2];
        const int32_t t12 = s[1] - s[2];
        const int32_t z = (t12 + t13) * 4433;
        const Odd o = odd_part(d[3], d[2], d[1], d[0]);
        Eight r;
        r.v[0] = shift < 0 ? (t10 + t11) * (1 << -shift) : descale(t10 + t11, shift);
        r.v[4] = shift < 0 ? (t10 - t11) * (1 << -shift) : descale(t10 - t11, shift);
        r.v[2] = descale(z + t13 * 6270, bits);
        r.v[6] = descale(z - t12 * 15137, bits);
        r.v[7] = descale(o.a, bits);
        r.v[5] = descale(o.b, bits);
        r.v[3] = descale(o.c, bits);
        r.v[1] = descale(o.d, bits);
        return r;
      } PENSTOCK_INLINE static Eight inverse(const int32_t* in, int step, int bits) {
        const int32_t z = (in[2 * step] + in[6 * step]) * 4433;
        const int32_t t2 = z - in[6 * step] * 15137;
        const int32_t t3 = z + in[2 * step] * 6270;
        const int32_t t0 = (in[0] + in[4 * step]) * 8192;
        const int32_t t1 = (in[0] - in[4 * step]) * 8192;
        const Odd o = odd_part(in[7 * step], in[5 * step], in[3 * step], in[step]);
        Eight r;
        r.v[0] = descale(t0 + t3 + o.d, bits);
        r.v[7] = descale(t0 + t3 - o.d, bits);
        r.v[1] = descale(t1 + t2 + o.c, bits);
        r.v[6] = descale(t1 + t2 - o.c, bits);
        r.v[2] = descale(t1 - t2 + o.b, bits);
        r.v[5] = descale(t1 - t2 - o.b, bits);
        r.v[3] = descale(t0 - t3 + o.a, bits);
        r.v[4] = descale(t0 - t3 - o.a, bits);
        return r;
      }
      // Around 0.
      PENSTOCK_INLINE static int32_t luma_of(int32_t r, int32_t g, int32_t b) {
        return ((19595 * r + 38470 * g + 7471 * b + 32768) >> 16) - 128;
      } PENSTOCK_INLINE static int32_t blue_of(int32_t r, int32_t g, int32_t b) {
        return (-11059 * r - 21709 * g + 32768 * b + 8421375) >> 16;
      } PENSTOCK_INLINE static int32_t red_of(int32_t r, int32_t g, int32_t b) {
        return (32768 * r - 27439 * g - 5329 * b + 8421375) >> 16;
      }
      // The nearest multiple of the step; v has a factor of 8. The quotient is exact: both numbers are less than 2^23.
      PENSTOCK_INLINE static int32_t quantized(int32_t v, int32_t step) {
        const float a = static_cast<float>((v < 0 ? -v : v) + step * 4);
        const int32_t size = static_cast<int32_t>(a / static_cast<float>(step * 8)) * step;
        return v < 0 ? -size : size;
      } PENSTOCK_INLINE static uint8_t sample_of(int32_t v) {
        return static_cast<uint8_t>(clamp(v + 128, 0, 255));
      } template <class In>
      PENSTOCK_HD static void group(const In* in, int64_t g, const Coef& c, const GroupLanes& lanes, char* memory) {
        int32_t* blocks = reinterpret_cast<int32_t*>(memory);  // 6 of 64
        const int64_t frame = g / (c.columns * c.rows);
        const int64_t row = g / c.columns % c.rows;
        const int64_t column = g % c.columns;
        const In* from = in + frame * c.height * c.width * 3;
        const auto pixel = [&](int64_t y, int64_t x) {
          return from + ((y < c.height ? y : c.height - 1) * c.width + (x < c.width ? x : c.width - 1)) * 3;
        };
        for (int i = lanes.index; i < 256; i += lanes.count) {
          const int y = i / 16;
          const int x = i % 16;
          const In* p = pixel(row * 16 + y, column * 16 + x);
          blocks[(y / 8 * 2 + x / 8) * 64 + y % 8 * 8 + x % 8] = luma_of(p[0], p[1], p[2]);
        }
        const int64_t last = (c.height + 1) / 2 - 1;
        for (int i = lanes.index; i < 64; i += lanes.count) {
          const int64_t y = row * 8 + i / 8 < last ? row * 8 + i / 8 : last;
          int32_t blue = i % 2 + 1;  // rounds down and up alternately
          int32_t red = i % 2 + 1;
          for (int k = 0; k < 4; ++k) {
            const In* p = pixel(2 * y + k / 2, column * 16 + i % 8 * 2 + k % 2);
            blue += blue_of(p[0], p[1], p[2]);
            red += red_of(p[0], p[1], p[2]);
          }
          blocks[4 * 64 + i] = (blue >> 2) - 128;
          blocks[5 * 64 + i] = (red >> 2) - 128;
        }
        lanes.sync();
        for (int i = lanes.index; i < 48; i += lanes.count) {
          const Eight r = forward(blocks + i * 8, 1, -2, 11);
          for (int k = 0; k < 8; ++k) blocks[i * 8 + k] = r.v[k];
        }
        lanes.sync();
        for (int i = lanes.index; i < 48; i += lanes.count) {
          int32_t* at = blocks + i / 8 * 64 + i % 8;
          const uint8_t* steps = c.steps + (i < 32 ? 0 : 64) + i % 8;
          Eight r = forward(at, 8, 2, 15);
          for (int k = 0; k < 8; ++k) at[k * 8] = quantized(r.v[k], steps[k * 8]);
          r = inverse(at, 8, 11);
          for (int k = 0; k < 8; ++k) at[k * 8] = r.v[k];
        }
        lanes.sync();
        const int64_t width = c.columns * 8;  // of chroma
        uint8_t* luma = c.planes + frame * c.rows * 8 * width * 6;
        uint8_t* chroma = luma + c.rows * 16 * width * 2;
        for (int i = lanes.index; i < 48; i += lanes.count) {
          const int block = i / 8;
          const Eight r = inverse(blocks + i * 8, 1, 18);
          uint8_t* to = block < 4 ? luma + (row * 16 + block / 2 * 8 + i % 8) * width * 2 + column * 16 + block % 2 * 8
                                  : chroma + ((block - 4) * c.rows * 8 + row * 8 + i % 8) * width + column * 8;
          for (int k = 0; k < 8; ++k) to[k] = sample_of(r.v[k]);
        }
      });
};

// Interpolates chroma with a triangle filter, then converts colors.
struct JpegColorsRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        int64_t columns, rows;
        const uint8_t* planes;
      };
      // The sums of a column and of the one at the other side, each 3 times the near row and once the far one.
      PENSTOCK_INLINE static int32_t even(int32_t own, int32_t other) { return (3 * own + other + 8) >> 4; }
      PENSTOCK_INLINE static int32_t odd(int32_t own, int32_t other) { return (3 * own + other + 7) >> 4; }
      // Color `channel`; blue and red are around 0.
      PENSTOCK_INLINE static int32_t color(int64_t channel, int32_t y, int32_t b, int32_t r) {
        const int32_t v = channel == 0   ? (91881 * r + 32768) >> 16
                          : channel == 2 ? (116130 * b + 32768) >> 16
                                         : (-22554 * b - 46802 * r + 32768) >> 16;
        return clamp(y + v, 0, 255);
      } PENSTOCK_HD static int32_t chroma(const uint8_t* plane, int64_t width, const Place& p, const Coef& c) {
        const int64_t n = (c.out.width + 1) / 2;
        const int64_t rows = (c.out.height + 1) / 2;
        const int64_t x = p.x / 2;
        const int64_t y = p.y / 2;
        const uint8_t* near = plane + y * width;
        if (n <= 2) return near[x];
        const uint8_t* far = plane + clamp<int64_t>(p.y % 2 ? y + 1 : y - 1, 0, rows - 1) * width;
        const int32_t own = 3 * near[x] + far[x];
        if (p.x % 2 == 0) return even(own, x == 0 ? own : 3 * near[x - 1] + far[x - 1]);
        return odd(own, x == n - 1 ? own : 3 * near[x + 1] + far[x + 1]);
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In*, const Place& p, const Coef& c, const char*) {
        const int64_t width = c.columns * 8;
        const uint8_t* luma = c.planes + p.outer * c.rows * 8 * width * 6;
        const uint8_t* blue = luma + c.rows * 16 * width * 2;
        const uint8_t* red = blue + c.rows * 8 * width;
        const int32_t y = luma[p.y * width * 2 + p.x];
        const int32_t b = p.inner == 0 ? 0 : chroma(blue, width, p, c) - 128;
        const int32_t r = p.inner == 2 ? 0 : chroma(red, width, p, c) - 128;
        return static_cast<Out>(color(p.inner, y, b, r));
      });
};

}  // namespace penstock
