// SPDX-License-Identifier: Apache-2.0
// cuFile, loaded at run time: reads files into device memory.
#pragma once
#include "cuda/runtime/driver.h"
#include "device/direct_storage.h"

namespace penstock {

// PENSTOCK_CUFILE is the path of the library, or "off"; else it is searched for like other NVIDIA libraries
// (nvidia_library.h). Null if it is not found or does not start; `why` then says why.
std::unique_ptr<DirectStorage> make_cufile_storage(Driver& driver, std::string& why);

}  // namespace penstock
