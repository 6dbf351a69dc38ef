// SPDX-License-Identifier: Apache-2.0
#include "exec/gpu_room.h"

#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "exec/step_context.h"

namespace penstock {
namespace {

size_t read_ahead_bytes(const GpuWork& gpu) {
  constexpr size_t kLeast = size_t{2} << 30, kMost = size_t{8} << 30;
  return std::clamp(gpu.runtime().memory_bytes(gpu.device()) / 24, kLeast, kMost);
}

}  // namespace

// One more than the prefetch: a host that is as fast as the device need not wait for it.
GpuRoom::GpuRoom(GpuWork& gpu, int depth, bool decodes, std::function<void()> made_room)
    : gpu_(gpu),
      most_(depth + 1),
      decodes_(decodes),
      made_room_(std::move(made_room)),
      read_ahead_bytes_(read_ahead_bytes(gpu)) {}

// Iterations that have begun there go on, so it never waits for itself. Beyond the prefetch a decoder is fed only while
// its pictures take little memory.
bool GpuRoom::is_full(bool ahead) const {
  std::lock_guard lock(mutex_);
  return inside_ >= most_ || (ahead && gpu_.bytes_in_use() >= read_ahead_bytes_);
}

void GpuRoom::enter(Iteration& it) {
  if (std::exchange(it.on_gpu, true)) return;
  std::lock_guard lock(mutex_);
  ++inside_;
}

void GpuRoom::leave(Iteration& it, const Plan& plan) {
  std::shared_ptr<DeviceEvent> written;
  if (auto error = error_of([&] { written = gpu_.runtime().record(gpu_.device(), it.stream); }))
    fail_iteration(it, std::move(*error), nullptr);
  if (written && !it.failure && !it.no_memory && !it.end_of_data)
    for (const auto& v : plan.graph.outputs())
      if (Batch& b = it.values.at(v); b.device().kind == DeviceKind::gpu) b.ready = written;
  it.on_gpu = false;
  std::lock_guard lock(mutex_);
  leaving_.push_back({it.number, it.stream, std::move(written)});
}

bool GpuRoom::forget(uint64_t number) {
  std::lock_guard lock(mutex_);
  const auto gone = std::erase_if(leaving_, [&](const Leaving& l) { return l.number == number; });
  inside_ -= static_cast<int>(gone);
  return gone > 0;
}

// A call from the device costs as much as a launch: one is requested only where all of its places are taken, or
// where a decoder waits for memory.
std::optional<GpuRoom::Leaving> GpuRoom::one_to_ask() {
  std::lock_guard lock(mutex_);
  if (inside_ < most_ && !decodes_) return std::nullopt;
  const auto next = std::find_if(leaving_.begin(), leaving_.end(), [](const Leaving& l) { return !l.asked; });
  if (next == leaving_.end()) return std::nullopt;
  next->asked = true;
  return *next;
}

void GpuRoom::look() {
  std::vector<Leaving> known;
  {
    std::lock_guard lock(mutex_);
    known = leaving_;
  }
  bool some = false;
  for (const Leaving& l : known) {
    bool done = !l.done;
    if (!done && error_of([&] { done = l.done->done(); })) done = true;  // of a device that has failed
    if (done) some |= forget(l.number);
  }
  if (some) made_room_();
  const auto ask = one_to_ask();
  if (!ask) return;
  const auto passed = [this, number = ask->number] {
    forget(number);
    made_room_();
  };
  if (error_of([&] { gpu_.notify(ask->stream, passed); })) passed();
}

}  // namespace penstock
