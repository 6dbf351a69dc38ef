// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/kernels/regions.h"

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/signals.h"

namespace penstock {

void enqueue_regions(std::span<const RegionStep> steps, Launches& to) {
  if (steps.empty()) return;
  constexpr int64_t kGranule = 32;
  EntryTable<whole::RegionRow> chunks, signals;
  for (const RegionStep& s : steps) {
    const int64_t n = s.in.volume(), count = (n - 1) / Loudness::chunk_length(s.rule.window) + 1;
    auto* tops = static_cast<double*>(to.scratch(static_cast<size_t>(count) * sizeof(double)));
    chunks.add(count) = signals.add(1) = {s.in.data,
                                          n,
                                          s.rule.window,
                                          tops,
                                          count,
                                          s.rule.reference,
                                          s.rule.ratio,
                                          s.begin.as<int32_t>(),
                                          s.length.as<int32_t>()};
  }
  const char* type = element(steps[0].in.dtype);
  to.add({"regions.h", fmt::format("chunk_tops<{}>", type)}, chunks, kGranule);
  to.add({"regions.h", fmt::format("heard_region<{}>", type)}, signals, 1, whole::kRegionBytes);
}

}  // namespace penstock
