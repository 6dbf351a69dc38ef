// SPDX-License-Identifier: Apache-2.0
// An nvTIFF that is made up: it decodes on the CPU. Its counts are nvJPEG2000's stand-in's.
#pragma once
#include "cuda/decode/nvtiff_library.h"
#include "emulated_gpu/nvjpeg2000_stand_in.h"

namespace penstock {

// "decodes", "inverts" the pixels, or "fails" on every file.
const nvtiff::Library& nvtiff_stand_in(const std::string& how);

}  // namespace penstock
