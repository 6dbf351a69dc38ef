// SPDX-License-Identifier: Apache-2.0
// NVIDIA's libraries that are found at run time: NVRTC, nvJPEG, nvJPEG2000, nvTIFF.
#pragma once
#include <initializer_list>
#include <string>

namespace penstock {

// Opens the first of `names` ("libnvjpeg.so.13") that is found: in the folders of PENSTOCK_NVIDIA_LIBS (separated by
// colons), where the system's loader looks (a library that the process has loaded already is found so), in the wheels
// beside this library (nvidia/*/lib), in /usr/local/cuda. Null with the reason in `why`. Never closed.
void* open_nvidia_library(std::initializer_list<const char*> names, std::string& why);

}  // namespace penstock
