// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "cuda/driver.h"

namespace penstock {

// The engine that decodes images on this device: nvJPEG's hardware in the real library, the CPU in the emulated one. Null
// where there is none; then `why` says so.
std::unique_ptr<BatchDecoder> make_batch_decoder(Driver& driver, int device, DecodeEngine engine, std::string& why);

}  // namespace penstock
