// SPDX-License-Identifier: Apache-2.0
// What a thread of a pipeline keeps from one task to the next.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "codecs/jpeg/index_store_access.h"
#include "cpu/stage.h"

namespace penstock {

struct Worker {
  static constexpr int kMostTogether = 2;  // samples of a stage that a thread takes at once
  std::unique_ptr<CpuScratch> scratch = std::make_unique<CpuScratch>();
  std::vector<uint8_t> file[kMostTogether];
  std::unique_ptr<RecordIndexAccess> index[kMostTogether];  // where there is a store
  std::array<size_t, kMostTogether> weights{};              // bytes of the files of the task; 0: not known

  // How much of the time of the task each of its samples took: that is known only of their files.
  std::array<double, kMostTogether> shares(int count) const {
    std::array<double, kMostTogether> made{1.0, 0.0};
    if (count != kMostTogether) return made;
    const bool known = weights[0] > 0 && weights[1] > 0;
    made[0] = known ? static_cast<double>(weights[0]) / static_cast<double>(weights[0] + weights[1]) : 0.5;
    made[1] = 1.0 - made[0];
    return made;
  }
};

}  // namespace penstock
