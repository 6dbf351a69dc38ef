// SPDX-License-Identifier: Apache-2.0
// How many iterations have work on a GPU, and how one leaves it. A thread never waits for the device.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "exec/gpu_work.h"
#include "exec/iteration.h"

namespace penstock {

class GpuRoom {
 public:
  // depth: iterations that are in flight at most. decodes: a decoder may wait for memory. made_room: called, without a
  // lock, when one has left.
  GpuRoom(GpuWork& gpu, int depth, bool decodes, std::function<void()> made_room);

  // Whether no other iteration may begin there. ahead: one after the prefetch, with pictures to decode.
  bool is_full(bool ahead) const;
  void enter(Iteration& it);
  void leave(Iteration& it, const Plan& plan);  // nothing more is enqueued
  void look();                                  // at the device: what it has done makes room

 private:
  struct Leaving {
    uint64_t number;
    StreamHandle stream;
    std::shared_ptr<DeviceEvent> done;  // null: nothing to wait for
    bool asked = false;                 // the device tells when it is done
  };
  bool forget(uint64_t number);
  std::optional<Leaving> one_to_ask();

  GpuWork& gpu_;
  const int most_;
  const bool decodes_;
  const std::function<void()> made_room_;
  const size_t read_ahead_bytes_;  // of the GPU, beyond which iterations after the prefetch begin no decoding
  mutable std::mutex mutex_;
  int inside_ = 0;                // iterations whose device work is not known to be done
  std::vector<Leaving> leaving_;  // those of them for which nothing more is enqueued
};

}  // namespace penstock
