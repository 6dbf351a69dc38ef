// SPDX-License-Identifier: Apache-2.0
// Largest elements, with a block for each; and results that are each a function of the input, with a thread for each.
#include "cuda/whole/signals.h"

#include <map>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/kernels/map.h"

namespace penstock {
void DeviceSignals::enqueue(Launches& to) const {
  EntryTable<whole::MaximumRow> tops;
  for (const Maximum& m : maxima_) tops.add(1) = {m.in.as<const float>(), m.to, m.in.volume()};
  to.add({"map.h", "maximum"}, tops, 1, kStageThreads * sizeof(float));
  enqueue_transforms(transforms_, to);
  enqueue_regions(regions_, to);
  if (maps_.empty()) return;
  EntryTable<whole::MapRow> entries;  // one rule for all
  std::map<const void*, whole::InData<char>> tables;
  for (const Map& m : maps_) {
    whole::MapRow row{m.in.data, m.out.data, entries.data.add_bytes(m.step.coef), {}};
    if (m.step.table) {
      const auto [found, fresh] = tables.try_emplace(m.step.shared.get());
      if (fresh) found->second = entries.data.add_bytes(m.step.table());
      row.table = found->second;
    }
    entries.add(m.out.volume()) = row;
  }
  const Map& first = maps_[0];
  to.add(
      {"map.h", fmt::format("map<{}, {}, Rule>", element(first.in.dtype), element(first.out.dtype)), first.step.text()},
      entries, kStageThreads);
}

}  // namespace penstock
