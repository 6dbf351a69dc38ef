// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg_library.h"

#include "cuda/runtime/nvidia_library.h"

namespace penstock::nvjpeg {

std::string status_string(Status status) {
  constexpr const char* kOthers[] = {"not implemented on this machine", "the file ends too early"};
  return penstock::status_string(status, "JPEG", kOthers);
}

const Library* library(std::string& why) {
  static const auto* loaded = new OptionalFunctions<Library>(
      open_nvidia_library("nvJPEG", "PENSTOCK_NVJPEG",
                          "pip install nvidia-nvjpeg, or name its folder in PENSTOCK_NVIDIA_LIBS",
                          {"libnvjpeg.so.13", "libnvjpeg.so.12"}),
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
