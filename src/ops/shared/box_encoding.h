// SPDX-License-Identifier: Apache-2.0
// The rule of box_encoder.
#pragma once
#include "families/team/team.h"
#include "pixel/stored.h"
#include "pixel/transcendental.h"

namespace penstock {

// In turn: the box that overlaps each anchor most, and each box's favorite, the anchor that overlaps it most; boxes
// take their favorites; rows.
struct BoxEncoding {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t boxes;
        int64_t anchors;
        float criteria;
        float scale;
        int32_t offset;
        int32_t unused;
        float means[4];
        float stds[4];
      };
      // Intersection over union, in float32 as the threshold and the ties need it.
      PENSTOCK_HD static float overlap(const float* a, const float* b) {
        const float w = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
        const float h = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
        if (!(w > 0 && h > 0)) return 0;
        const float common = w * h;
        return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
      } PENSTOCK_HD static void encode(const float* box, const float* anchor, const Coef& c, float* out) {
        for (int a = 0; a < 2; ++a) {
          const double extent = static_cast<double>(anchor[2 + a]) - anchor[a];
          const double middle = (static_cast<double>(anchor[a]) + anchor[2 + a]) / 2;
          const double own = box ? static_cast<double>(box[2 + a]) - box[a] : extent;
          const double at = box ? (static_cast<double>(box[a]) + box[2 + a]) / 2 : middle;
          if (!c.offset) {
            out[a] = static_cast<float>(at);
            out[2 + a] = static_cast<float>(own);
          } else if (!box) {
            out[a] = out[2 + a] = 0;
          } else {
            out[a] = static_cast<float>(((at - middle) * c.scale / (extent * c.scale) - c.means[a]) / c.stds[a]);
            const double ratio = log(own * c.scale / (extent * c.scale));
            out[2 + a] = static_cast<float>((ratio - c.means[2 + a]) / c.stds[2 + a]);
          }
        }
      } template <class Label> PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table,
                                                           const Team& team, Refusal& refusal) {
        const float* const boxes = a.from<float>(0);
        const float* const anchors = reinterpret_cast<const float*>(table);
        int32_t* const match = a.to<int32_t>(1);
        int64_t* const favorite = a.to<int64_t>(2);  // its overlap in the upper half
        float* const best = reinterpret_cast<float*>(favorite + c.boxes);
        const Share own = team.share(c.boxes);
        for (int64_t i = own.begin; i < own.end; ++i) {
          const float* const b = boxes + 4 * i;
          favorite[i] = 0;
          if ((b[2] >= b[0] && b[3] >= b[1]) || refusal.what) continue;
          refusal.what = 1;
          refusal.whole[0] = i;
          for (int k = 0; k < 4; ++k) refusal.real[k] = b[k];
        }
        for (int64_t j = team.index; j < c.anchors; j += team.count) {
          match[j] = -1;
          best[j] = c.criteria;
        }
        team.sync();
        for (int64_t i = 0; i < c.boxes; ++i) {
          float highest = -1;
          int64_t at = 0;
          for (int64_t j = team.index; j < c.anchors; j += team.count) {
            const float v = overlap(boxes + 4 * i, anchors + 4 * j);
            if (v >= highest) {
              highest = v;
              at = j;
            }
            if (v > c.criteria && v >= best[j]) {
              best[j] = v;
              match[j] = static_cast<int32_t>(i);
            }
          }
          if (highest >= 0) {
            team.raise(favorite + i, static_cast<int64_t>(std::bit_cast<uint32_t>(highest)) << 32 | at);
          }
        }
        team.sync();
        if (team.index == 0) {
          for (int64_t i = 0; i < c.boxes; ++i) match[favorite[i] & 0x7FFFFFFF] = static_cast<int32_t>(i);
        }
        team.sync();
        for (int64_t j = team.index; j < c.anchors; j += team.count) {
          const int32_t i = match[j];
          encode(i < 0 ? nullptr : boxes + 4 * static_cast<int64_t>(i), anchors + 4 * j, c, a.to<float>(0) + 4 * j);
          match[j] = i < 0 ? 0 : stored<int32_t>(static_cast<double>(a.from<Label>(1)[i]));
        }
      });
};

}  // namespace penstock
