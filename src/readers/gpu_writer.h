// SPDX-License-Identifier: Apache-2.0
// Sources that write to a GPU.
#pragma once
#include <memory>

#include "base/device_runtime.h"

namespace penstock {

// Where to.
struct GpuTarget {
  DeviceRuntime& runtime;
  int device = 0;
  std::shared_ptr<MemoryResource> memory;  // on the device
};

// The additional interface of a Source whose first output can be on a GPU (OpInfo::decodes_to_device).
class GpuWriter {
 public:
  virtual ~GpuWriter() = default;
  // Called before the first batch, to enable it. load() enqueues on the batch's stream.
  virtual void write_to_gpu(const GpuTarget& gpu) = 0;
};

}  // namespace penstock
