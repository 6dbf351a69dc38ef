// SPDX-License-Identifier: Apache-2.0
// Groups of threads that process parts of images together, collected like the steps of device_work.h.
#pragma once
#include "cuda/whole/launches.h"
#include "operator/image_work.h"

namespace penstock {

class DeviceImages {
 public:
  void groups(const View& in, GroupStep step) {
    if (steps_.size() <= phase_) steps_.resize(phase_ + 1);
    steps_[phase_++].push_back({in, std::move(step)});
  }
  void next_sample() { phase_ = 0; }
  void enqueue(Launches& to) const;

 private:
  struct One {
    View in;
    GroupStep step;
  };
  size_t phase_ = 0;
  std::vector<std::vector<One>> steps_;
};

}  // namespace penstock
