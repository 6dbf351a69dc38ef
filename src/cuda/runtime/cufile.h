// SPDX-License-Identifier: Apache-2.0
// cuFile, found at run time: files into device memory.
#pragma once
#include "base/direct_storage.h"
#include "cuda/runtime/driver.h"

namespace penstock {

// PENSTOCK_CUFILE names the library, or is "off"; else it is looked for as others of NVIDIA's are (nvidia_library.h).
// Null where it is not there or does not start; then `why` says so.
std::unique_ptr<DirectStorage> make_cufile_storage(Driver& driver, std::string& why);

}  // namespace penstock
