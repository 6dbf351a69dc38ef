// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg2000_library.h"

#include <iterator>

#include "base/error.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock::nvjpeg2000 {
namespace {

struct Loaded {
  Library functions;
  OptionalLibrary library{"nvJPEG2000",
                          "PENSTOCK_NVJPEG2000",
                          "pip install nvidia-nvjpeg2k-cu13, or set PENSTOCK_NVIDIA_LIBS to its folder",
                          {"libnvjpeg2k.so.0"}};

  Loaded() {
    library.find(functions.create, "nvjpeg2kCreateSimple");
    library.find(functions.destroy, "nvjpeg2kDestroy");
    library.find(functions.state_create, "nvjpeg2kDecodeStateCreate");
    library.find(functions.state_destroy, "nvjpeg2kDecodeStateDestroy");
    library.find(functions.parsed_create, "nvjpeg2kStreamCreate");
    library.find(functions.parsed_destroy, "nvjpeg2kStreamDestroy");
    library.find(functions.parse, "nvjpeg2kStreamParse");
    library.find(functions.image_info, "nvjpeg2kStreamGetImageInfo");
    library.find(functions.component_info, "nvjpeg2kStreamGetImageComponentInfo");
    library.find(functions.params_create, "nvjpeg2kDecodeParamsCreate");
    library.find(functions.params_destroy, "nvjpeg2kDecodeParamsDestroy");
    library.find(functions.set_area, "nvjpeg2kDecodeParamsSetDecodeArea");
    library.find(functions.set_format, "nvjpeg2kDecodeParamsSetOutputFormat");
    library.find(functions.decode, "nvjpeg2kDecodeImage");
  }
};

}  // namespace

const char* status_string(Status status) {
  constexpr const char* kWords[] = {"success",
                                    "not initialized",
                                    "invalid parameter",
                                    "damaged JPEG 2000 file",
                                    "unsupported kind of JPEG 2000 file",
                                    "out of memory",
                                    "execution failed",
                                    "unsupported kind of GPU",
                                    "internal error",
                                    "not implemented on this machine"};
  const int i = static_cast<int>(status);
  return i >= 0 && i < static_cast<int>(std::size(kWords)) ? kWords[i] : "unknown status";
}

const Library* library(std::string& why) {
  static const auto* loaded = new Loaded;
  why = loaded->library.why_not();
  return why.empty() ? &loaded->functions : nullptr;
}

}  // namespace penstock::nvjpeg2000
