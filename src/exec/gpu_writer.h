// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

class GpuWork;

// The additional interface of a Source whose first output can be on a GPU (operator/device_decoder.h).
class GpuWriter {
 public:
  virtual ~GpuWriter() = default;
  // Called before the first batch, to enable it. load() enqueues on the iteration's stream.
  virtual void write_to_gpu(GpuWork& gpu) = 0;
};

}  // namespace penstock
