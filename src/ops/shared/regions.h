// SPDX-License-Identifier: Apache-2.0
// The rules of label for a GPU, in the order in which they run, and the same on the host. Units are pixels.
#pragma once
#include <vector>

#include "families/team/kernels/regions.h"
#include "families/team/team.h"

namespace penstock {

using whole::count_one;
using whole::first_of_region;
using whole::lowered;
using whole::unite_regions;

struct RegionSeeds {
  PENSTOCK_PIXEL(using Coef = RegionCoef; template <class In>
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const RegionArrays to(a.out[0], c.height * c.width);
                   if constexpr (std::is_integral_v<In>) {
                     for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
                       const bool none = static_cast<int64_t>(a.from<In>(0)[i]) == c.background;
                       to.parent[i] = none ? -1 : static_cast<int32_t>(i);
                       to.area[i] = 0;
                       to.number[i] = 0;
                     }
                   }
                 });
};

struct RegionUnions {
  PENSTOCK_PIXEL(
      using Coef = RegionCoef; template <class In>
      PENSTOCK_HD static bool same(const In* mask, const int32_t* parent, const Coef& c, int64_t i, int64_t other) {
        return parent[other] >= 0 && (!c.by_value || mask[i] == mask[other]);
      } template <class In> PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team,
                                                        Refusal&) {
        const RegionArrays to(a.out[0], c.height * c.width);
        const In* const mask = a.from<In>(0);
        for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
          if (to.parent[i] < 0) continue;
          const int64_t y = i / c.width;
          const int64_t x = i - y * c.width;
          const int32_t own = static_cast<int32_t>(i);
          if (x > 0 && same(mask, to.parent, c, i, i - 1)) unite_regions(to.parent, own, own - 1);
          if (y == 0) continue;
          const int64_t above = i - c.width;
          if (same(mask, to.parent, c, i, above)) unite_regions(to.parent, own, static_cast<int32_t>(above));
          if (!c.diagonal) continue;
          if (x > 0 && same(mask, to.parent, c, i, above - 1)) {
            unite_regions(to.parent, own, static_cast<int32_t>(above - 1));
          }
          if (x + 1 < c.width && same(mask, to.parent, c, i, above + 1)) {
            unite_regions(to.parent, own, static_cast<int32_t>(above + 1));
          }
        }
      });
};

struct RegionAreas {
  PENSTOCK_PIXEL(using Coef = RegionCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const RegionArrays to(a.out[0], c.height * c.width);
                   for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
                     if (to.parent[i] < 0) continue;
                     to.parent[i] = first_of_region(to.parent, static_cast<int32_t>(i));
                     if (c.least > 1 || c.statistics) count_one(to.area + to.parent[i]);
                   }
                 });
};

// One team: regions are numbered by their first pixels.
struct RegionNumbers {
  PENSTOCK_PIXEL(
      using Coef = RegionCoef; PENSTOCK_HD static bool counts(const RegionArrays& to, const Coef& c, int64_t i) {
        return to.parent[i] == i && (c.least <= 1 || to.area[i] >= c.least);
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        const RegionArrays to(a.out[0], c.height * c.width);
        const Share own = team.share(c.height * c.width);
        int64_t count = 0;
        for (int64_t i = own.begin; i < own.end; ++i) count += counts(to, c, i);
        int64_t all = 0;
        int64_t next = team.before(count, all);
        for (int64_t i = own.begin; i < own.end; ++i) {
          if (counts(to, c, i)) to.number[i] = static_cast<int32_t>(++next);
        }
        if (team.index != 0 || !a.out[1]) return;
        a.to<int64_t>(1)[0] = all;
        a.to<int64_t>(1)[1] = reinterpret_cast<int64_t>(a.out[0]);
      });
};

// Rows of statistics: left, top, and minus the right and lower end, until RegionBoxes.
struct RegionLabels {
  PENSTOCK_PIXEL(using Coef = RegionCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const RegionArrays from(a.out[0], c.height * c.width);
                   for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
                     const int32_t first = from.parent[i];
                     const int32_t label = first < 0 ? 0 : from.number[first];
                     a.to<int32_t>(1)[i] = label;
                     if (label == 0 || !c.statistics) continue;
                     int32_t* const row = a.to<int32_t>(2) + 5 * (label - 1);
                     const int32_t y = static_cast<int32_t>(i / c.width);
                     const int32_t x = static_cast<int32_t>(i - y * c.width);
                     if (first == i) row[4] = from.area[i];
                     if (x == 0 || from.parent[i - 1] != first) lowered(row, x);
                     if (x + 1 == c.width || from.parent[i + 1] != first) lowered(row + 2, -x - 1);
                     if (y == 0 || from.parent[i - c.width] != first) lowered(row + 1, y);
                     if (y + 1 == c.height || from.parent[i + c.width] != first) lowered(row + 3, -y - 1);
                   }
                 });
};
// Units are rows of statistics.
struct RegionBoxes {
  PENSTOCK_PIXEL(
      struct Coef { int64_t begins; };
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        for (int64_t k = team.begin + team.index; k < team.end; k += team.count) {
          int32_t* const row = a.to<int32_t>(0) + 5 * k;
          for (int d = 0; d < 2; ++d) {
            if (c.begins) {
              row[d] = 2147483647;
              row[d + 2] = 2147483647;
            } else {
              row[d + 2] = -row[d + 2] - row[d];
            }
          }
        }
      });
};

// On the host: how many regions there are, and what is not null: labels, rows of statistics.
int64_t label_regions(const View& mask, const RegionCoef& c, int32_t* labels, int32_t* statistics);

}  // namespace penstock
