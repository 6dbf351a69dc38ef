// SPDX-License-Identifier: Apache-2.0
// In the place of nvdec/, where nv-codec-headers were not there when the library was built.
#include "cuda/video/engine.h"

#ifndef PENSTOCK_NVDEC
namespace penstock::video_gpu {

std::string why_no_engine(Driver&, int) {
  return "this build of Penstock has no NVDEC: nv-codec-headers were not there";
}
std::unique_ptr<DeviceVideoDecoder> make_decoder(Driver& driver, int device, std::shared_ptr<const VideoFile>,
                                                 FrameType, std::string& why) {
  why = why_no_engine(driver, device);
  return nullptr;
}

}  // namespace penstock::video_gpu
#endif
