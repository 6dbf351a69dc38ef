// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "cuda/runtime/driver.h"

namespace penstock {

// What decodes images on this device: our decoder on the multiprocessors, or nvJPEG's hardware (in the emulated
// library: the CPU); with it JPEG 2000 by nvJPEG2000 and TIFF by nvTIFF where those are installed. Null where there is
// none; then `why` says so.
std::unique_ptr<BatchDecoder> make_batch_decoder(Driver& driver, int device, DecodeEngine engine, std::string& why);

}  // namespace penstock
