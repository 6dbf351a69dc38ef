// SPDX-License-Identifier: Apache-2.0
// Decoded frames become RGB in a batch's memory, by one kernel each.
#pragma once
#include "cuda/runtime/driver.h"
#include "cuda/video/frame_table.h"

namespace penstock::video_gpu {

class FrameWriter {
 public:
  // Throws NoKernel where kernels cannot be made.
  FrameWriter(Driver& driver, int device);
  void write(const FrameTable& frame, StreamHandle stream) const;

 private:
  Driver& driver_;
  int device_;
  std::shared_ptr<const DeviceKernel> kernel_;
};

}  // namespace penstock::video_gpu
