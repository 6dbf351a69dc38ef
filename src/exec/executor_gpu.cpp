// SPDX-License-Identifier: Apache-2.0
// How many iterations are on a GPU, and how one leaves it. A worker thread never waits for the device.
#include <algorithm>

#include "base/error_of.h"
#include "exec/executor.h"

namespace penstock {

// Enough is enqueued: one more than the prefetch, so that a host that is as fast as the device need not wait for it.
// Iterations that have begun there go on, so it never waits for itself. Beyond the prefetch a decoder is fed only while
// its pictures take little memory.
bool Executor::gpu_is_full(const Iteration& it, size_t position) const {
  const StepRunner& step = current(it);
  if (!step.step.gpu || it.on_gpu) return false;
  return on_gpu_ >= most_on_gpu() ||
         (step.rules.fed_ahead && position >= static_cast<size_t>(std::max(1, options.prefetch)) &&
          gpu_->bytes_in_use() >= read_ahead_bytes_);
}

std::shared_ptr<DeviceEvent> Executor::leave_gpu(Iteration& it) {
  std::shared_ptr<DeviceEvent> written = gpu_->runtime().record(gpu_->device(), it.stream);
  if (it.failure || it.no_memory || it.end_of_data) return written;
  for (const auto& v : plan.graph.outputs())
    if (Batch& b = it.values.at(v); b.device().kind == DeviceKind::gpu) b.ready = written;
  return written;
}

// A call from the device costs as much as a launch: it is asked for one only where all of its places are taken, or
// where a decoder waits for memory.
void Executor::look_for_room() {
  std::vector<Leaving> known;
  {
    std::lock_guard lock(mutex_);
    known = leaving_;
  }
  std::erase_if(known, [](const Leaving& l) {
    bool done = !l.done;
    if (!done && error_of([&] { done = l.done->done(); })) done = true;  // of a device that has failed
    return !done;
  });
  std::optional<Leaving> ask;
  Wake next;
  const auto leave = [this](uint64_t number) {  // under mutex_
    const auto gone = std::erase_if(leaving_, [&](const Leaving& l) { return l.number == number; });
    on_gpu_ -= static_cast<int>(gone);
    return gone > 0;
  };
  {
    std::lock_guard lock(mutex_);
    for (const Leaving& l : known)
      if (leave(l.number)) wake_for_room(next);
    if (on_gpu_ >= most_on_gpu() || decodes_)
      for (Leaving& l : leaving_)
        if (!l.asked) {
          l.asked = true, ask = l;
          break;
        }
  }
  wake(next);
  if (!ask) return;
  const auto passed = [this, leave, number = ask->number] {
    Wake next;
    {
      std::lock_guard lock(mutex_);
      leave(number);
      wake_for_room(next);
    }
    wake(next);
  };
  if (error_of([&] { gpu_->notify(ask->stream, passed); })) passed();
}

}  // namespace penstock
