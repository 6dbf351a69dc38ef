// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/nvdec/nvcuvid_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "cuda/nvidia_library.h"

namespace penstock::video_gpu {
namespace {

constexpr int kOutOfMemory = 2;

struct Loaded {
  Nvcuvid functions;
  std::string why;

  Loaded() {
    const char* wanted = std::getenv("PENSTOCK_NVDEC");
    if (wanted && !std::strcmp(wanted, "off")) {
      why = "PENSTOCK_NVDEC switches NVDEC off";
      return;
    }
    void* file = open_nvidia_library({"libnvcuvid.so.1"}, why);
    if (!file) {
      why = fmt::format(
          "libnvcuvid, a part of NVIDIA's driver, was not found (in a container: NVIDIA_DRIVER_CAPABILITIES needs "
          "'video'): {}",
          why);
      return;
    }
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
      if (!function) why = fmt::format("libnvcuvid lacks {}: a newer driver is needed", name);
    };
    find(functions.get_caps, "cuvidGetDecoderCaps");
    find(functions.create_decoder, "cuvidCreateDecoder");
    find(functions.destroy_decoder, "cuvidDestroyDecoder");
    find(functions.decode_picture, "cuvidDecodePicture");
    find(functions.get_status, "cuvidGetDecodeStatus");
    find(functions.reconfigure_decoder, "cuvidReconfigureDecoder");
    find(functions.map_frame, "cuvidMapVideoFrame64");
    find(functions.unmap_frame, "cuvidUnmapVideoFrame64");
    find(functions.create_parser, "cuvidCreateVideoParser");
    find(functions.parse, "cuvidParseVideoData");
    find(functions.destroy_parser, "cuvidDestroyVideoParser");
  }
};

}  // namespace

const Nvcuvid* nvcuvid(std::string& why) {
  static const auto* loaded = new Loaded;
  why = loaded->why;
  return why.empty() ? &loaded->functions : nullptr;
}

void check_nvcuvid(CUresult code, const char* doing) {
  const int number = static_cast<int>(code);
  if (number == 0) return;
  if (number == kOutOfMemory) fail(ErrorKind::out_of_memory, "NVDEC has no memory for {}", doing);
  fail(ErrorKind::internal, "NVDEC: {} ended with CUDA error {}", doing, number);
}

}  // namespace penstock::video_gpu
