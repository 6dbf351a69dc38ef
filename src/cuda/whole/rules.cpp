// SPDX-License-Identifier: Apache-2.0
// Steps whose rules operators give as text. All steps of a launch have the same rule and the same types of elements;
// samples of a batch may have unlike ones.
#include "cuda/whole/kernels/rules.h"

#include <algorithm>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"

namespace penstock {
namespace {

// each(first, entries): `add` has made an entry of all steps that are like `first`.
template <class Row, class Step>
void by_rule(std::span<const Step> steps, const auto& like, const auto& add, const auto& each) {
  for (size_t k = 0; k < steps.size(); ++k) {
    const Step& first = steps[k];
    const auto same = [&](const Step& s) { return like(s, first); };
    if (std::ranges::any_of(steps.first(k), same)) continue;
    EntryTable<Row> entries;
    for (const Step& s : steps.subspan(k))
      if (same(s)) add(s, entries);
    each(first, entries);
  }
}

}  // namespace

void enqueue_axis_maps(std::span<const AxisStep> steps, Launches& to) {
  by_rule<whole::AxisRow>(
      steps,
      [](const AxisStep& a, const AxisStep& b) {
        return a.rule.text == b.rule.text && a.in.dtype == b.in.dtype && a.out.dtype == b.out.dtype;
      },
      [](const AxisStep& step, EntryTable<whole::AxisRow>& entries) {
        const AxisExtents e(step.in.shape, step.out.shape, step.axis);
        entries.add(step.out.volume()) = {step.in.data, step.out.data, e.n,
                                          e.m,          e.inner,       entries.data.add_bytes(step.coef)};
      },
      [&](const AxisStep& step, const EntryTable<whole::AxisRow>& entries) {
        const std::string types = fmt::format("{}, {}", element(step.in.dtype), element(step.out.dtype));
        to.add({"rules.h", fmt::format("map_axis<{}, Rule>", types), step.rule.text()}, entries, kStageThreads);
      });
}

void enqueue_draws(std::span<const DrawStep> steps, Launches& to) {
  by_rule<whole::DrawRow>(
      steps,  // one rule for all, except for ranges with their own type
      [](const DrawStep& a, const DrawStep& b) { return a.rule.text == b.rule.text; },
      [](const DrawStep& step, EntryTable<whole::DrawRow>& entries) {
        const int64_t n = step.out.volume(), each = step.rule.per_block;
        entries.add((n + each - 1) / each) = {step.out.data, n, step.stream, entries.data.add_bytes(step.coef)};
      },
      [&](const DrawStep& step, const EntryTable<whole::DrawRow>& entries) {
        const std::string instance = fmt::format("draw<{}, {}, Rule>", element(step.out.dtype), step.rule.per_block);
        to.add({"rules.h", instance, step.rule.text()}, entries, kStageThreads);
      });
}

void enqueue_groups(std::span<const GroupsStep> steps, Launches& to) {
  EntryTable<whole::GroupRow> entries;
  for (const auto& [in, step] : steps)
    entries.add(step.groups) = {in.as<const uint8_t>(), entries.data.add_bytes(step.coef)};
  to.add({"rules.h", "run_groups<Rule>", steps[0].step.text()}, entries, 1, steps[0].step.memory);
}

void enqueue_maps(std::span<const MapStep> steps, Launches& to) {
  by_rule<whole::MapRow>(
      steps,
      [](const MapStep& a, const MapStep& b) {
        return a.step.text == b.step.text && a.in.dtype == b.in.dtype && a.out.dtype == b.out.dtype;
      },
      [](const MapStep& map, EntryTable<whole::MapRow>& entries) {
        const ElementStep& step = map.step;
        whole::MapRow row{map.in.data, map.out.data, entries.data.add_bytes(step.coef), {}};
        if (step.table)
          row.table = entries.data.once(step.shared.get(), [&] { return entries.data.add_bytes(step.table()); });
        entries.add(map.out.volume()) = row;
      },
      [&](const MapStep& map, const EntryTable<whole::MapRow>& entries) {
        const std::string types = fmt::format("{}, {}", element(map.in.dtype), element(map.out.dtype));
        to.add({"rules.h", fmt::format("map<{}, Rule>", types), map.step.text()}, entries, kStageThreads);
      });
}

}  // namespace penstock
