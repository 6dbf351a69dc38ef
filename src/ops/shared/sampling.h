// SPDX-License-Identifier: Apache-2.0
// Elements between the pixels of an image.
#pragma once
#include "operator/image_work.h"

namespace penstock {

struct SamplingRule : ImageRule {
  PENSTOCK_TEXT(
      base_text,
      struct Source {
        Extents extents;
        int border;
        int kind;  // 0: nearest, 1: linear, 2: cubic
        double fill;
      };
      template <class In>
      PENSTOCK_HD static double tap(const In* in, const Source& s, const Place& p, int64_t y, int64_t x) {
        const int64_t v = bordered(y, s.extents.height, s.border);
        const int64_t u = bordered(x, s.extents.width, s.border);
        return v < 0 || u < 0 ? s.fill : static_cast<double>(in[offset_of(s.extents, p.outer, 0, v, u, p.inner)]);
      }
      // Catmull and Rom's family with a = -0.75, as OpenCV's.
      PENSTOCK_HD static double cubic_weight(double t) {
        const double d = abs(t);
        return d < 1 ? (1.25 * d - 2.25) * d * d + 1 : d < 2 ? ((-0.75 * d + 3.75) * d - 6) * d + 3 : 0.0;
      }
      // Where there can be no number: outside.
      PENSTOCK_HD static double bounded(double v) { return v > -1e9 ? (v < 1e9 ? v : 1e9) : -1e9; }
      // Whether a blend has a share of what is beyond the n elements of an axis.
      PENSTOCK_HD static bool reads_beyond(double at, int64_t n, int kind) {
        const int64_t low = static_cast<int64_t>(floor(at));
        if (at == floor(at)) return low < 0 || low >= n;
        const int64_t more = kind == 2;
        return low < more || low + 1 + more >= n;
      }
      // (0, 0) is the center of the first pixel.
      template <class In>
      PENSTOCK_HD static double sampled(const In* in, const Source& source, const Place& p, double y, double x) {
        Source s = source;
        y = bounded(y), x = bounded(x);
        if (s.kind == 0)
          return tap(in, s, p, static_cast<int64_t>(floor(y + 0.5)), static_cast<int64_t>(floor(x + 0.5)));
        const double fy = floor(y);
        const double fx = floor(x);
        const int64_t v = static_cast<int64_t>(fy);
        const int64_t u = static_cast<int64_t>(fx);
        // An infinite fill, of which a blend makes NaN, is the result wherever it has a share.
        if (s.fill - s.fill != 0 && bordered(-1, 1, s.border) < 0) {
          if (reads_beyond(y, s.extents.height, s.kind) || reads_beyond(x, s.extents.width, s.kind)) return s.fill;
          s.fill = 0;
        }
        if (s.kind == 1) {
          const double top = tap(in, s, p, v, u);
          const double bottom = tap(in, s, p, v + 1, u);
          const double a = top + (tap(in, s, p, v, u + 1) - top) * (x - fx);
          const double b = bottom + (tap(in, s, p, v + 1, u + 1) - bottom) * (x - fx);
          return a + (b - a) * (y - fy);
        }
        double sum = 0;
        for (int j = -1; j < 3; ++j) {
          double row = 0;
          for (int i = -1; i < 3; ++i) row += tap(in, s, p, v + j, u + i) * cubic_weight(x - fx - i);
          sum += row * cubic_weight(y - fy - j);
        }
        return sum;
      });
};
// By the public numbers of filters.
inline int sampling_kind(const char* argument, int number, int most = 2) {
  if (number < 0 || number > most)
    bad_argument("{} must be INTERP_NN (0){} or INTERP_{} ({}), got {}", argument,
                 most == 2 ? ", INTERP_LINEAR (1)" : "", most == 2 ? "CUBIC" : "LINEAR", most, number);
  return number;
}
// 0.5 if (0, 0) is the corner of the first pixel, 0 if it is the center.
inline double pixel_shift(const std::string& pixel_origin) {
  if (pixel_origin != "corner" && pixel_origin != "center")
    bad_argument("pixel_origin must be \"corner\" or \"center\", got \"{}\"", pixel_origin);
  return pixel_origin == "corner" ? 0.5 : 0.0;
}

}  // namespace penstock
