// SPDX-License-Identifier: Apache-2.0
// Copies of samples of any strides where a GPU has one side or both.
#pragma once
#include "base/device_runtime.h"
#include "batch/batch.h"

namespace penstock {

// Copies elements of one shape and type, enqueued on the stream. Rows at an equal distance are one copy operation,
// which is what parts of pictures need; other strides are as many as they have runs.
void copy_strided_on_gpu(DeviceRuntime& rt, int gpu, const View& from, const View& to, StreamHandle stream);

}  // namespace penstock
