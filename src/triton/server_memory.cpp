// SPDX-License-Identifier: Apache-2.0
#include "triton/server_memory.h"

#include <vector>

#include "base/error.h"
#include "batch/copy_strided_on_gpu.h"
#include "batch/transfer.h"
#include "triton/element_types.h"
#include "triton/server_errors.h"

namespace penstock::triton {
namespace {

// Calls copy(from, to) for each sample; `to` is dense, each after the one before.
template <class F> void for_each_sample(const Batch& from, int first, int end, char* to, F&& copy) {
  for (int i = first; i < end; ++i) {
    const View v = from.view(i);
    View target = v;
    target.data = to, target.strides = dense_strides(v.shape);
    copy(v, target);
    to += static_cast<size_t>(v.volume()) * size_of(v.dtype);
  }
}

}  // namespace

Device device_of(TRITONSERVER_MemoryType kind, int64_t device) {
  if (kind != TRITONSERVER_MEMORY_GPU) return {};
  return {DeviceKind::gpu, static_cast<int16_t>(device)};
}

OutputMemory output_memory(TRITONBACKEND_Response* response, const TensorOfModel& t, DType type, int samples,
                           const Shape& shape, Device preferred) {
  if (server_type(type) != t.type && !(t.type == TRITONSERVER_TYPE_BYTES))
    bad_type("output '{}' is {}, but the configuration of the model says {}", t.name, name_of(type),
             config_name(t.type));
  std::vector<int64_t> extents{samples};
  extents.insert(extents.end(), shape.begin(), shape.end());
  if (shape.empty()) extents.push_back(1);
  TRITONBACKEND_Output* output = nullptr;
  check(TRITONBACKEND_ResponseOutput(response, &output, t.name.c_str(), server_type(type), extents.data(),
                                     static_cast<uint32_t>(extents.size())));
  void* data = nullptr;
  auto kind = preferred.kind == DeviceKind::gpu ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU;
  int64_t device = preferred.id;
  const uint64_t bytes = static_cast<uint64_t>(samples) * static_cast<uint64_t>(shape.volume()) * size_of(type);
  check(TRITONBACKEND_OutputBuffer(output, &data, bytes, &kind, &device));
  return {static_cast<char*>(data), device_of(kind, device)};
}

void write_samples(const Batch& from, int first, int end, OutputMemory to) {
  if (to.device.kind == DeviceKind::cpu) return for_each_sample(on_host(from), first, end, to.data, copy_strided);
  const int gpu = to.device.id;
  DeviceRuntime& runtime = runtime_of(gpu);
  const StreamHandle stream = thread_stream(gpu);
  const Batch there = from.device() == to.device ? from : copy_to(from, to.device, stream);
  order_before(there, stream);
  for_each_sample(there, first, end, to.data, [&](const View& sample, const View& target) {
    copy_strided_on_gpu(runtime, gpu, sample, target, stream);
  });
  runtime.synchronize(gpu, stream);
}

}  // namespace penstock::triton
