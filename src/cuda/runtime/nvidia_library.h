// SPDX-License-Identifier: Apache-2.0
// NVIDIA's libraries that are loaded at run time: NVRTC, nvJPEG, nvJPEG2000, nvTIFF, cuFile, the driver's video
// decoder.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/optional_library.h"
#include "base/settings.h"

namespace penstock {

// Opens the first of `names` ("libnvjpeg.so.13") that is found: in the folders of PENSTOCK_NVIDIA_LIBS (separated by
// colons), where the system's loader searches (this includes libraries that the process has already loaded), in the
// wheels beside this library (nvidia/*/lib), in /usr/local/cuda and its sisters of one major version. Null with the
// reason in `why`. Never closed.
void* open_nvidia_library(const std::vector<const char*>& names, std::string& why);
// Whether what lies in a folder may work on the driver: one that is named after a newer CUDA holds nothing for it.
bool folder_fits(const std::filesystem::path& folder, int driver);

// The same for one that the setting can turn "off". `title` is for messages, `advice` says how to install the library.
OptionalLibrary open_nvidia_library(const char* title, Setting setting, const std::string& advice,
                                    const std::vector<const char*>& names);

}  // namespace penstock
