// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "cuda/runtime/driver.h"
#include "device/batch_decoder.h"

namespace penstock {

// The decoder for images on this device: our decoder on the multiprocessors, or nvJPEG's hardware (in the emulated
// library: the CPU); with it JPEG 2000 by nvJPEG2000 and TIFF by nvTIFF if those are installed. Null if there is none;
// `why` then says why.
std::unique_ptr<BatchDecoder> make_batch_decoder(Driver& driver, int device, DecodeEngine engine, std::string& why);

}  // namespace penstock
