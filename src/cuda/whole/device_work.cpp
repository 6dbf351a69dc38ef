// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/device_work.h"

namespace penstock {

void DeviceWork::enqueue(Launches& to) const {
  for (const Phase& p : phases_) {
    enqueue_copies(p.copies, to);
    enqueue_fills(p.fills, to);
    enqueue_kernels(p.kernels, to);
  }
  enqueue_draws(draws_, to);
  enqueue_reductions(reductions_, to);
  enqueue_normalize(normalized_, to);
  enqueue_axis_maps(axis_maps_, to);
  for (const auto& phase : groups_) enqueue_groups(phase, to);
  enqueue_maxima(maxima_, to);
  enqueue_transforms(transforms_, to);
  enqueue_regions(regions_, to);
  enqueue_maps(maps_, to);
}

}  // namespace penstock
