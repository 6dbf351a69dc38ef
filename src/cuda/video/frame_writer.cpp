// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/frame_writer.h"

#include <algorithm>
#include <cstring>

#include "cuda/video/kernel_text.h"
#include "device/batch_stage.h"

namespace penstock::video_gpu {

constexpr int kThreads = 256;
static_assert(sizeof(FrameTable) <= kTableParameter);

FrameWriter::FrameWriter(Driver& driver, int device) : driver_(driver), device_(device) {
  std::string why;
  kernel_ = driver.kernel(device, kernel_text(), kEntry, why);
  if (!kernel_) throw NoKernel(why);
}

void FrameWriter::write(const FrameTable& frame, StreamHandle stream) const {
  alignas(16) char table[kTableParameter]{};
  std::memcpy(table, &frame, sizeof frame);
  const int64_t across = (frame.width + kPixelsAcross - 1) / kPixelsAcross, threads = across * (frame.height / 2);
  driver_.launch(device_, *kernel_, {(threads + kThreads - 1) / kThreads, kThreads, 0, true}, table, stream);
}

}  // namespace penstock::video_gpu
