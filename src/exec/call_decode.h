// SPDX-License-Identifier: Apache-2.0
// Immediate calls that decode on a GPU.
#pragma once
#include "exec/call.h"

namespace penstock {

// Whether a decoder of that GPU handles this call. Throws if the call names a decoder that is not available.
bool has_gpu_decoder(const OpInfo& info, std::span<const Argument> args, int gpu);
// Whether the call requests the CPU.
bool asks_for_cpu(const OpInfo& info, std::span<const Argument> args);

// The pictures of the files in `encoded`, which is on the host, as work on place.stream of place.gpu. The CPU decodes
// what the decoder declines or fails on. With a window of the operator's own, only that has memory
// (exec/decoded_region.h): the operator continues as a stage. The host waits for a decoder that detects damage while it
// decodes. Throws the error of the first sample that has one.
Batch decode_on_gpu(const OpInfo& info, const Batch& encoded, std::span<const Argument> args,
                    const SampleContext& context, const CallPlace& place);

}  // namespace penstock
