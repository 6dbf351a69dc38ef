// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/images.h"

#include "cuda/whole/kernels/groups.h"

namespace penstock {

void DeviceImages::enqueue(Launches& to) const {
  for (const auto& phase : steps_) {
    EntryTable<whole::GroupRow> entries;
    for (const One& one : phase)
      entries.add(one.step.groups) = {one.in.as<const uint8_t>(), entries.data.add_bytes(one.step.coef)};
    const GroupStep& first = phase[0].step;  // one rule for all
    to.add({"groups.h", "run_groups<Rule>", first.text()}, entries, 1, first.memory);
  }
}

}  // namespace penstock
