// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvtiff_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "cuda/nvidia_library.h"

namespace penstock::nvtiff {
namespace {

struct Loaded {
  Library functions;
  std::string why;

  Loaded() {
    const char* wanted = std::getenv("PENSTOCK_NVTIFF");  // "off": TIFF is decoded by the CPU
    if (wanted && !std::strcmp(wanted, "off")) {
      why = "PENSTOCK_NVTIFF switches nvTIFF off";
      return;
    }
    void* file = open_nvidia_library({"libnvtiff.so.0"}, why);
    if (!file) {
      why = fmt::format(
          "nvTIFF was not found (pip install nvidia-nvtiff-cu13, or name its folder in PENSTOCK_NVIDIA_LIBS): {}", why);
      return;
    }
    auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
      if (!function) why = fmt::format("nvTIFF lacks {}", name);
    };
    find(functions.decoder_create, "nvtiffDecoderCreateSimple");
    find(functions.decoder_destroy, "nvtiffDecoderDestroy");
    find(functions.open, "nvtiffStreamOpen");
    find(functions.close, "nvtiffStreamClose");
    find(functions.image_info, "nvtiffStreamGetImageInfo");
    find(functions.params_create, "nvtiffDecodeParamsCreate");
    find(functions.params_destroy, "nvtiffDecodeParamsDestroy");
    find(functions.set_regions, "nvtiffDecodeParamsSetRegions");
    find(functions.decode, "nvtiffDecode");
  }
};

}  // namespace

const char* words_of(Status status) {
  constexpr const char* kWords[] = {"success",
                                    "not initialized",
                                    "an invalid parameter",
                                    "a damaged TIFF file",
                                    "an unsupported kind of TIFF file",
                                    "no memory",
                                    "the execution failed",
                                    "not for this kind of GPU",
                                    "an internal error",
                                    "nvCOMP is missing",
                                    "nvJPEG is missing",
                                    "a tag is missing",
                                    "a parameter out of bounds",
                                    "nvJPEG2000 is missing",
                                    "regions that do not go together"};
  const int i = static_cast<int>(status);
  return i >= 0 && i < static_cast<int>(std::size(kWords)) ? kWords[i] : "an unknown status";
}

const Library* library(std::string& why) {
  static const auto* loaded = new Loaded;
  why = loaded->why;
  return why.empty() ? &loaded->functions : nullptr;
}

}  // namespace penstock::nvtiff
