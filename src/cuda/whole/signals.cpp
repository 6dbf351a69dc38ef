// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/kernels/signals.h"

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"

namespace penstock {

void enqueue_maxima(std::span<const MaximumStep> steps, Launches& to) {
  EntryTable<whole::MaximumRow> entries;
  for (const MaximumStep& s : steps) entries.add(1) = {s.in.as<const float>(), s.to, s.in.volume()};
  to.add({"signals.h", "maximum"}, entries, 1, kStageThreads * sizeof(float));
}

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
  to.add({"signals.h", fmt::format("chunk_tops<{}>", type)}, chunks, kGranule);
  to.add({"signals.h", fmt::format("heard_region<{}>", type)}, signals, 1, whole::kRegionBytes);
}

}  // namespace penstock
