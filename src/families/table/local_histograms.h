// SPDX-License-Identifier: Apache-2.0
// Histograms of tiles, clipped and made into tables, and the interpolation between the tables of the nearest tiles: K.
// Zuiderveld, "Contrast limited adaptive histogram equalization", 1994; details that the text leaves open are OpenCV's.
#pragma once
#include "operator/image_work.h"

namespace penstock {

// Lightness of RGB in CIE Lab, in the 8-bit integers of OpenCV, and colors with another lightness.
struct LightnessRule : ImageRule {
  PENSTOCK_TEXT(
      base_text,
      struct ColorTables {
        uint16_t linear[256];  // of sRGB, 11 bits
        uint16_t root[3072];   // Lab's f of 11 bits, 15 bits
        // Of the 4096th that begins here: 256 times the result at its start, plus what makes the next result where
        // 2^-20ths from there are added.
        uint16_t cells[4100];
      };
      struct Roots { int32_t x, y, z; }; PENSTOCK_HD static Roots roots(const ColorTables& t, int r, int g, int b) {
        const int32_t R = t.linear[r];
        const int32_t G = t.linear[g];
        const int32_t B = t.linear[b];
        return {t.root[(R * 1777 + G * 1541 + B * 778 + 2048) >> 12],
                t.root[(R * 871 + G * 2929 + B * 296 + 2048) >> 12],
                t.root[(R * 73 + G * 448 + B * 3575 + 2048) >> 12]};
      } PENSTOCK_HD static int lightness(const Roots& f) {
        return clamp((296 * f.y - 1336934 + 16384) >> 15, 0, 255);
      } struct TileMix {
        const uint8_t* tables;
        int64_t tiles_y, tiles_x;
        float per_height, per_width;  // 1 / tile
        int bins, shift;
      };
      PENSTOCK_HD static float mixed(const TileMix& c, int64_t plane, int64_t y, int64_t x, int v) {
        const float fx = static_cast<float>(x) * c.per_width - 0.5f;
        const float fy = static_cast<float>(y) * c.per_height - 0.5f;
        const float bx = floor(fx);
        const float by = floor(fy);
        const float u = fx - bx;
        const float w = fy - by;
        const int64_t x0 = max(static_cast<int64_t>(bx), int64_t{0});
        const int64_t y0 = max(static_cast<int64_t>(by), int64_t{0});
        const int64_t x1 = min(static_cast<int64_t>(bx) + 1, c.tiles_x - 1);
        const int64_t y1 = min(static_cast<int64_t>(by) + 1, c.tiles_y - 1);
        const uint8_t* at = c.tables + plane * c.tiles_y * c.tiles_x * c.bins + (v >> c.shift);
        const uint8_t* top = at + y0 * c.tiles_x * c.bins;
        const uint8_t* bottom = at + y1 * c.tiles_x * c.bins;
        return (top[x0 * c.bins] * (1 - u) + top[x1 * c.bins] * u) * (1 - w) +
               (bottom[x0 * c.bins] * (1 - u) + bottom[x1 * c.bins] * u) * w;
      } PENSTOCK_HD static int first_color(const Roots& f) {
        return clamp((500 * (f.x - f.y) + 4194304 + 16384) >> 15, 0, 255) - 128;
      } PENSTOCK_HD static int second_color(const Roots& f) {
        return clamp((200 * (f.y - f.z) + 4194304 + 16384) >> 15, 0, 255) - 128;
      } struct Linear { float r, g, b; };
      PENSTOCK_HD static float cube_of(float f) {
        const float cube = f * f * f;
        const float line = (f - 0.13793103f) * 0.12841916f;
        return f > 0.20689271f ? cube : line;
      }
      // CIE Lab in 8-bit integers, a and b from -128 on.
      PENSTOCK_HD static Linear linear_of(int light, int a, int b) {
        const float l = static_cast<float>(light) * 0.39215687f;
        const float line = l * 0.0086206133f + 0.13793103f;
        const float root = (l + 16.0f) * 0.0086206897f;
        const bool dark = light <= 20;  // linear there
        const float fy = dark ? line : root;
        const float cube = fy * fy * fy;
        const float low = l * 0.0011070519f;
        const float y = dark ? low : cube;
        const float x = cube_of(fy + static_cast<float>(a) * 0.002f) * 0.950456f;
        const float z = cube_of(fy - static_cast<float>(b) * 0.005f) * 1.088754f;
        return {3.240479f * x - 1.53715f * y - 0.498535f * z, -0.969256f * x + 1.875991f * y + 0.041556f * z,
                0.055648f * x - 0.204043f * y + 1.057311f * z};
      } PENSTOCK_HD static int parts_of(float v) {  // 2^-20ths
        const float low = v > 0.0f ? v : 0.0f;
        return static_cast<int>((low < 1.0f ? low : 1.0f) * 1048576.0f);
      } PENSTOCK_HD static uint8_t srgb(const ColorTables& t, int parts) {
        return static_cast<uint8_t>((t.cells[parts >> 8] + (parts & 255)) >> 8);
      });
};

struct TileTableRule : LightnessRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t height, width, inner, tile_height, tile_width, tiles_y, tiles_x;
        uint8_t* tables;  // of each plane and tile: `bins`
        float scale;
        int limit;  // 0: none
        int bins, shift, light;
        ColorTables colors;
      };
      PENSTOCK_HD static int64_t inside(int64_t at, int64_t n) {  // mirrored without the edge
        const int64_t period = n > 1 ? 2 * (n - 1) : 1;
        const int64_t r = at % period;
        return n == 1 ? 0 : r < n ? r : period - r;
      } template <class In>
      PENSTOCK_HD static void group(const In* in, int64_t g, const Coef& c, const GroupLanes& lanes, char* memory) {
        int32_t* counts = reinterpret_cast<int32_t*>(memory);
        for (int i = lanes.index; i < c.bins; i += lanes.count) counts[i] = 0;
        lanes.sync();
        const int64_t plane = g / (c.tiles_y * c.tiles_x);
        const int64_t top = g / c.tiles_x % c.tiles_y * c.tile_height;
        const int64_t left = g % c.tiles_x * c.tile_width;
        const In* from = c.light ? in + plane * c.height * c.width * 3
                                 : in + plane / c.inner * c.inner * c.height * c.width + plane % c.inner;
        for (int64_t i = lanes.index; i < c.tile_height * c.tile_width; i += lanes.count) {
          const int64_t y = inside(top + i / c.tile_width, c.height);
          const int64_t x = inside(left + i % c.tile_width, c.width);
          const In* p = from + (y * c.width + x) * c.inner;
          const int v = c.light ? lightness(roots(c.colors, p[0], p[1], p[2])) : p[0];
          lanes.add(counts + (v >> c.shift));
        }
        lanes.sync();
        if (lanes.index == 0) finish(c, g, counts);
      } PENSTOCK_HD static void finish(const Coef& c, int64_t g, int32_t* counts) {
        int32_t over = 0;
        if (c.limit > 0) {
          for (int i = 0; i < c.bins; ++i)
            if (counts[i] > c.limit) over += counts[i] - c.limit, counts[i] = c.limit;
          for (int i = 0; i < c.bins; ++i) counts[i] += over / c.bins;
          int32_t rest = over % c.bins;
          const int step = rest > 0 && c.bins / rest > 1 ? c.bins / rest : 1;
          for (int i = 0; i < c.bins && rest > 0; i += step, --rest) ++counts[i];
        }
        int32_t sum = 0;
        for (int i = 0; i < c.bins; ++i) {
          sum += counts[i];
          c.tables[g * c.bins + i] = stored<uint8_t>(static_cast<float>(sum) * c.scale);
        }
      });
};

struct TileMixRule : LightnessRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        TileMix mix;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const int v = static_cast<int>(in[offset_of(c.out, p.outer, 0, p.y, p.x, p.inner)]);
        return stored<Out>(mixed(c.mix, p.outer * c.out.inner + p.inner, p.y, p.x, v));
      });
};

// The same for lightness: group g is a row of pixels.
struct LightMixRule : LightnessRule {
  PENSTOCK_PIXEL(
      struct Coef {
        TileMix mix;
        int64_t height, width;
        uint8_t* to;
        ColorTables colors;
      };
      template <class In>
      PENSTOCK_HD static void group(const In* in, int64_t g, const Coef& c, const GroupLanes& lanes, char*) {
        for (int64_t x = lanes.index; x < c.width; x += lanes.count) {
          const In* rgb = in + (g * c.width + x) * 3;
          const Roots f = roots(c.colors, rgb[0], rgb[1], rgb[2]);
          const int light = stored<uint8_t>(mixed(c.mix, g / c.height, g % c.height, x, lightness(f)));
          const Linear v = linear_of(light, first_color(f), second_color(f));
          uint8_t* to = c.to + (g * c.width + x) * 3;
          to[0] = srgb(c.colors, parts_of(v.r));
          to[1] = srgb(c.colors, parts_of(v.g));
          to[2] = srgb(c.colors, parts_of(v.b));
        }
      });
};

}  // namespace penstock
