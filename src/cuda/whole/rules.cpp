// SPDX-License-Identifier: Apache-2.0
// Steps whose rules operators give as text. All samples of a launch have the same rule.
#include "cuda/whole/kernels/rules.h"

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"

namespace penstock {

void enqueue_axis_maps(std::span<const AxisStep> steps, Launches& to) {
  if (steps.empty()) return;
  EntryTable<whole::AxisRow> entries;
  for (const AxisStep& step : steps) {
    const AxisExtents e(step.in.shape, step.out.shape, step.axis);
    entries.add(step.out.volume()) = {step.in.data, step.out.data, e.n,
                                      e.m,          e.inner,       entries.data.add_bytes(step.coef)};
  }
  const DType in = steps[0].in.dtype, out = steps[0].out.dtype;
  to.add({"rules.h", fmt::format("map_axis<{}, {}, Rule>", element(in), element(out)), steps[0].rule.text()}, entries,
         kStageThreads);
}

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
    to.add({"rules.h", fmt::format("draw<{}, {}, Rule>", element(steps[k].out.dtype), rule.per_block), rule.text()},
           entries, kStageThreads);
  }
}

void enqueue_groups(std::span<const GroupsStep> steps, Launches& to) {
  EntryTable<whole::GroupRow> entries;
  for (const auto& [in, step] : steps)
    entries.add(step.groups) = {in.as<const uint8_t>(), entries.data.add_bytes(step.coef)};
  to.add({"rules.h", "run_groups<Rule>", steps[0].step.text()}, entries, 1, steps[0].step.memory);
}

void enqueue_maps(std::span<const MapStep> steps, Launches& to) {
  if (steps.empty()) return;
  EntryTable<whole::MapRow> entries;
  for (const auto& [in, out, step] : steps) {
    whole::MapRow row{in.data, out.data, entries.data.add_bytes(step.coef), {}};
    if (step.table)
      row.table = entries.data.once(step.shared.get(), [&] { return entries.data.add_bytes(step.table()); });
    entries.add(out.volume()) = row;
  }
  const DType in = steps[0].in.dtype, out = steps[0].out.dtype;
  to.add({"rules.h", fmt::format("map<{}, {}, Rule>", element(in), element(out)), steps[0].step.text()}, entries,
         kStageThreads);
}

}  // namespace penstock
