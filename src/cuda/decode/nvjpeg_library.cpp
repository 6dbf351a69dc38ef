// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg_library.h"

#include <iterator>

#include "base/error.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock::nvjpeg {
namespace {

struct Loaded {
  Library functions;
  OptionalLibrary library{"nvJPEG",
                          "PENSTOCK_NVJPEG",
                          "pip install nvidia-nvjpeg, or set PENSTOCK_NVIDIA_LIBS to its folder",
                          {"libnvjpeg.so.13", "libnvjpeg.so.12"}};

  Loaded() {
    library.find(functions.create, "nvjpegCreateEx");
    library.find(functions.destroy, "nvjpegDestroy");
    library.find(functions.state_create, "nvjpegJpegStateCreate");
    library.find(functions.state_destroy, "nvjpegJpegStateDestroy");
    library.find(functions.batched_initialize, "nvjpegDecodeBatchedInitialize");
    library.find(functions.batched_decode, "nvjpegDecodeBatched");
  }
};

}  // namespace

const char* status_string(Status status) {
  constexpr const char* kWords[] = {"success",
                                    "not initialized",
                                    "invalid parameter",
                                    "damaged JPEG file",
                                    "unsupported kind of JPEG file",
                                    "out of memory",
                                    "execution failed",
                                    "unsupported kind of GPU",
                                    "internal error",
                                    "not implemented on this machine",
                                    "the file ends too early"};
  const int i = static_cast<int>(status);
  return i >= 0 && i < static_cast<int>(std::size(kWords)) ? kWords[i] : "unknown status";
}

const Library* library(std::string& why) {
  static const auto* loaded = new Loaded;
  why = loaded->library.why_not();
  return why.empty() ? &loaded->functions : nullptr;
}

}  // namespace penstock::nvjpeg
