// SPDX-License-Identifier: Apache-2.0
// The functions of libnvcuvid, which is part of NVIDIA's driver, loaded at run time.
#pragma once
#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_nvcuvid.h>

#include <string>

namespace penstock::video_gpu {

struct Nvcuvid {
  tcuvidGetDecoderCaps* get_caps = nullptr;
  tcuvidCreateDecoder* create_decoder = nullptr;
  tcuvidDestroyDecoder* destroy_decoder = nullptr;
  tcuvidDecodePicture* decode_picture = nullptr;
  tcuvidGetDecodeStatus* get_status = nullptr;
  tcuvidReconfigureDecoder* reconfigure_decoder = nullptr;
  tcuvidMapVideoFrame64* map_frame = nullptr;
  tcuvidUnmapVideoFrame64* unmap_frame = nullptr;
  tcuvidCreateVideoParser* create_parser = nullptr;
  tcuvidParseVideoData* parse = nullptr;
  tcuvidDestroyVideoParser* destroy_parser = nullptr;
};

// Loaded at the first call. Null if it is not found; `why` then says why. PENSTOCK_NVDEC=off: it is not used.
const Nvcuvid* nvcuvid(std::string& why);

// Throws ErrorKind::internal, or out_of_memory, with the number of the error.
void check_nvcuvid(CUresult code, const char* doing);

}  // namespace penstock::video_gpu
