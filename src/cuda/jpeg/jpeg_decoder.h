// SPDX-License-Identifier: Apache-2.0
// JPEG files decoded by the GPU's multiprocessors, entropy decoding included: "jpeg/cuda". Its bytes are those of
// jpeg/penstock, the decoder of the CPU. docs/explanation/jpeg_on_the_gpu.md says how it works.
#pragma once
#include <memory>
#include <string>

#include "cuda/runtime/driver.h"
#include "cuda/jpeg/plan.h"

namespace penstock {

// Null where kernels cannot be made; then `why` says so.
std::unique_ptr<BatchDecoder> make_jpeg_decoder(Driver& driver, int device, std::string& why,
                                                jpeg_gpu::Division division = {});

}  // namespace penstock
