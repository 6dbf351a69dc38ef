// SPDX-License-Identifier: Apache-2.0
// Immediate calls that decode on a GPU.
#pragma once
#include "exec/call.h"

namespace penstock {

// Whether a decoder of that GPU works for this call. Throws where the call names one that is not there.
bool has_gpu_decoder(const OpInfo& info, std::span<const Argument> args, int gpu);
// Whether it asks for the CPU.
bool asks_for_cpu(const OpInfo& info, std::span<const Argument> args);

// The pictures of the files in `encoded`, on the host, as they lie on place.stream of place.gpu behind this call; what
// the decoder declines or fails on the CPU decodes. With a window of the operator's own, just that has memory
// (exec/decoded_region.h): the operator goes on as a stage. Waits on the host for a decoder that finds damage while it
// decodes. Throws the error of the first sample that has one.
Batch decode_on_gpu(const OpInfo& info, const Batch& encoded, std::span<const Argument> args,
                    const SampleContext& context, const CallPlace& place);

}  // namespace penstock
