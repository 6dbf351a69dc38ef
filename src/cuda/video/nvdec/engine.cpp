// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/engine.h"

#include <map>

#include "base/error_of.h"
#include "cuda/video/nvdec/video_decoder.h"
#include "device/batch_stage.h"

namespace penstock::video_gpu {

std::string why_no_engine(Driver& driver, int device) {
  std::string why;
  const Nvcuvid* lib = nvcuvid(why);
  if (!lib) return why;
  const auto error = error_of([&] {
    driver.on_device(device, [&] {
      CUVIDDECODECAPS caps{};
      caps.eCodecType = cudaVideoCodec_H264;
      caps.eChromaFormat = cudaVideoChromaFormat_420;
      const int code = static_cast<int>(lib->get_caps(&caps));
      if (code != 0) why = fmt::format("the query of NVDEC failed with CUDA error {}", code);
      else if (!caps.bIsSupported) why = fmt::format("GPU {} has no NVDEC", device);
    });
  });
  return error ? error->what() : why;
}

std::unique_ptr<DeviceVideoDecoder> make_decoder(Driver& driver, int device, std::shared_ptr<const VideoFile> file,
                                                 FrameType type, std::string& why) {
  static std::mutex mutex;
  static auto* engines = new std::map<int, std::unique_ptr<Engine>>;  // lives as long as the driver
  const Nvcuvid* lib = nvcuvid(why);
  if (!lib) return nullptr;
  StreamKind kind;
  driver.on_device(device, [&] { why = declines(*lib, *file, kind); });
  if (!why.empty()) return nullptr;
  const std::lock_guard lock(mutex);
  auto& engine = (*engines)[device];
  if (!engine) {
    try {
      engine.reset(new Engine{driver, device, *lib, FrameWriter(driver, device), SessionPool(driver, device, *lib)});
    } catch (const NoKernel& e) {
      why = e.what();
      return nullptr;
    }
  }
  return std::make_unique<NvdecVideo>(*engine, std::move(file), kind, type);
}

}  // namespace penstock::video_gpu
