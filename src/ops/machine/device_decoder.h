// SPDX-License-Identifier: Apache-2.0
// Operators that read on the host and whose first output an engine of the GPU writes: decoders of video, and readers
// that decode it.
#pragma once
#include "base/gpu.h"
#include "ops/machine/bound_op.h"

namespace penstock {

struct DevicePlace {
  int device = 0;
  StreamHandle stream = nullptr;
};
// As BoundOp::run of one sample, its output on the device. Null: of a source, which writes itself.
using DecodeToDevice = void (*)(BoundOp& op, const SampleContext& s, std::span<const View> in, const View& out,
                                const DevicePlace& place);
void register_device_decoder(const std::string& op, DecodeToDevice decode);
bool decodes_to_device(const std::string& op);
DecodeToDevice device_decoder(const std::string& op);

}  // namespace penstock
