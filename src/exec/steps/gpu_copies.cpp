// SPDX-License-Identifier: Apache-2.0
#include "exec/steps/gpu_copies.h"

#include "batch/memory_reuse.h"
#include "batch/transfer.h"

namespace penstock {

Batch of_same_shapes(const Batch& b) {
  Batch like(b.dtype(), b.ndim(), b.layout(), b.size());
  for (int i = 0; i < b.size(); ++i) like.sample(i).shape = b.shape(i), like.sample(i).source = b.sample(i).source;
  return like;
}

Batch to_gpu(const StepContext& c, Iteration& it, const Batch& from, bool output) {
  const int gpu = c.gpu->device();
  if (from.device().kind == DeviceKind::gpu) {
    if (from.device().id != gpu) return copy_to(from, {DeviceKind::gpu, static_cast<int16_t>(gpu)}, it.stream);
    return taken_over(from, it.stream);
  }
  Batch staged = of_same_shapes(from), to = staged;
  staged.allocate(c.gpu->pinned(), it.stream);
  to.allocate(c.gpu_memory(it, output), it.stream);
  for (int i = 0; i < from.size(); ++i) copy_strided(from.view(i), staged.view(i)), clear_gap_after(staged, i);
  c.gpu->copy(staged, to, it.stream);
  return to;
}

Batch to_host(const StepContext& c, Iteration& it, const Batch& from, bool output) {
  Batch to = of_same_shapes(from);
  to.allocate(c.pinned_memory(it, output), it.stream);
  c.gpu->copy(from, to, it.stream);
  to.stream = nullptr;  // it is there before anybody sees it
  it.must_land = true;
  return to;
}

}  // namespace penstock
