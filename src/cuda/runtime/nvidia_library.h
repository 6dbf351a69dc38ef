// SPDX-License-Identifier: Apache-2.0
// NVIDIA's libraries that are loaded at run time: NVRTC, nvJPEG, nvJPEG2000, nvTIFF, cuFile, the driver's video
// decoder.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>

#include "base/optional_library.h"
#include "base/settings.h"

namespace penstock {

// Opens the first of `names` ("libnvjpeg.so.13") that is found: in the folders of PENSTOCK_NVIDIA_LIBS (separated by
// colons), where the system's loader searches (this includes libraries that the process has already loaded), in the
// wheels beside this library (nvidia/*/lib), in /usr/local/cuda. Null with the reason in `why`. Never closed.
void* open_nvidia_library(std::initializer_list<const char*> names, std::string& why);

// The same for one that the setting can turn "off". `title` is for messages, `advice` says how to install the library.
OptionalLibrary open_nvidia_library(const char* title, Setting setting, const char* advice,
                                    std::initializer_list<const char*> names);

}  // namespace penstock
