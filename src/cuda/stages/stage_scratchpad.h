// SPDX-License-Identifier: Apache-2.0
// What a call of a stage works on, kept for the next one.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda/runtime/driver.h"
#include "cuda/stages/stage_sample.h"

namespace penstock {

struct StageScratchpad : BatchMemory<GpuGeometry> {
  std::vector<StageEntry> group;
  std::vector<StageVariant> variants;
  std::vector<int> group_of;
  std::shared_ptr<void> table = allocate_shared(default_memory(), 4096);  // what becomes one in device memory
  size_t table_capacity = 4096;
  const std::shared_ptr<void> small = allocate_shared(default_memory(), kTableParameter);
  size_t too_many = SIZE_MAX;                                          // entries whose table did not fit into that
  StageScratchpad() { std::memset(small.get(), 0, kTableParameter); }  // a launch reads all of it
};

// As many as there are calls at once; a thread gets the one that it had last, which is in its core's caches.
struct StageScratchpads {
  struct Idle {
    std::thread::id thread;
    std::unique_ptr<StageScratchpad> pad;
  };
  std::mutex mutex;
  std::vector<Idle> idle;
};
class BorrowedScratchpad {
 public:
  explicit BorrowedScratchpad(StageScratchpads& all) : all_(all) {
    std::lock_guard lock(all_.mutex);
    if (all_.idle.empty()) return;
    auto at = std::find_if(all_.idle.begin(), all_.idle.end(), [&](const auto& i) { return i.thread == thread_; });
    if (at == all_.idle.end()) at = all_.idle.begin();  // idle for the longest time
    own_ = std::move(at->pad);
    all_.idle.erase(at);
  }
  ~BorrowedScratchpad() {
    std::lock_guard lock(all_.mutex);
    all_.idle.push_back({thread_, std::move(own_)});
  }
  StageScratchpad& operator*() {
    if (!own_) own_ = std::make_unique<StageScratchpad>();
    return *own_;
  }

 private:
  StageScratchpads& all_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::unique_ptr<StageScratchpad> own_;
};

}  // namespace penstock
