// SPDX-License-Identifier: Apache-2.0
// What a thread of a pipeline keeps from one task to the next.
#pragma once
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
  int64_t read_ns = 0;                                      // of the task: for files
};

}  // namespace penstock
