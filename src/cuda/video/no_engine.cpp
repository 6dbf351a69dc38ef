// SPDX-License-Identifier: Apache-2.0
// Replaces nvdec/ if nv-codec-headers were not available when the library was built.
#include "cuda/video/engine.h"

#ifndef PENSTOCK_NVDEC
namespace penstock::video_gpu {

std::string why_no_engine(Driver&, int) {
  return "this build of Penstock has no NVDEC support: it was built without nv-codec-headers";
}
std::unique_ptr<DeviceVideoDecoder> make_decoder(Driver& driver, int device, std::shared_ptr<const VideoFile>,
                                                 FrameType, std::string& why) {
  why = why_no_engine(driver, device);
  return nullptr;
}

}  // namespace penstock::video_gpu
#endif
