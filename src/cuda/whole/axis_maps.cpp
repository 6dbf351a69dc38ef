// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/kernels/axis_map.h"

namespace penstock {

void enqueue_axis_maps(std::span<const AxisStep> steps, Launches& to) {
  if (steps.empty()) return;
  EntryTable<whole::AxisRow> entries;
  for (const AxisStep& step : steps) {  // one rule for all
    const AxisExtents e(step.in.shape, step.out.shape, step.axis);
    entries.add(step.out.volume()) = {step.in.data, step.out.data, e.n,
                                      e.m,          e.inner,       entries.data.add_bytes(step.coef)};
  }
  const DType in = steps[0].in.dtype, out = steps[0].out.dtype;
  to.add({"axis_map.h", fmt::format("map_axis<{}, {}, Rule>", element(in), element(out)), steps[0].rule.text()},
         entries, kStageThreads);
}

}  // namespace penstock
