// SPDX-License-Identifier: Apache-2.0
// The rule of inpaint (A. Telea, "An image inpainting technique based on the fast marching method", 2004). The method
// fills the pixel that is nearest to what is known, one after the other. Here all pixels beside known ones are filled
// at once, round by round, from what the rounds before have filled: a team may do so, and the order of its threads does
// not show.
#pragma once
#include "families/team/kernels/telea.h"
#include "families/team/team.h"

namespace penstock {

using whole::lowered;
using whole::raised_by_one;

// All have in[0]: the mask; out[0]: pixels as float32; out[1]: TeleaMemory; the table has a weight for each place of
// the window, 0 outside the circle. One team: no pixel is in a band yet.
struct TeleaBegin {
  PENSTOCK_PIXEL(using Coef = TeleaCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const TeleaMemory m(a.out[1], c.height * c.width);
                   for (int k = team.index; k < 2; k += team.count) m.counts[k] = 0;
                 });
};
// Units are pixels. What is beside a hole begins the rounds, in any order.
struct TeleaBand {
  PENSTOCK_PIXEL(using Coef = TeleaCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const uint8_t* const mask = a.from<uint8_t>(0);
                   const TeleaMemory m(a.out[1], c.height * c.width);
                   for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
                     const TeleaPlace p = telea_place(i, c);
                     bool band = false;
                     for (int side = 0; side < 4 && !mask[i]; ++side) {
                       const TeleaPlace q = p.beside(side);
                       band |= q.inside(c) && mask[q.y * c.width + q.x];
                     }
                     m.order[i] = mask[i] ? (c.inward ? kTeleaNever : -1) : (band || c.inward ? 0 : kTeleaNever);
                     if (!c.inward) m.distance[i] = band ? 0.0f : 1e6f;
                     if (band) m.reached[raised_by_one(m.counts + c.inward)] = static_cast<int32_t>(i);
                   }
                 });
};
// One team: the rounds from a band outward, which give distances, or inward, which fill holes.
struct TeleaRounds {
  PENSTOCK_PIXEL(
      using Coef = TeleaCoef; using Memory = TeleaMemory; using Place = TeleaPlace;
      // Whether a pixel was reached before a round.
      PENSTOCK_HD static bool before(const Memory& m, const Place& p, const Coef& c, int32_t round) {
        if (!p.inside(c)) return false;
        const int32_t order = m.order[p.y * c.width + p.x];
        return order >= 0 && order < round;
      } static constexpr int kTogether = 4;  // channels that share their weights

      // The pixels beside those of a round, which the next one reaches: their number.
      PENSTOCK_HD static int64_t advance(const Coef& c, Memory& m, int64_t count, int32_t round, const Team& team) {
        const Share own = team.share(count);
        int64_t mine = 0;
        for (int64_t k = own.begin; k < own.end; ++k) {
          const Place p = telea_place(m.reached[k], c);
          m.claims[k] = 0;
          for (int side = 0; side < 4; ++side) {
            const Place q = p.beside(side);
            if (!q.inside(c) || lowered(m.order + q.y * c.width + q.x, round + 1) <= round + 1) continue;
            m.claims[k] |= 1 << side;
            ++mine;
          }
        }
        int64_t all = 0;
        int64_t at = team.before(mine, all);
        for (int64_t k = own.begin; k < own.end; ++k) {
          const Place p = telea_place(m.reached[k], c);
          for (int side = 0; side < 4; ++side) {
            if (!(m.claims[k] >> side & 1)) continue;
            const Place q = p.beside(side);
            m.next[at++] = static_cast<int32_t>(q.y * c.width + q.x);
          }
        }
        team.sync();
        int32_t* const other = m.reached;
        m.reached = m.next;
        m.next = other;
        return all;
      }

      // The distance of a pixel from those of its neighbors: |grad| = 1.
      PENSTOCK_HD static float distance_at(const Memory& m, const Place& p, const Coef& c, int32_t round) {
        float best = 1e6f;
        for (int corner = 0; corner < 4; ++corner) {
          const Place vertical = p.beside(corner & 1);
          const Place across = p.beside(2 + (corner >> 1));
          const bool has[2] = {before(m, vertical, c, round), before(m, across, c, round)};
          const float u = has[0] ? abs(m.distance[vertical.y * c.width + vertical.x]) : 1e6f;
          const float v = has[1] ? abs(m.distance[across.y * c.width + across.x]) : 1e6f;
          const float apart = abs(u - v);
          const float low = u < v ? u : v;
          const float found = apart >= 1 ? 1 + low : (u + v + sqrt(2 - apart * apart)) * 0.5f;
          if (found < best) best = found;
        }
        return best;
      }
      // The slope of values at p along an axis; `step` from a pixel to the next one.
      PENSTOCK_HD static float slope(const Memory& m, const float* values, int64_t step, int64_t channels,
                                     const Place& p, int axis, const Coef& c, int32_t round) {
        const int64_t i = (p.y * c.width + p.x) * channels;
        const bool after = before(m, p.beside(2 * axis + 1), c, round);
        const bool ahead = before(m, p.beside(2 * axis), c, round);
        if (after && ahead) return (values[i + step] - values[i - step]) * 0.5f;
        return after ? values[i + step] - values[i] : ahead ? values[i] - values[i - step] : 0.0f;
      } PENSTOCK_HD static void fill(const Memory& m, float* image, const Place& p, const float* weights, const Coef& c,
                                     int32_t round) {
        const int64_t own = p.y * c.width + p.x;
        const float gx = slope(m, m.distance, 1, 1, p, 1, c, round);
        const float gy = slope(m, m.distance, c.width, 1, p, 0, c, round);
        for (int64_t first = 0; first < c.channels; first += kTogether) {
          const int64_t count = c.channels - first < kTogether ? c.channels - first : kTogether;
          float whole = 0;
          float values[kTogether] = {};
          for (int64_t dy = -c.radius; dy <= c.radius; ++dy) {
            for (int64_t dx = -c.radius; dx <= c.radius; ++dx) {
              const float near = weights[(dy + c.radius) * (2 * c.radius + 1) + dx + c.radius];
              const Place q{p.y + dy, p.x + dx};
              if (near == 0 || !before(m, q, c, round)) continue;
              const int64_t at = q.y * c.width + q.x;
              const float x = static_cast<float>(-dx);
              const float y = static_cast<float>(-dy);
              float along = x * gx + y * gy;
              if (abs(along) <= 0.01f) along = 1e-6f;
              const float w = abs(near * (1 / (1 + abs(m.distance[at] - m.distance[own]))) * along);
              whole += w;
              for (int64_t k = 0; k < count; ++k) {
                const float* const from = image + first + k;
                float there = from[at * c.channels];
                if (c.slopes) {
                  there += slope(m, from, c.channels, c.channels, q, 1, c, round) * x;
                  there += slope(m, from, c.width * c.channels, c.channels, q, 0, c, round) * y;
                }
                values[k] += w * there;
              }
            }
          }
          for (int64_t k = 0; k < count; ++k) image[own * c.channels + first + k] = values[k] / whole;
        }
      }

      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        Memory m(a.out[1], c.height * c.width);
        const float* const weights = reinterpret_cast<const float*>(table);
        int64_t count = m.counts[c.inward];
        for (int32_t round = 0; count > 0 && (c.inward || round < 2 * c.radius); ++round) {
          count = advance(c, m, count, round, team);
          for (int64_t k = team.index; k < count; k += team.count) {
            const Place p = telea_place(m.reached[k], c);
            const float d = distance_at(m, p, c, round + 1);
            m.distance[m.reached[k]] = c.inward ? d : -d;
            if (c.inward) fill(m, a.to<float>(0), p, weights, c, round + 1);
          }
          team.sync();
        }
      });
};

}  // namespace penstock
