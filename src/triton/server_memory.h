// SPDX-License-Identifier: Apache-2.0
// Memory of the server on the host and on GPUs: what it gives for outputs, and copies into it.
#pragma once
#include "batch/batch.h"
#include "triton/server_api.h"
#include "triton/signature.h"

namespace penstock::triton {

// In the server's words.
Device device_of(TRITONSERVER_MemoryType kind, int64_t device);

struct OutputMemory {
  char* data = nullptr;
  Device device;
};

// The memory of an output in a response, for `samples` samples of this type and shape. The server gives it on the
// preferred device if it can; memory that the client has named is where it is.
OutputMemory output_memory(TRITONBACKEND_Response* response, const TensorOfModel& t, DType type, int samples,
                           const Shape& shape, Device preferred);

// Copies samples of one shape into one array, also from and to GPUs. Returns when they are written.
void write_samples(const Batch& from, int first, int end, OutputMemory to);

}  // namespace penstock::triton
