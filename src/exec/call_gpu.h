// SPDX-License-Identifier: Apache-2.0
// Immediate calls on a GPU.
#pragma once
#include "exec/call.h"

namespace penstock {

// The part of call_op for a GPU: what it has checked and sorted, enqueued on place.stream of GPU place.gpu. Inputs that
// lie elsewhere are copied there. Stages run there, what has no kernel on the CPU (place.on_host). The results lie on
// the GPU with `ready` set; the extents of StageProgram::sizes lie on the host. Waits on the host only for what has no
// kernel.
std::vector<Batch> call_on_gpu(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                               const SampleContext& context, int batch_size, std::span<const Batch* const> into,
                               CallPlace& place);

}  // namespace penstock
