// SPDX-License-Identifier: Apache-2.0
// Segments that draw_segments draws: the rule for a GPU, and images on the host.
#pragma once
#include <vector>

#include "operator/image_work.h"

namespace penstock {

struct SegmentRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        int64_t count;     // of segments: each has 7 numbers and its color
        int64_t channels;  // the last axis, if `last`; else each is an image of its own
        int64_t last;
        int64_t band;  // rows of a band: the table lists the segments that each band meets
        double shift;  // from the index of a pixel to its position
      };
      // A segment: x, y, how far it goes along both, 1 / its squared length, the squared radius, the opacity.
      PENSTOCK_HD static bool covers(const double* s, double x, double y) {
        const double across = x - s[0];
        const double down = y - s[1];
        const double part = clamp((across * s[2] + down * s[3]) * s[4], 0.0, 1.0);
        const double by_x = across - part * s[2];
        const double by_y = down - part * s[3];
        return by_x * by_x + by_y * by_y <= s[5];
      } PENSTOCK_LOOPED static float blended(float v, float color, float opacity) {
        return v + opacity * (color - v);
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char* table) {
        const double* segments = reinterpret_cast<const double*>(table);
        const double* starts = segments + c.count * (7 + c.channels);
        const double* listed = starts + (c.out.height - 1) / c.band + 2;
        const int64_t channel = c.last ? p.inner : p.outer % c.channels;
        const int64_t band = p.y / c.band;
        float v = static_cast<float>(in[offset_of(c.out, p.outer, p.z, p.y, p.x, p.inner)]);
        const double x = static_cast<double>(p.x) + c.shift;
        const double y = static_cast<double>(p.y) + c.shift;
        for (int64_t k = static_cast<int64_t>(starts[band]); k < static_cast<int64_t>(starts[band + 1]); ++k) {
          const double* s = segments + static_cast<int64_t>(listed[k]) * (7 + c.channels);
          if (covers(s, x, y)) v = blended(v, static_cast<float>(s[7 + channel]), static_cast<float>(s[6]));
        }
        return stored<Out>(v);
      });
};

// `segments` as above; the result has them and what each band meets.
std::vector<double> segment_table(std::vector<double> segments, const SegmentRule::Coef& c);
// The same as the rule for all elements, of a type that float32 holds.
void draw_segments(const View& in, const View& out, const std::vector<double>& table, const SegmentRule::Coef& c);

}  // namespace penstock
