// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/nvdec/nvcuvid_library.h"

#include "base/error.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock::video_gpu {
namespace {

constexpr int kOutOfMemory = 2;

struct Loaded {
  Nvcuvid functions;
  OptionalLibrary library{"NVDEC",
                          "PENSTOCK_NVDEC",
                          "libnvcuvid, a part of NVIDIA's driver; in a container NVIDIA_DRIVER_CAPABILITIES needs "
                          "'video'",
                          {"libnvcuvid.so.1"}};

  Loaded() {
    library.find(functions.get_caps, "cuvidGetDecoderCaps");
    library.find(functions.create_decoder, "cuvidCreateDecoder");
    library.find(functions.destroy_decoder, "cuvidDestroyDecoder");
    library.find(functions.decode_picture, "cuvidDecodePicture");
    library.find(functions.get_status, "cuvidGetDecodeStatus");
    library.find(functions.reconfigure_decoder, "cuvidReconfigureDecoder");
    library.find(functions.map_frame, "cuvidMapVideoFrame64");
    library.find(functions.unmap_frame, "cuvidUnmapVideoFrame64");
    library.find(functions.create_parser, "cuvidCreateVideoParser");
    library.find(functions.parse, "cuvidParseVideoData");
    library.find(functions.destroy_parser, "cuvidDestroyVideoParser");
  }
};

}  // namespace

const Nvcuvid* nvcuvid(std::string& why) {
  static const auto* loaded = new Loaded;
  why = loaded->library.why_not();
  return why.empty() ? &loaded->functions : nullptr;
}

void check_nvcuvid(CUresult code, const char* doing) {
  const int number = static_cast<int>(code);
  if (number == 0) return;
  if (number == kOutOfMemory) fail(ErrorKind::out_of_memory, "NVDEC has no memory for {}", doing);
  fail(ErrorKind::internal, "NVDEC: {} failed with CUDA error {}", doing, number);
}

}  // namespace penstock::video_gpu
