// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/kernels/draw.h"

namespace penstock {

void enqueue_draws(std::span<const DrawStep> steps, Launches& to) {
  for (size_t k = 0; k < steps.size(); ++k) {  // one rule for all, except for ranges with their own type
    const auto same = [&](const DrawStep& s) { return s.rule.text == steps[k].rule.text; };
    bool done = false;
    for (size_t j = 0; j < k && !done; ++j) done = same(steps[j]);
    if (done) continue;
    const DrawRule& rule = steps[k].rule;
    EntryTable<whole::DrawRow> entries;
    for (const DrawStep& step : steps) {
      if (!same(step)) continue;
      const int64_t n = step.out.volume();
      entries.add((n + rule.per_block - 1) / rule.per_block) = {step.out.data, n, step.stream,
                                                                entries.data.add_bytes(step.coef)};
    }
    to.add({"draw.h", fmt::format("draw<{}, {}, Rule>", element(steps[k].out.dtype), rule.per_block), rule.text()},
           entries, kStageThreads);
  }
}

}  // namespace penstock
