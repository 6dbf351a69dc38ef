// SPDX-License-Identifier: Apache-2.0
// NVIDIA's libraries that are found at run time: NVRTC, nvJPEG, nvJPEG2000, nvTIFF, cuFile, the driver's video decoder.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>

#include "base/optional_library.h"
#include "base/settings.h"

namespace penstock {

// Opens the first of `names` ("libnvjpeg.so.13") that is found: in the folders of PENSTOCK_NVIDIA_LIBS (separated by
// colons), where the system's loader looks (a library that the process has loaded already is found so), in the wheels
// beside this library (nvidia/*/lib), in /usr/local/cuda. Null with the reason in `why`. Never closed.
void* open_nvidia_library(std::initializer_list<const char*> names, std::string& why);

// The same for one that the setting can switch "off". `title` stands in messages, `advice` says how the library comes
// to a machine.
OptionalLibrary open_nvidia_library(const char* title, Setting setting, const char* advice,
                                    std::initializer_list<const char*> names);

// What a decoder's library means by a status; `words` begins with that of 0.
template <class Status, size_t N>
const char* words_of(Status status, const char* const (&words)[N]) {
  const auto i = static_cast<size_t>(status);  // a negative one becomes large
  return i < N ? words[i] : "an unknown status";
}

}  // namespace penstock
