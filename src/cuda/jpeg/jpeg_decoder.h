// SPDX-License-Identifier: Apache-2.0
// JPEG files decoded by the GPU's multiprocessors, including entropy decoding: "jpeg/cuda". Its bytes are those of
// jpeg/penstock, the decoder of the CPU. docs/explanation/jpeg_on_the_gpu.md explains how it works.
#pragma once
#include <memory>
#include <string>

#include "cuda/runtime/driver.h"
#include "cuda/jpeg/plan.h"
#include "device/batch_decoder.h"

namespace penstock {

// Null if kernels cannot be compiled; `why` then says why.
std::unique_ptr<BatchDecoder> make_jpeg_decoder(Driver& driver, int device, std::string& why,
                                                jpeg_gpu::Division division = {});

}  // namespace penstock
