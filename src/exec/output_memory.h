// SPDX-License-Identifier: Apache-2.0
// Memory of what a pipeline hands out, and how many iterations have such memory.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "exec/iteration.h"
#include "exec/pipeline.h"

namespace penstock {

class OutputMemory {
 public:
  // `room`: called when an iteration's memory is free, if somebody waits for it.
  OutputMemory(const PipelineOptions& options, std::function<void()> room);
  ~OutputMemory() { close(); }  // batches in the user's hands outlive it
  OutputMemory(const OutputMemory&) = delete;
  OutputMemory& operator=(const OutputMemory&) = delete;

  void close();  // `room` is called no more

  // All output memory of an iteration keeps it.
  std::shared_ptr<void> token(Iteration& it);
  std::shared_ptr<void> take(Iteration& it, size_t bytes);
  // Error (out_of_memory) where one batch of so many bytes is more than the pipeline may take, before it is made.
  void check(size_t bytes) const;
  void check(std::span<const Batch> batches) const;
  // Whether fewer iterations than `most` have output memory; if not, `room` is called when that may have changed.
  bool has_room(int most);
  // For one who found no room: true if he must look again, since nobody was asked to tell him.
  bool ask() { return !slots_->wanted.exchange(true); }

 private:
  struct Slots {
    std::mutex mutex;
    std::function<void()> room;  // null: the pipeline has ended
    std::atomic<bool> wanted{false};
    int alive = 0;
  };
  struct Token;
  const PipelineOptions& options_;
  std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
};

}  // namespace penstock
