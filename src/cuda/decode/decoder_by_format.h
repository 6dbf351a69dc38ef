// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "cuda/runtime/driver.h"

namespace penstock {

// One decoder out of two: files of `format` go to `other`, all others to `first`, whose name, lanes and regions it has.
// Regions go to `other` too, so it must take them where the first does.
std::unique_ptr<BatchDecoder> decoder_by_format(std::unique_ptr<BatchDecoder> first,
                                                std::unique_ptr<BatchDecoder> other, const char* format);

// `first` and, where they are installed, JPEG 2000 by nvJPEG2000 and TIFF by nvTIFF. Null where `first` is.
std::unique_ptr<BatchDecoder> with_other_formats(std::unique_ptr<BatchDecoder> first, Driver& driver, int device);

}  // namespace penstock
