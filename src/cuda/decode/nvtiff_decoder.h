// SPDX-License-Identifier: Apache-2.0
// TIFF files through nvTIFF: 8 bits, gray or RGB with extra channels, interleaved, uncompressed or by LZW, Deflate or
// PackBits, all samples as stored. These are lossless, so the pixels are the CPU's.
#pragma once
#include "cuda/decode/nvtiff_library.h"
#include "cuda/runtime/driver.h"
#include "device/batch_decoder.h"

namespace penstock {

std::unique_ptr<BatchDecoder> make_nvtiff_decoder(const nvtiff::Library& library, Driver& driver, int device);

// Why it does not accept this file, all reasons at once; empty if it does.
std::string nvtiff_declines(std::span<const uint8_t> file, const ImageInfo& info, const DecodeParams& params,
                            const ParsedHeader& read = {});

}  // namespace penstock
