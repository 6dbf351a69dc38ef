// SPDX-License-Identifier: Apache-2.0
// Whether an iteration may begin a step now: for the pipeline's memory, the batches that the user holds, the GPU.
#pragma once
#include <memory>

#include "base/memory.h"
#include "exec/gpu_room.h"
#include "exec/steps/step_runner.h"

namespace penstock {

class Admission {
 public:
  // pool: where memory is a pool of the pipeline's own, or null.
  Admission(StepContext& context, const HostPool* pool) : context_(context), pool_(pool) {}

  void open_gpu(bool decodes, std::function<void()> made_room);
  // position: of the iteration among those in flight. wanted: somebody waits for it alone.
  Room room_for(const Iteration& it, const StepRunner& step, size_t position, bool wanted);
  void enter(Iteration& it, const StepRunner& step);
  void leave(Iteration& it);           // the GPU, after its last step
  void look();                         // at the GPU: what it has done makes room
  size_t device_bytes_in_use() const;  // that decoders have taken for themselves included

  std::span<const std::unique_ptr<StepRunner>> steps;
  bool refills = false;  // samples wait for a full batch: those of outputs have no limit

 private:
  size_t bytes_in_use() const;

  StepContext& context_;
  const HostPool* const pool_;
  std::unique_ptr<GpuRoom> gpu_room_;
};

}  // namespace penstock
