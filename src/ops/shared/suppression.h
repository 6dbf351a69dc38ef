// SPDX-License-Identifier: Apache-2.0
// The rules of nms for a GPU, in the order in which they run, and the same on the host.
#pragma once
#include <vector>

#include "families/team/kernels/overlap.h"
#include "families/team/team.h"

namespace penstock {

// Which candidates pass the threshold. A NaN does not.
struct PassingScores {
  PENSTOCK_PIXEL(
      using Coef = SuppressionCoef; PENSTOCK_HD static bool passes(float v, const Coef& c) {
        return c.limited ? v > c.score_threshold : v == v;
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        const float* const scores = a.from<float>(1);
        const Suppression to = c.sizes.in(a.out[0]);
        const Share own = team.share(c.sizes.candidates);
        int64_t count = 0;
        for (int64_t i = own.begin; i < own.end; ++i) count += passes(scores[i], c);
        int64_t all = 0;
        int64_t next = team.before(count, all);
        for (int64_t i = own.begin; i < own.end; ++i) {
          if (passes(scores[i], c)) to.passing[next++] = static_cast<int32_t>(i);
        }
        for (int64_t w = team.index; w < c.sizes.words(); w += team.count) to.removed[w] = 0;
        if (team.index != 0) return;
        *to.passed = all;
        *to.taken = 0;
      });
};

// The boxes of those that pass, in the order of scores if boxes are removed. Units are candidates.
struct RankedBoxes {
  PENSTOCK_PIXEL(using Coef = SuppressionCoef; template <class Label>
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const float* const scores = a.from<float>(1);
                   const Suppression to = c.sizes.in(a.out[0]);
                   const int64_t all = *to.passed;
                   for (int64_t u = team.begin + team.index; u < team.end && u < all; u += team.count) {
                     const int64_t i = to.passing[u];
                     const int64_t key = score_key(scores[i], i);
                     int64_t place = u;
                     if (!c.decay) {
                       place = 0;
                       for (int64_t k = 0; k < all; ++k) place += score_key(scores[to.passing[k]], to.passing[k]) < key;
                     }
                     const int64_t box = i / c.classes;
                     int64_t label = i - box * c.classes;
                     if constexpr (std::is_integral_v<Label>) {
                       if (c.labeled) label = static_cast<int64_t>(a.from<Label>(2)[box]);
                     }
                     to.order[place] = static_cast<int32_t>(i);
                     to.labels[place] = label;
                     to.corners[place] = corners_of(a.from<float>(0) + 4 * box, c.form);
                     to.scores[place] = scores[i];
                   }
                 });
};

// Rows of the matrix of overlaps: bit k of word w says that a box meets number 64 w + k, which comes after it. Units
// are the words of column 0, then those of column 1, and so on.
struct MetBoxes {
  PENSTOCK_PIXEL(using Coef = SuppressionCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const Suppression to = c.sizes.in(a.out[0]);
                   const int64_t all = *to.passed;
                   for (int64_t u = team.begin + team.index; u < team.end; u += team.count) {
                     const int64_t word = u / c.sizes.rows;
                     const int64_t row = c.first + (u - word * c.sizes.rows);
                     if (row >= all || word * 64 >= all || word < row / 64) continue;
                     if (to.removed[row / 64] >> (row % 64) & 1) continue;
                     const Corners own = to.corners[row];
                     const int64_t label = to.labels[row];
                     uint64_t met = 0;
                     for (int k = word == row / 64 ? static_cast<int>(row % 64) + 1 : 0; k < 64; ++k) {
                       const int64_t other = word * 64 + k;
                       if (other >= all) break;
                       if (to.labels[other] != label) continue;
                       if (overlap_of(own, to.corners[other], c.kind) > c.overlap_threshold) met |= uint64_t(1) << k;
                     }
                     to.meets[u] = met;
                   }
                 });
};

// Which of these rows are kept: 64 at a time, for which all threads decide alike.
struct KeptBoxes {
  PENSTOCK_PIXEL(using Coef = SuppressionCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const Suppression to = c.sizes.in(a.out[0]);
                   const int64_t all = *to.passed;
                   int64_t taken = *to.taken;
                   const int64_t end = c.first + c.sizes.rows < all ? c.first + c.sizes.rows : all;
                   for (int64_t row = c.first; row < end && taken < c.most; row += 64) {
                     team.sync();
                     const int64_t word = row / 64;
                     const uint64_t* const met = to.meets + (row - c.first);
                     uint64_t stay = ~to.removed[word];
                     if (all - row < 64) stay &= (uint64_t(1) << (all - row)) - 1;
                     for (int k = 0; k < 64; ++k) {
                       if (!(stay >> k & 1)) continue;
                       stay &= ~met[word * c.sizes.rows + k];
                       if (team.index == 0 && taken < c.most) {
                         to.kept[taken] = to.order[row + k];
                         to.kept_scores[taken] = to.scores[row + k];
                       }
                       ++taken;
                     }
                     for (int64_t w = word + 1 + team.index; w * 64 < all; w += team.count) {
                       uint64_t gone = 0;
                       for (int k = 0; k < 64; ++k) {
                         if (stay >> k & 1) gone |= met[w * c.sizes.rows + k];
                       }
                       to.removed[w] |= gone;
                     }
                   }
                   team.sync();
                   if (team.index != 0) return;
                   *to.taken = taken < c.most ? taken : c.most;
                   a.to<int64_t>(1)[0] = *to.taken;
                   a.to<int64_t>(1)[1] = reinterpret_cast<int64_t>(to.kept);
                 });
};

// Scores that decay instead (Bodla et al., 2017): the box with the highest score is kept, those of its class decay.
struct DecayingBoxes {
  PENSTOCK_PIXEL(using Coef = SuppressionCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   const Suppression to = c.sizes.in(a.out[0]);
                   const int64_t all = *to.passed;
                   const int64_t none = 9223372036854775807;
                   int64_t taken = 0;
                   int64_t next = none;
                   for (int64_t i = team.index; i < all; i += team.count) {
                     const int64_t key = score_key(to.scores[i], i);
                     if (key < next) next = key;
                   }
                   while (taken < c.most) {
                     const int64_t first = team.least(next);
                     if (first == none) break;
                     const int64_t best = first & 0x7FFFFFFF;
                     const Corners own = to.corners[best];
                     if (team.index == 0) {
                       to.kept[taken] = to.order[best];
                       to.kept_scores[taken] = to.scores[best];
                     }
                     ++taken;
                     next = none;
                     for (int64_t i = team.index; i < all; i += team.count) {
                       if (i == best) to.passing[i] = -1;
                       if (to.passing[i] < 0) continue;
                       if (to.labels[i] == to.labels[best]) {
                         const float v = overlap_of(own, to.corners[i], c.kind);
                         to.scores[i] = decayed(to.scores[i], v, c.decay, c.overlap_threshold, c.sigma);
                         if (!(c.limited ? to.scores[i] > c.score_threshold : to.scores[i] == to.scores[i])) {
                           to.passing[i] = -1;
                           continue;
                         }
                       }
                       const int64_t key = score_key(to.scores[i], i);
                       if (key < next) next = key;
                     }
                     team.sync();
                   }
                   if (team.index != 0) return;
                   *to.taken = taken;
                   a.to<int64_t>(1)[0] = taken;
                   a.to<int64_t>(1)[1] = reinterpret_cast<int64_t>(to.kept);
                 });
};

// Candidates on the host, and what remains of them.
struct BoxCandidates {
  const float* boxes;
  const float* scores;
  View labels;  // no data: classes are the labels
};
struct KeptCandidates {
  std::vector<int32_t> numbers;
  std::vector<float> scores;
};
KeptCandidates suppress(const BoxCandidates& from, const SuppressionCoef& c);

}  // namespace penstock
