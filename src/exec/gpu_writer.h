// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

class GpuWork;

// What a Source is besides, whose first output may lie on a GPU (ops/machine/device_decoder.h).
class GpuWriter {
 public:
  virtual ~GpuWriter() = default;
  // Said before the first batch: it does. load() enqueues on the iteration's stream.
  virtual void write_to_gpu(GpuWork& gpu) = 0;
};

}  // namespace penstock
