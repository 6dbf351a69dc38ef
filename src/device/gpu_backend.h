// SPDX-License-Identifier: Apache-2.0
// What a GPU offers to the rooms above: memory and streams, stages over whole batches, decoders. A shared library,
// loaded at run time, implements it (base/gpu_library.h).
#pragma once
#include <memory>
#include <string>

#include "base/gpu_library.h"
#include "device/batch_decoder.h"
#include "device/batch_stage.h"

namespace penstock {

class GpuBackend : public GpuLibrary {
 public:
  ~GpuBackend() override;
  // The library that compiles kernels ("NVRTC 13.0, /…/libnvrtc.so.13"), or why there is none.
  virtual std::string kernel_compiler() const = 0;
  // Call all below, as runtime(), only if why_not() is empty.
  virtual std::unique_ptr<BatchStageRunner> make_stage(const StageProgram& program) = 0;
  // Whether the device runs the whole operator, as a stage of that single node. If not, the caller copies its inputs to
  // the host and its outputs back.
  virtual bool runs_whole(const std::string& op) const = 0;
  // Null where the machine does not have this engine; `why` then says why.
  virtual std::unique_ptr<BatchDecoder> make_decoder(int device, DecodeEngine engine, std::string& why) = 0;
};

// The gpu_library() with all that it offers. Never throws.
GpuBackend& gpu_backend();

}  // namespace penstock
