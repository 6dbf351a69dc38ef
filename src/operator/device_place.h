// SPDX-License-Identifier: Apache-2.0
// Where an operator that decodes to a device writes: decoders of video, and readers that decode it.
#pragma once
#include "base/memory.h"

namespace penstock {

struct DevicePlace {
  int device = 0;
  StreamHandle stream = nullptr;
};

}  // namespace penstock
