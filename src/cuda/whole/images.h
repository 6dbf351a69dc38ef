// SPDX-License-Identifier: Apache-2.0
// Groups of threads that take parts of images together, collected as the steps of device_work.h.
#pragma once
#include "cuda/whole/launches.h"
#include "operator/image_work.h"

namespace penstock {

class DeviceImages : public ImageWork {
 public:
  explicit DeviceImages(Launches& launches) : image_launches_(launches) {}
  void groups(const View& in, GroupStep step) override {
    if (steps_.size() <= phase_) steps_.resize(phase_ + 1);
    steps_[phase_++].push_back({in, std::move(step)});
  }
  void* scratch(size_t bytes) override { return image_launches_.scratch(bytes); }

 protected:
  void next_image() { phase_ = 0; }
  void enqueue_groups(Launches& to) const;

 private:
  struct One {
    View in;
    GroupStep step;
  };
  Launches& image_launches_;
  size_t phase_ = 0;
  std::vector<std::vector<One>> steps_;
};

}  // namespace penstock
