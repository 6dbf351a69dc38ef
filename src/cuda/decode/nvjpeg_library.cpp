// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "cuda/nvidia_library.h"

namespace penstock::nvjpeg {
namespace {

struct Loaded {
  Library functions;
  std::string why;

  Loaded() {
    const char* wanted = std::getenv("PENSTOCK_NVJPEG");  // "off": the decoder engine is not used
    if (wanted && !std::strcmp(wanted, "off")) {
      why = "PENSTOCK_NVJPEG switches nvJPEG off";
      return;
    }
    void* file = open_nvidia_library({"libnvjpeg.so.13", "libnvjpeg.so.12"}, why);
    if (!file) {
      why = fmt::format(
          "nvJPEG was not found (pip install nvidia-nvjpeg, or name its folder in PENSTOCK_NVIDIA_LIBS): {}", why);
      return;
    }
    auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
      if (!function) why = fmt::format("nvJPEG lacks {}", name);
    };
    find(functions.create, "nvjpegCreateEx");
    find(functions.destroy, "nvjpegDestroy");
    find(functions.state_create, "nvjpegJpegStateCreate");
    find(functions.state_destroy, "nvjpegJpegStateDestroy");
    find(functions.batched_initialize, "nvjpegDecodeBatchedInitialize");
    find(functions.batched_decode, "nvjpegDecodeBatched");
  }
};

}  // namespace

const char* words_of(Status status) {
  constexpr const char* kWords[] = {
      "success", "not initialized", "an invalid parameter", "a damaged JPEG file", "an unsupported kind of JPEG file",
      "no memory", "the execution failed", "not for this kind of GPU", "an internal error",
      "not implemented on this machine", "the file ends too early"};
  const int i = static_cast<int>(status);
  return i >= 0 && i < static_cast<int>(std::size(kWords)) ? kWords[i] : "an unknown status";
}

const Library* library(std::string& why) {
  static const auto* loaded = new Loaded;
  why = loaded->why;
  return why.empty() ? &loaded->functions : nullptr;
}

}  // namespace penstock::nvjpeg
