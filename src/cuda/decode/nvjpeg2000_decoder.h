// SPDX-License-Identifier: Apache-2.0
// JPEG 2000 files through nvJPEG2000. Takes what it decodes straight to the pixels that the CPU gives: 8 bits, no
// palette, no sYCC, no smaller components, all components as they are stored. Reversibly coded files then have the
// CPU's pixels, irreversible ones those of its own arithmetic.
#pragma once
#include "cuda/decode/nvjpeg2000_library.h"
#include "cuda/runtime/driver.h"

namespace penstock {

std::unique_ptr<BatchDecoder> make_nvjpeg2000_decoder(const nvjpeg2000::Library& library, Driver& driver, int device,
                                                      std::string& why);

// Why it does not take this file, all reasons at once; empty where it does.
std::string nvjpeg2000_declines(std::span<const uint8_t> file, const ImageInfo& info, const DecodeParams& params);

}  // namespace penstock
