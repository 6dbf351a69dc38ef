// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_backend.h"

namespace penstock {
namespace {

// The place of a library that is missing or is not ours.
class NoGpu final : public GpuBackend {
 public:
  explicit NoGpu(GpuLibrary& library) : library_(library) {}
  std::string why_not() const override { return library_.why_not(); }
  std::string kernel_compiler() const override { return why_not(); }
  DeviceRuntime& runtime() override { return library_.runtime(); }  // it throws
  std::unique_ptr<BatchStageRunner> make_stage(const StageProgram&) override {
    fail(ErrorKind::argument, "no GPU can be used: {}", why_not());
  }
  bool runs_whole(const std::string&) const override { return false; }
  std::unique_ptr<BatchDecoder> make_decoder(int, DecodeEngine, std::string& why) override {
    why = why_not();
    return nullptr;
  }

 private:
  GpuLibrary& library_;
};

GpuBackend& find() {
  if (auto* backend = dynamic_cast<GpuBackend*>(&gpu_library())) return *backend;
  static NoGpu none(gpu_library());
  return none;
}

}  // namespace

GpuBackend::~GpuBackend() = default;

GpuBackend& gpu_backend() {
  static GpuBackend& found = find();
  return found;
}

}  // namespace penstock
