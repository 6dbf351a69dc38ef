// SPDX-License-Identifier: Apache-2.0
// The rules of canny for a GPU, in the order in which they run. Units are pixels of a frame; out[0] is CannyArrays.
#pragma once
#include "families/team/kernels/edges.h"
#include "families/team/team.h"

namespace penstock {

using whole::first_of_region;
using whole::unite_regions;

// The table has the window that smooths, and the one of the derivative.
struct CannyGradients {
  PENSTOCK_PIXEL(
      using Coef = CannyCoef; PENSTOCK_HD static int64_t clamped(int64_t at, int64_t n) {
        return at < 0 ? 0 : at >= n ? n - 1 : at;
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        const CannyArrays to(a.out[0], c.height * c.width);
        const uint8_t* const image = a.from<uint8_t>(0);
        const int32_t* const smooth = reinterpret_cast<const int32_t*>(table);
        const int32_t* const derive = smooth + c.window_size;
        const int half = c.window_size / 2;
        for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
          const int64_t y = i / c.width;
          const int64_t x = i - y * c.width;
          for (int64_t k = 0; k < c.channels; ++k) {
            int32_t dx = 0;
            int32_t dy = 0;
            for (int v = 0; v < c.window_size; ++v) {
              const uint8_t* const row = image + clamped(y + v - half, c.height) * c.width * c.channels + k;
              int32_t slope = 0;
              int32_t sum = 0;
              for (int u = 0; u < c.window_size; ++u) {
                const int32_t in = row[clamped(x + u - half, c.width) * c.channels];
                slope += derive[u] * in;
                sum += smooth[u] * in;
              }
              dx += smooth[v] * slope;
              dy += derive[v] * sum;
            }
            if (c.window_size == 7) {
              dx = static_cast<int32_t>(round_even(static_cast<float>(dx) / 16));
              dy = static_cast<int32_t>(round_even(static_cast<float>(dy) / 16));
            }
            const int32_t size = c.squared ? dx * dx + dy * dy : (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
            if (k > 0 && size <= to.size[i]) continue;
            to.dx[i] = dx;
            to.dy[i] = dy;
            to.size[i] = size;
          }
        }
      });
};

struct CannyMarks {
  PENSTOCK_PIXEL(
      using Coef = CannyCoef; PENSTOCK_HD static int32_t at(const int32_t* size, const Coef& c, int64_t y, int64_t x) {
        return y < 0 || y >= c.height || x < 0 || x >= c.width ? 0 : size[y * c.width + x];
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        const CannyArrays to(a.out[0], c.height * c.width);
        for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
          const int64_t y = i / c.width;
          const int64_t x = i - y * c.width;
          GradientsAround g;
          g.left = at(to.size, c, y, x - 1);
          g.right = at(to.size, c, y, x + 1);
          g.up = at(to.size, c, y - 1, x);
          g.under = at(to.size, c, y + 1, x);
          g.up_left = at(to.size, c, y - 1, x - 1);
          g.up_right = at(to.size, c, y - 1, x + 1);
          g.under_left = at(to.size, c, y + 1, x - 1);
          g.under_right = at(to.size, c, y + 1, x + 1);
          const int32_t mark = canny_mark(to.dx[i], to.dy[i], to.size[i], g, c.low, c.high);
          to.parent[i] = mark > 0 ? static_cast<int32_t>(i) : -1;
          to.begun[i] = mark == 2;
        }
      });
};

// Connects what may be edges.
struct CannyUnions {
  PENSTOCK_PIXEL(using Coef = CannyCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const CannyArrays to(a.out[0], c.height * c.width);
                   for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
                     if (to.parent[i] < 0) continue;
                     const int64_t y = i / c.width;
                     const int64_t x = i - y * c.width;
                     for (int side = 0; side < 4; ++side) {
                       const int64_t v = side == 0 ? y : y - 1;
                       const int64_t u = side == 0 ? x - 1 : x + side - 2;
                       if (v < 0 || u < 0 || u >= c.width) continue;
                       const int64_t other = v * c.width + u;
                       if (to.parent[other] < 0) continue;
                       unite_regions(to.parent, static_cast<int32_t>(i), static_cast<int32_t>(other));
                     }
                   }
                 });
};

struct CannyRoots {
  PENSTOCK_PIXEL(using Coef = CannyCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const CannyArrays to(a.out[0], c.height * c.width);
                   for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
                     if (to.parent[i] < 0) continue;
                     to.parent[i] = first_of_region(to.parent, static_cast<int32_t>(i));
                     if (to.begun[i]) to.begun[to.parent[i]] = 1;
                   }
                 });
};

struct CannyResult {
  PENSTOCK_PIXEL(using Coef = CannyCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const CannyArrays from(a.out[0], c.height * c.width);
                   for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
                     const bool edge = from.parent[i] >= 0 && from.begun[from.parent[i]];
                     a.to<uint8_t>(1)[i] = edge ? 255 : 0;
                   }
                 });
};

}  // namespace penstock
