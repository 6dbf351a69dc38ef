// SPDX-License-Identifier: Apache-2.0
// Operators that read on the host, while an engine of the GPU writes their first output: decoders of video, and readers
// that decode it.
#pragma once
#include "base/gpu.h"
#include "operator/bound_op.h"

namespace penstock {

struct DevicePlace {
  int device = 0;
  StreamHandle stream = nullptr;
};
// As BoundOp::run for one sample, with the output on the device. Null for a source, which writes the output itself.
using DecodeToDevice = void (*)(BoundOp& op, const SampleContext& s, std::span<const View> in, const View& out,
                                const DevicePlace& place);
void register_device_decoder(const std::string& op, DecodeToDevice decode);
bool decodes_to_device(const std::string& op);
DecodeToDevice device_decoder(const std::string& op);

}  // namespace penstock
