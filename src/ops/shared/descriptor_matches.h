// SPDX-License-Identifier: Apache-2.0
// The rules of match for a GPU, in the order in which they run, and the same on the host. The nearest row is the one
// of the least distance, of equal distances the first one.
#pragma once
#include <vector>

#include "families/team/kernels/descriptors.h"
#include "families/team/team.h"

namespace penstock {

// For each row of the source its nearest rows of the target. Units are kRowsTogether rows.
struct NearestRows {
  PENSTOCK_PIXEL(
      using Coef = MatchCoef; template <class T>
      PENSTOCK_HD static void compare(const Arrays& a, const Coef& c, int64_t first, int64_t m, int32_t* bits) {
        const T* rows[kRowsTogether];
        for (int r = 0; r < kRowsTogether; ++r) {
          rows[r] = a.from<T>(0) + (first + r < c.sources ? first + r : first) * c.numbers;
        }
        if constexpr (sizeof(T) == 1) byte_distances(rows, a.from<T>(1) + m * c.numbers, c, bits);
        else float_distances(rows, a.from<T>(1) + m * c.numbers, c, bits);
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        for (int64_t group = team.begin; group < team.end; ++group) {
          const int64_t first = group * kRowsTogether;
          int64_t last[kRowsTogether] = {-1, -1, -1, -1};
          for (int64_t k = 0; k < c.count; ++k) {
            const int64_t none = 9223372036854775807;
            int64_t next[kRowsTogether] = {none, none, none, none};
            for (int64_t m = team.index; m < c.targets; m += team.count) {
              int32_t bits[kRowsTogether];
              if (c.bytes) compare<uint8_t>(a, c, first, m, bits);
              else compare<float>(a, c, first, m, bits);
              for (int r = 0; r < kRowsTogether; ++r) {
                const int64_t key = static_cast<int64_t>(bits[r]) << 32 | m;
                if (key > last[r] && key < next[r]) next[r] = key;
              }
            }
            for (int r = 0; r < kRowsTogether; ++r) {
              last[r] = team.least(next[r]);
              if (team.index != 0 || first + r >= c.sources) continue;
              const int64_t at = (first + r) * c.count + k;
              a.to<int32_t>(0)[2 * at] = static_cast<int32_t>(first + r);
              a.to<int32_t>(0)[2 * at + 1] = static_cast<int32_t>(last[r] & 0xFFFFFFFF);
              a.to<int32_t>(1)[at] = static_cast<int32_t>(last[r] >> 32);
            }
          }
        }
      });
};

// What is nearest to each other: in[0], in[1] are pairs and distances from the source, in[2] pairs from the target.
// One team.
struct MutualRows {
  PENSTOCK_PIXEL(
      using Coef = MatchCoef; PENSTOCK_HD static bool mutual(const Arrays& a, int64_t i) {
        const int32_t target = a.from<int32_t>(0)[2 * i + 1];
        return a.from<int32_t>(2)[2 * target + 1] == i;
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        const Share own = team.share(c.sources);
        int64_t count = 0;
        for (int64_t i = own.begin; i < own.end; ++i) count += mutual(a, i);
        int64_t all = 0;
        int64_t next = team.before(count, all);
        for (int64_t i = own.begin; i < own.end; ++i) {
          if (!mutual(a, i)) continue;
          a.to<int32_t>(0)[2 * next] = static_cast<int32_t>(i);
          a.to<int32_t>(0)[2 * next + 1] = a.from<int32_t>(0)[2 * i + 1];
          a.to<int32_t>(1)[next++] = a.from<int32_t>(1)[i];
        }
        if (team.index != 0) return;
        a.to<int64_t>(2)[0] = all;
        a.to<int64_t>(2)[1] = reinterpret_cast<int64_t>(a.out[0]);
        a.to<int64_t>(2)[2] = reinterpret_cast<int64_t>(a.out[1]);
      });
};

// Copies matches that were found before the outputs were there. Units are matches.
struct MatchedRows {
  PENSTOCK_PIXEL(
      struct Coef { int64_t unused; };
      PENSTOCK_HD static void run(const Arrays& a, const Coef&, const char*, const Team& team, Refusal&) {
        for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
          a.to<int32_t>(0)[2 * i] = a.from<int32_t>(0)[2 * i];
          a.to<int32_t>(0)[2 * i + 1] = a.from<int32_t>(0)[2 * i + 1];
          a.to<int32_t>(1)[i] = a.from<int32_t>(1)[i];
        }
      });
};

// On the host. `pairs` and `distances` have room for c.sources * c.count matches; with `mutual`, c.count is 1. The
// number of matches.
int64_t match_rows(const void* source, const void* target, const MatchCoef& c, bool mutual, int32_t* pairs,
                   float* distances);

}  // namespace penstock
