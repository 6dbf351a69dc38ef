// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "cuda/driver.h"

namespace penstock {

// One decoder out of two: files of `format` go to `other`, all others to `first`, whose name, lanes and regions it has.
// Regions go to `other` too, so it must take them where the first does.
std::unique_ptr<BatchDecoder> decoder_by_format(std::unique_ptr<BatchDecoder> first, std::unique_ptr<BatchDecoder> other,
                                                const char* format);

// `first` and, where nvJPEG2000 is installed and begins, JPEG 2000 by that. Null where `first` is.
std::unique_ptr<BatchDecoder> with_nvjpeg2000(std::unique_ptr<BatchDecoder> first, Driver& driver, int device);

}  // namespace penstock
