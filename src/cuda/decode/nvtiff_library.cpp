// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvtiff_library.h"

#include <iterator>

#include "base/error.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock::nvtiff {
namespace {

struct Loaded {
  Library functions;
  OptionalLibrary library{"nvTIFF",
                          "PENSTOCK_NVTIFF",
                          "pip install nvidia-nvtiff-cu13, or set PENSTOCK_NVIDIA_LIBS to its folder",
                          {"libnvtiff.so.0"}};

  Loaded() {
    library.find(functions.decoder_create, "nvtiffDecoderCreateSimple");
    library.find(functions.decoder_destroy, "nvtiffDecoderDestroy");
    library.find(functions.open, "nvtiffStreamOpen");
    library.find(functions.close, "nvtiffStreamClose");
    library.find(functions.image_info, "nvtiffStreamGetImageInfo");
    library.find(functions.params_create, "nvtiffDecodeParamsCreate");
    library.find(functions.params_destroy, "nvtiffDecodeParamsDestroy");
    library.find(functions.set_regions, "nvtiffDecodeParamsSetRegions");
    library.find(functions.decode, "nvtiffDecode");
  }
};

}  // namespace

const char* status_string(Status status) {
  constexpr const char* kWords[] = {"success",
                                    "not initialized",
                                    "invalid parameter",
                                    "damaged TIFF file",
                                    "unsupported kind of TIFF file",
                                    "out of memory",
                                    "execution failed",
                                    "unsupported kind of GPU",
                                    "internal error",
                                    "nvCOMP is missing",
                                    "nvJPEG is missing",
                                    "a tag is missing",
                                    "parameter out of bounds",
                                    "nvJPEG2000 is missing",
                                    "incompatible regions"};
  const int i = static_cast<int>(status);
  return i >= 0 && i < static_cast<int>(std::size(kWords)) ? kWords[i] : "unknown status";
}

const Library* library(std::string& why) {
  static const auto* loaded = new Loaded;
  why = loaded->library.why_not();
  return why.empty() ? &loaded->functions : nullptr;
}

}  // namespace penstock::nvtiff
