// SPDX-License-Identifier: Apache-2.0
// Converts decoded frames to RGB in a batch's memory, with one kernel each.
#pragma once
#include "cuda/runtime/driver.h"
#include "cuda/video/frame_table.h"

namespace penstock::video_gpu {

class FrameWriter {
 public:
  // Throws NoKernel if kernels cannot be compiled.
  FrameWriter(Driver& driver, int device);
  void write(const FrameTable& frame, StreamHandle stream) const;

 private:
  Driver& driver_;
  int device_;
  std::shared_ptr<const DeviceKernel> kernel_;
};

}  // namespace penstock::video_gpu
