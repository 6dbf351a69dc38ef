// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/device_work.h"

#include "base/error_of.h"

namespace penstock {

constexpr size_t kRefusals = 256;

void DeviceWork::ask(KernelStep& step) {
  constexpr size_t kBytes = kRefusals * sizeof(Refusal);
  if (asked_.size() % kRefusals == 0) {
    refusals_.push_back(static_cast<Refusal*>(scratch(kBytes)));
    launches_.driver().set_zero(launches_.device(), refusals_.back(), kBytes, launches_.stream());
  }
  Refusal* const own = refusals_.back() + asked_.size() % kRefusals;
  std::memcpy(step.row.data() + step.refusal_member, &own, sizeof own);
  asked_.push_back({sample_, step.refused});
}

void DeviceWork::settle(const std::function<void(int sample, Error)>& refuse) const {
  if (asked_.empty()) return;
  Driver& driver = launches_.driver();
  std::vector<Refusal> found(asked_.size());
  for (size_t k = 0; k < refusals_.size(); ++k) {
    const size_t first = k * kRefusals, count = std::min(kRefusals, found.size() - first);
    driver.copy(launches_.device(), found.data() + first, refusals_[k], count * sizeof(Refusal), launches_.stream());
  }
  driver.synchronize(launches_.device(), launches_.stream());
  int last = -1;  // a sample ends with the first of its errors
  for (size_t k = 0; k < found.size(); ++k) {
    if (found[k].what == 0 || asked_[k].sample == last) continue;
    if (auto error = error_of([&] { asked_[k].refused(found[k]); })) refuse(last = asked_[k].sample, std::move(*error));
  }
}

void DeviceWork::enqueue(Launches& to) const {
  for (const Phase& p : phases_) {
    enqueue_copies(p.copies, to);
    enqueue_fills(p.fills, to);
    enqueue_kernels(p.kernels, to);
    enqueue_draws(p.draws, to);
    enqueue_reductions(p.reductions, to);
    enqueue_normalize(p.normalized, to);
    enqueue_axis_maps(p.axis_maps, to);
    for (const auto& calls : p.groups) enqueue_groups(calls, to);
    enqueue_maxima(p.maxima, to);
    enqueue_transforms(p.transforms, to);
    enqueue_regions(p.regions, to);
    enqueue_maps(p.maps, to);
  }
}

}  // namespace penstock
