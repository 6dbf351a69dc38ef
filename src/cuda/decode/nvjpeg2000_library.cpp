// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg2000_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "cuda/nvidia_library.h"

namespace penstock::nvjpeg2000 {
namespace {

struct Loaded {
  Library functions;
  std::string why;

  Loaded() {
    const char* wanted = std::getenv("PENSTOCK_NVJPEG2000");  // "off": JPEG 2000 is decoded by the CPU
    if (wanted && !std::strcmp(wanted, "off")) {
      why = "PENSTOCK_NVJPEG2000 switches nvJPEG2000 off";
      return;
    }
    void* file = open_nvidia_library({"libnvjpeg2k.so.0"}, why);
    if (!file) {
      why = fmt::format(
          "nvJPEG2000 was not found (pip install nvidia-nvjpeg2k-cu13, or name its folder in PENSTOCK_NVIDIA_LIBS): {}",
          why);
      return;
    }
    auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
      if (!function) why = fmt::format("nvJPEG2000 lacks {}", name);
    };
    find(functions.create, "nvjpeg2kCreateSimple");
    find(functions.destroy, "nvjpeg2kDestroy");
    find(functions.state_create, "nvjpeg2kDecodeStateCreate");
    find(functions.state_destroy, "nvjpeg2kDecodeStateDestroy");
    find(functions.parsed_create, "nvjpeg2kStreamCreate");
    find(functions.parsed_destroy, "nvjpeg2kStreamDestroy");
    find(functions.parse, "nvjpeg2kStreamParse");
    find(functions.image_info, "nvjpeg2kStreamGetImageInfo");
    find(functions.component_info, "nvjpeg2kStreamGetImageComponentInfo");
    find(functions.params_create, "nvjpeg2kDecodeParamsCreate");
    find(functions.params_destroy, "nvjpeg2kDecodeParamsDestroy");
    find(functions.set_area, "nvjpeg2kDecodeParamsSetDecodeArea");
    find(functions.set_format, "nvjpeg2kDecodeParamsSetOutputFormat");
    find(functions.decode, "nvjpeg2kDecodeImage");
  }
};

}  // namespace

const char* words_of(Status status) {
  constexpr const char* kWords[] = {"success",
                                    "not initialized",
                                    "an invalid parameter",
                                    "a damaged JPEG 2000 file",
                                    "an unsupported kind of JPEG 2000 file",
                                    "no memory",
                                    "the execution failed",
                                    "not for this kind of GPU",
                                    "an internal error",
                                    "not implemented on this machine"};
  const int i = static_cast<int>(status);
  return i >= 0 && i < static_cast<int>(std::size(kWords)) ? kWords[i] : "an unknown status";
}

const Library* library(std::string& why) {
  static const auto* loaded = new Loaded;
  why = loaded->why;
  return why.empty() ? &loaded->functions : nullptr;
}

}  // namespace penstock::nvjpeg2000
