// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "cuda/runtime/driver.h"
#include "device/batch_decoder.h"

namespace penstock {

// Combines two decoders: files of `format` go to `other`, all others to `first`, whose name, lanes and regions it has.
// Regions go to `other` too, so it must accept them if the first does.
std::unique_ptr<BatchDecoder> decoder_by_format(std::unique_ptr<BatchDecoder> first,
                                                std::unique_ptr<BatchDecoder> other, const char* format);

// `first`, combined with JPEG 2000 by nvJPEG2000 and TIFF by nvTIFF if those are installed. Null if `first` is null.
std::unique_ptr<BatchDecoder> with_other_formats(std::unique_ptr<BatchDecoder> first, Driver& driver, int device);

}  // namespace penstock
