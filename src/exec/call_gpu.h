// SPDX-License-Identifier: Apache-2.0
// Immediate calls on a GPU.
#pragma once
#include "exec/call.h"

namespace penstock {

// The part of call_op for a GPU: enqueues checked and sorted arguments on place.stream of GPU place.gpu. Inputs on
// another device are copied there. Stages run on the GPU; operators without a kernel run on the CPU (place.on_host).
// The results are on the GPU with `ready` set; the extents of StageProgram::sizes are on the host. The host waits only
// for operators without a kernel.
std::vector<Batch> call_on_gpu(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                               const SampleContext& context, int batch_size, std::span<const Batch* const> into,
                               CallPlace& place);

}  // namespace penstock
