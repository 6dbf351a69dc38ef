// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvtiff_library.h"

#include "cuda/runtime/driver_version.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock::nvtiff {

std::string status_string(Status status) {
  constexpr const char* kOthers[] = {"nvCOMP is missing",       "nvJPEG is missing",     "a tag is missing",
                                     "parameter out of bounds", "nvJPEG2000 is missing", "incompatible regions"};
  return penstock::status_string(status, "TIFF", kOthers);
}

const Library* library(std::string& why) {
  static const auto* loaded = new OptionalFunctions<Library>(
      open_nvidia_library("nvTIFF", "PENSTOCK_NVTIFF", install_advice(driver_version()), {"libnvtiff.so.0"}),
      [](OptionalLibrary& library, Library& f) {
        library.find(f.decoder_create, "nvtiffDecoderCreateSimple");
        library.find(f.decoder_destroy, "nvtiffDecoderDestroy");
        library.find(f.open, "nvtiffStreamOpen");
        library.find(f.close, "nvtiffStreamClose");
        library.find(f.image_info, "nvtiffStreamGetImageInfo");
        library.find(f.params_create, "nvtiffDecodeParamsCreate");
        library.find(f.params_destroy, "nvtiffDecodeParamsDestroy");
        library.find(f.set_regions, "nvtiffDecodeParamsSetRegions");
        library.find(f.decode, "nvtiffDecode");
      });
  return loaded->get(why);
}

}  // namespace penstock::nvtiff
