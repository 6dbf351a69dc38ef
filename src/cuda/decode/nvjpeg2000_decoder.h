// SPDX-License-Identifier: Apache-2.0
// JPEG 2000 files through nvJPEG2000. Accepts the files that it decodes directly to the pixels of the CPU's decoder: 8
// bits, no palette, no sYCC, no smaller components, all components as stored. Reversibly coded files then have the
// CPU's pixels, irreversible ones those of nvJPEG2000's own arithmetic.
#pragma once
#include "cuda/decode/nvjpeg2000_library.h"
#include "cuda/runtime/driver.h"
#include "device/batch_decoder.h"

namespace penstock {

std::unique_ptr<BatchDecoder> make_nvjpeg2000_decoder(const nvjpeg2000::Library& library, Driver& driver, int device,
                                                      std::string& why);

// Why it does not accept this file, all reasons at once; empty if it does.
std::string nvjpeg2000_declines(std::span<const uint8_t> file, const ImageInfo& info, const DecodeParams& params,
                                const ParsedHeader& read = {});

}  // namespace penstock
