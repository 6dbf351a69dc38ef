// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_video.h"

#include "base/gpu_library.h"

namespace penstock {

GpuVideo::~GpuVideo() = default;

GpuVideo& gpu_video() {
  class None final : public GpuVideo {
   public:
    std::string why_no_video(int) override { return "the GPU library was built without video decoding"; }
    std::unique_ptr<DeviceVideoDecoder> make_video_decoder(int device, std::shared_ptr<const VideoFile>, FrameType,
                                                           std::string& why) override {
      why = why_no_video(device);
      return nullptr;
    }
  };
  static None none;
  auto* found = dynamic_cast<GpuVideo*>(&gpu_library());
  return found ? *found : none;
}

}  // namespace penstock
