// SPDX-License-Identifier: Apache-2.0
// NVIDIA's video engine, NVDEC, through libnvcuvid of the driver. A build without nv-codec-headers has none.
#pragma once
#include "cuda/runtime/driver.h"
#include "device/gpu_video.h"

namespace penstock::video_gpu {

// Empty: this GPU has one.
std::string why_no_engine(Driver& driver, int device);
// Null if it does not accept the file; `why` then says why.
std::unique_ptr<DeviceVideoDecoder> make_decoder(Driver& driver, int device, std::shared_ptr<const VideoFile> file,
                                                 FrameType type, std::string& why);

}  // namespace penstock::video_gpu
