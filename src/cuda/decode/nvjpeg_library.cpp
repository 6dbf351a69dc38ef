// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg_library.h"

#include "cuda/runtime/driver_version.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock::nvjpeg {

std::string status_string(Status status) {
  constexpr const char* kOthers[] = {"not implemented on this machine", "the file ends too early"};
  return penstock::status_string(status, "JPEG", kOthers);
}

const Library* library(std::string& why) {
  static const auto* loaded = new OptionalFunctions<Library>(
      open_nvidia_library("nvJPEG", "PENSTOCK_NVJPEG", install_advice(driver_version()),
                          names_that_fit({"libnvjpeg.so.13", "libnvjpeg.so.12"}, driver_version())),
      [](OptionalLibrary& library, Library& f) {
        library.find(f.create, "nvjpegCreateEx");
        library.find(f.destroy, "nvjpegDestroy");
        library.find(f.state_create, "nvjpegJpegStateCreate");
        library.find(f.state_destroy, "nvjpegJpegStateDestroy");
        library.find(f.batched_initialize, "nvjpegDecodeBatchedInitialize");
        library.find(f.batched_decode, "nvjpegDecodeBatched");
      });
  return loaded->get(why);
}

}  // namespace penstock::nvjpeg
