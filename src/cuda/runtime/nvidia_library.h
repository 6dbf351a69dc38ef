// SPDX-License-Identifier: Apache-2.0
// NVIDIA's libraries that are loaded at run time: NVRTC, nvJPEG, nvJPEG2000, nvTIFF, cuFile, the driver's video
// decoder.
#pragma once
#include <initializer_list>
#include <string>
#include <type_traits>

#include "base/settings.h"

namespace penstock {

// Opens the first of `names` ("libnvjpeg.so.13") that is found: in the folders of PENSTOCK_NVIDIA_LIBS (separated by
// colons), where the system's loader searches (this includes libraries that the process has already loaded), in the
// wheels beside this library (nvidia/*/lib), in /usr/local/cuda. Null with the reason in `why`. Never closed.
void* open_nvidia_library(std::initializer_list<const char*> names, std::string& why);

// A library that Penstock does without if it is not found, or if the setting is "off".
class OptionalLibrary {
 public:
  // `title` is for messages, `advice` says how to install the library.
  OptionalLibrary(const char* title, Setting setting, const char* advice, std::initializer_list<const char*> names);
  template <class F> void find(F& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<F>>(address(name));
  }
  const std::string& why_not() const { return why_; }  // empty: it is loaded, and all functions were found

 private:
  void* address(const char* name);
  const char* title_;
  void* file_ = nullptr;
  std::string why_;
};

}  // namespace penstock
