// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/nvdec/nvcuvid_library.h"

#include "base/error.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock::video_gpu {

constexpr int kOutOfMemory = 2;

const Nvcuvid* nvcuvid(std::string& why) {
  static const auto* loaded = new OptionalFunctions<Nvcuvid>(
      open_nvidia_library("NVDEC", "PENSTOCK_NVDEC",
                          "libnvcuvid, a part of NVIDIA's driver; in a container NVIDIA_DRIVER_CAPABILITIES needs "
                          "'video'",
                          {"libnvcuvid.so.1"}),
      [](OptionalLibrary& library, Nvcuvid& f) {
        library.find(f.get_caps, "cuvidGetDecoderCaps");
        library.find(f.create_decoder, "cuvidCreateDecoder");
        library.find(f.destroy_decoder, "cuvidDestroyDecoder");
        library.find(f.decode_picture, "cuvidDecodePicture");
        library.find(f.get_status, "cuvidGetDecodeStatus");
        library.find(f.reconfigure_decoder, "cuvidReconfigureDecoder");
        library.find(f.map_frame, "cuvidMapVideoFrame64");
        library.find(f.unmap_frame, "cuvidUnmapVideoFrame64");
        library.find(f.create_parser, "cuvidCreateVideoParser");
        library.find(f.parse, "cuvidParseVideoData");
        library.find(f.destroy_parser, "cuvidDestroyVideoParser");
      });
  return loaded->get(why);
}

void check_nvcuvid(CUresult code, const char* doing) {
  const int number = static_cast<int>(code);
  if (number == 0) return;
  if (number == kOutOfMemory) fail(ErrorKind::out_of_memory, "NVDEC has no memory for {}", doing);
  fail(ErrorKind::internal, "NVDEC: {} failed with CUDA error {}", doing, number);
}

}  // namespace penstock::video_gpu
