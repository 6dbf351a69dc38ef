// SPDX-License-Identifier: Apache-2.0
#include "exec/replays.h"

#include <utility>

namespace penstock {

void Replays::begin(std::vector<DrawOrigin> origins, uint64_t number) {
  std::lock_guard lock(mutex_);
  origins_ = std::move(origins);
  replayed_ = 0, first_ = number;
}

void Replays::begin_at(uint64_t number) {
  std::lock_guard lock(mutex_);
  replayed_ = 0, first_ = number;
}

void Replays::set(Iteration& it) {
  std::lock_guard lock(mutex_);
  if (origins_.empty()) return;
  for (SampleOrigin& o : it.origin) o.replays = origins_[replayed_++ % origins_.size()];
}

void Replays::set(Iteration& it, int batch_size) {
  std::lock_guard lock(mutex_);
  if (origins_.empty()) return;
  uint64_t k = (it.number - first_) * static_cast<uint64_t>(batch_size);
  for (SampleOrigin& o : it.origin) o.replays = origins_[k++ % origins_.size()];
}

void Replays::skip(int samples) {
  std::lock_guard lock(mutex_);
  replayed_ += static_cast<uint64_t>(samples);
}

}  // namespace penstock
