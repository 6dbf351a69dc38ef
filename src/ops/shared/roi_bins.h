// SPDX-License-Identifier: Apache-2.0
// The cells of regions of feature maps, each the mean of bilinear samples.
#pragma once
#include "operator/image_work.h"

namespace penstock {

struct RoiRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        const float* boxes;
        int64_t height;  // of the maps
        int64_t width;
        int64_t channels;
        float scale;
        float offset;
        int32_t samples;  // along an axis of a cell; 0 or less: as many as it has pixels
        int32_t aligned;
      };
      // The samples of the cells of a box along an axis.
      struct Axis {
        float start;
        float cell;
        int32_t count;
      };
      PENSTOCK_HD static Axis axis_of(float low, float high, int64_t cells, const Coef& c) {
        const float start = low * c.scale - c.offset;
        float extent = (high * c.scale - c.offset) - start;
        if (!c.aligned) extent = max(extent, 1.0f);
        const float cell = extent / static_cast<float>(cells);
        const float pixels = -floor(-cell);
        const float most = 65536.0f;
        const int32_t count = c.samples > 0 ? c.samples : pixels > 0.0f ? static_cast<int32_t>(min(pixels, most)) : 0;
        return {start, cell, count};
      }
      // Pixels that a sample lies between, and the part of the second one.
      struct Between {
        int64_t low;
        int64_t high;
        float part;
        bool inside;
      };
      PENSTOCK_HD static Between between(const Axis& a, int64_t cell, int32_t k, int64_t n) {
        const float within = (static_cast<float>(k) + 0.5f) * a.cell / static_cast<float>(a.count);
        float at = a.start + static_cast<float>(cell) * a.cell + within;
        Between b;
        b.inside = n > 0 && at >= -1.0f && at <= static_cast<float>(n);
        at = b.inside ? max(at, 0.0f) : 0.0f;
        b.low = min(static_cast<int64_t>(at), n - 1);
        b.high = min(b.low + 1, n - 1);
        b.part = b.low < n - 1 ? at - static_cast<float>(b.low) : 0.0f;
        return b;
      } PENSTOCK_HD static float mean_of(float sum, const Axis& y, const Axis& x) {
        return sum / static_cast<float>(max(static_cast<int64_t>(y.count) * x.count, static_cast<int64_t>(1)));
      } template <class V>
      PENSTOCK_HD static V sample_of(V a, V b, V c, V d, float y, float x) {
        const float over = 1.0f - y;
        const float before = 1.0f - x;
        return a * (over * before) + b * (over * x) + c * (y * before) + d * (y * x);
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const bool last = c.out.inner > 1;  // with one channel, both orders are the same
        const int64_t roi = last ? p.outer : p.outer / c.channels;
        const int64_t step = last ? c.channels : 1;
        const In* const map = last ? in + p.inner : in + p.outer % c.channels * c.height * c.width;
        const float* const box = c.boxes + roi * 4;
        const Axis down = axis_of(box[1], box[3], c.out.height, c);
        const Axis across = axis_of(box[0], box[2], c.out.width, c);
        float sum = 0;
        for (int32_t i = 0; i < down.count; ++i) {
          const Between y = between(down, p.y, i, c.height);
          if (!y.inside) continue;
          const In* const above = map + y.low * c.width * step;
          const In* const below = map + y.high * c.width * step;
          for (int32_t k = 0; k < across.count; ++k) {
            const Between x = between(across, p.x, k, c.width);
            if (!x.inside) continue;
            sum += sample_of(static_cast<float>(above[x.low * step]), static_cast<float>(above[x.high * step]),
                             static_cast<float>(below[x.low * step]), static_cast<float>(below[x.high * step]), y.part,
                             x.part);
          }
        }
        return stored<Out>(mean_of(sum, down, across));
      });
};

// All cells of n boxes on the host, where positions are found once for all channels.
void align_regions(const View& in, const View& out, const RoiRule::Coef& coef, int64_t boxes);

}  // namespace penstock
