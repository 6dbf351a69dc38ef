// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg2000_library.h"

#include "cuda/runtime/driver_version.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock::nvjpeg2000 {

std::string status_string(Status status) {
  constexpr const char* kOthers[] = {"not implemented on this machine"};
  return penstock::status_string(status, "JPEG 2000", kOthers);
}

const Library* library(std::string& why) {
  static const auto* loaded = new OptionalFunctions<Library>(
      open_nvidia_library("nvJPEG2000", "PENSTOCK_NVJPEG2000", install_advice(driver_version()), {"libnvjpeg2k.so.0"}),
      [](OptionalLibrary& library, Library& f) {
        library.find(f.create, "nvjpeg2kCreateSimple");
        library.find(f.destroy, "nvjpeg2kDestroy");
        library.find(f.state_create, "nvjpeg2kDecodeStateCreate");
        library.find(f.state_destroy, "nvjpeg2kDecodeStateDestroy");
        library.find(f.parsed_create, "nvjpeg2kStreamCreate");
        library.find(f.parsed_destroy, "nvjpeg2kStreamDestroy");
        library.find(f.parse, "nvjpeg2kStreamParse");
        library.find(f.image_info, "nvjpeg2kStreamGetImageInfo");
        library.find(f.component_info, "nvjpeg2kStreamGetImageComponentInfo");
        library.find(f.params_create, "nvjpeg2kDecodeParamsCreate");
        library.find(f.params_destroy, "nvjpeg2kDecodeParamsDestroy");
        library.find(f.set_area, "nvjpeg2kDecodeParamsSetDecodeArea");
        library.find(f.set_format, "nvjpeg2kDecodeParamsSetOutputFormat");
        library.find(f.decode, "nvjpeg2kDecodeImage");
      });
  return loaded->get(why);
}

}  // namespace penstock::nvjpeg2000
