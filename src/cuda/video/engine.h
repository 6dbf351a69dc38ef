// SPDX-License-Identifier: Apache-2.0
// NVIDIA's engine for videos, NVDEC, through libnvcuvid of the driver. Built without nv-codec-headers there is none.
#pragma once
#include "base/gpu_video.h"
#include "cuda/runtime/driver.h"

namespace penstock::video_gpu {

// Empty: this GPU has one.
std::string why_no_engine(Driver& driver, int device);
// Null where it does not take the file; then `why` says so.
std::unique_ptr<DeviceVideoDecoder> make_decoder(Driver& driver, int device, std::shared_ptr<const VideoFile> file,
                                                 FrameType type, std::string& why);

}  // namespace penstock::video_gpu
