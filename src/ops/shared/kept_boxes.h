// SPDX-License-Identifier: Apache-2.0
// The steps of nms. Where boxes are kept, they write how many there are, and the address of their numbers, which the
// scores that are left follow.
#pragma once
#include "ops/shared/suppression.h"

namespace penstock {

inline void keep_here(const BoxCandidates& from, const SuppressionCoef& c, SampleWork& to, int64_t* numbers) {
  const KeptCandidates kept = suppress(from, c);
  const auto all = static_cast<size_t>(c.sizes.candidates);
  auto* const rows = static_cast<int32_t*>(to.scratch(all * (sizeof(int32_t) + sizeof(float))));
  std::copy(kept.numbers.begin(), kept.numbers.end(), rows);
  std::copy(kept.scores.begin(), kept.scores.end(), reinterpret_cast<float*>(rows + all));
  numbers[0] = static_cast<int64_t>(kept.numbers.size()), numbers[1] = reinterpret_cast<int64_t>(rows);
}

inline void keep_there(const BoxCandidates& boxes, const SuppressionCoef& c, SampleWork& to, int64_t* numbers) {
  void* const memory = to.scratch(static_cast<size_t>(c.sizes.bytes()));
  const char* const header = "families/team/kernels/overlap.h";
  const std::vector<const void*> from{boxes.boxes, boxes.scores, boxes.labels.data};
  run_team<PassingScores>({.in = from, .out = {memory}, .header = header}, c, to);
  to.then();
  const DType label = boxes.labels.dtype;
  run_team<RankedBoxes>({.in = from, .out = {memory}, .type = label, .units = c.sizes.candidates, .header = header}, c,
                        to);
  to.then();
  if (c.decay) return run_team<DecayingBoxes>({.in = {}, .out = {memory, numbers}, .header = header}, c, to);
  const int64_t units = c.sizes.rows * c.sizes.words();
  for (SuppressionCoef part = c; part.first < c.sizes.candidates; part.first += c.sizes.rows) {
    run_team<MetBoxes>({.in = {}, .out = {memory}, .units = units, .header = header}, part, to);
    to.then();
    run_team<KeptBoxes>({.in = {}, .out = {memory, numbers}, .header = header}, part, to);
    to.then();
  }
}

// What nms has kept, as it returns it.
struct KeptResult {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t count;
        int64_t classes;
        int32_t mask;
        int32_t pairs;  // of a box and a class
      };
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        for (int64_t k = team.index; k < c.count; k += team.count) {
          const int32_t i = a.from<int32_t>(0)[k];
          const int32_t classes = static_cast<int32_t>(c.classes);
          if (c.mask) {
            a.to<uint8_t>(0)[i] = 1;
          } else if (c.pairs) {
            a.to<int32_t>(0)[2 * k] = i / classes;
            a.to<int32_t>(0)[2 * k + 1] = i % classes;
          } else {
            a.to<int32_t>(0)[k] = i;
          }
          if (a.out[1]) a.to<float>(1)[c.mask ? i : k] = a.from<float>(1)[k];
        }
      });
};

}  // namespace penstock
