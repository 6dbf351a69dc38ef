// SPDX-License-Identifier: Apache-2.0
#include "exec/admission.h"

#include <algorithm>
#include <utility>

namespace penstock {

void Admission::open_gpu(bool decodes, std::function<void()> made_room) {
  gpu_room_ = std::make_unique<GpuRoom>(*context_.gpu, context_.depth, decodes, std::move(made_room));
}

Room Admission::room_for(const Iteration& it, const StepRunner& step, size_t position, bool wanted) {
  const StepRules& rules = step.rules;
  const auto prefetch = static_cast<size_t>(std::max(1, context_.options.prefetch));
  if (step.step.gpu && !it.on_gpu && gpu_room_->is_full(rules.fed_ahead && position >= prefetch)) return Room::full;
  if (!rules.allocates || wanted) return Room::yes;
  const bool limited = context_.options.memory_limit && position > 0;
  const Room refused = rules.in_order || limited ? Room::later : Room::soon;
  if (limited && bytes_in_use() >= context_.options.memory_limit) return refused;
  if (!rules.makes_output || refills) return Room::yes;
  // A decoder is fed as far ahead as it likes: GpuRoom says when that is enough.
  const int most = rules.fed_ahead ? context_.depth : static_cast<int>(prefetch);
  return context_.outputs.has_room(most + 1) ? Room::yes : refused;
}

void Admission::enter(Iteration& it, const StepRunner& step) {
  if (step.step.gpu) gpu_room_->enter(it);
}

void Admission::leave(Iteration& it) { gpu_room_->leave(it, context_.plan); }
void Admission::look() { gpu_room_->look(); }

size_t Admission::device_bytes_in_use() const {
  size_t bytes = context_.gpu ? context_.gpu->bytes_in_use() : 0;
  for (const auto& step : steps) bytes += step->bytes_in_use();
  return bytes;
}

size_t Admission::bytes_in_use() const {
  return (pool_ ? pool_->bytes_in_use() : 0) + device_bytes_in_use() +
         (context_.gpu ? context_.gpu->staging_bytes_in_use() : 0);
}

}  // namespace penstock
