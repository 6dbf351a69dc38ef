// SPDX-License-Identifier: Apache-2.0
// The entry point of the library that is loaded at run time.
#include "base/error_of.h"
#include "cuda/decode/batch_decoder.h"
#include "cuda/frame_stage.h"
#include "cuda/runtime/driver.h"
#include "cuda/runtime/nvrtc.h"
#include "cuda/stages/stage.h"
#include "cuda/video/engine.h"
#include "cuda/whole/whole_stage.h"
#include "device/gpu_backend.h"
#include "device/gpu_video.h"

namespace penstock {
namespace {

class CudaBackend final : public GpuBackend, public GpuVideo {
 public:
  CudaBackend() {
    if (const auto error = error_of([&] { driver_ = make_driver(); })) why_not_ = error->what();
    else if (driver_->device_count() == 0) why_not_ = "no GPU is visible";
  }
  std::string why_not() const override { return why_not_; }
  std::string kernel_compiler() const override {
    std::string why;
    const Nvrtc* found = Nvrtc::find(why);
    return found ? "NVRTC " + found->version() + ", " + found->path() : why;
  }
  DeviceRuntime& runtime() override { return *driver_; }
  std::unique_ptr<BatchStageRunner> make_stage(const StageProgram& program) override {
    if (is_whole(program)) return make_whole_stage(program, *driver_);
    return begins_with_frames(program) ? make_frame_stage(program, *driver_) : make_gpu_stage(program, *driver_);
  }
  bool runs_whole(const std::string& op) const override { return has_whole_form(op); }
  std::unique_ptr<BatchDecoder> make_decoder(int device, DecodeEngine engine, std::string& why) override {
    return make_batch_decoder(*driver_, device, engine, why);
  }
  std::string why_no_video(int device) override { return video_gpu::why_no_engine(*driver_, device); }
  std::unique_ptr<DeviceVideoDecoder> make_video_decoder(int device, std::shared_ptr<const VideoFile> file,
                                                         FrameType type, std::string& why) override {
    return video_gpu::make_decoder(*driver_, device, std::move(file), type, why);
  }

 private:
  std::unique_ptr<Driver> driver_;
  std::string why_not_;
};

}  // namespace
}  // namespace penstock

extern "C" __attribute__((visibility("default"))) penstock::GpuLibrary* penstock_gpu_library() {
  static auto* backend = new penstock::CudaBackend;  // streams and memory outlive static destruction
  return backend;
}
