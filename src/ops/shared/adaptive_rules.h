// SPDX-License-Identifier: Apache-2.0
// What adaptive_threshold does with each element.
#pragma once
#include "families/team/team.h"
#include "operator/image_work.h"

namespace penstock {

// On a GPU: weighted sums along an axis of `extent` elements, `inner` apart; the border repeats the edge. The weights
// of a plain sum are 1: in float32 it is exact.
struct SlideRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t extent;
        int64_t inner;
        int64_t side;
      };
      template <class In>
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        const float* weights = reinterpret_cast<const float*>(table);
        for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
          const int64_t at = i / c.inner % c.extent;
          const In* from = a.from<In>(0) + (i - at * c.inner);
          float sum = 0.0f;
          for (int64_t k = 0; k < c.side; ++k) {
            const int64_t seen = clamp<int64_t>(at + k - c.side / 2, 0, c.extent - 1);
            sum = sum + weights[k] * static_cast<float>(from[seen * c.inner]);
          }
          a.to<float>(0)[i] = sum;
        }
      });
};

// Bytes beside what is around them.
struct AdaptiveRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        const float* around;  // means, or sums of `count` bytes, an odd number
        int64_t count;        // 1: of means
        int32_t delta;
        uint8_t above;
        uint8_t below;
        uint8_t unused[2];
      };
      PENSTOCK_HD static float level(float mean) {
        return (mean + 0x1.8p23f) - 0x1.8p23f;  // to the nearest integer
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const int64_t i = offset_of(c.out, p.outer, p.z, p.y, p.x, p.inner);
        const int64_t twice = 2 * static_cast<int64_t>(c.around[i]) + c.count;
        const float limit = c.count == 1 ? level(c.around[i]) : static_cast<float>(twice / (2 * c.count));
        return static_cast<Out>(limit < static_cast<float>(in[i]) + static_cast<float>(c.delta) ? c.above : c.below);
      });

  // On the host, beside means that are rounded, or not yet.
  template <class T> static void run(const uint8_t* in, const T* means, uint8_t* out, int64_t n, const Coef& c) {
    const uint8_t above = c.above, below = c.below;
    if constexpr (sizeof(T) == 1) {
      const auto delta = static_cast<int16_t>(c.delta);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        out[i] = static_cast<int16_t>(means[i]) < static_cast<int16_t>(in[i] + delta) ? above : below;
    } else {
      const auto delta = static_cast<float>(c.delta);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = level(means[i]) < static_cast<float>(in[i]) + delta ? above : below;
    }
  }
};

}  // namespace penstock
