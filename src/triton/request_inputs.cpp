// SPDX-License-Identifier: Apache-2.0
#include "triton/request_inputs.h"

#include <cstring>

#include "base/error.h"
#include "batch/transfer.h"
#include "triton/element_types.h"
#include "triton/server_errors.h"
#include "triton/server_memory.h"

namespace penstock::triton {
namespace {

struct Given {
  TRITONSERVER_DataType type{};
  std::span<const int64_t> shape;
  const char* data = nullptr;
  uint64_t bytes = 0;
  Device device;
  std::shared_ptr<void> joined;  // where it came in pieces, or from a GPU
};

// Copies memory of the server to the host.
void read_bytes(char* to, const void* from, uint64_t bytes, Device device) {
  if (bytes == 0) return;
  if (device.kind == DeviceKind::cpu) {
    std::memcpy(to, from, bytes);
    return;
  }
  DeviceRuntime& runtime = runtime_of(device.id);
  const StreamHandle stream = thread_stream(device.id);
  runtime.copy(device.id, to, from, bytes, stream);
  runtime.synchronize(device.id, stream);
}

// What is on a GPU stays there if `stays` and it is in one piece.
Given given_to(TRITONBACKEND_Request* request, const std::string& name, bool stays) {
  TRITONBACKEND_Input* input = nullptr;
  check(TRITONBACKEND_RequestInput(request, name.c_str(), &input));
  Given g;
  const int64_t* shape = nullptr;
  uint32_t dimensions = 0, pieces = 0;
  check(TRITONBACKEND_InputProperties(input, nullptr, &g.type, &shape, &dimensions, &g.bytes, &pieces));
  g.shape = {shape, dimensions};
  char* to = nullptr;
  if (pieces > 1) g.joined = allocate_shared(default_memory(), g.bytes), to = static_cast<char*>(g.joined.get());
  for (uint32_t i = 0; i < pieces; ++i) {
    const void* data = nullptr;
    uint64_t bytes = 0;
    TRITONSERVER_MemoryType kind = TRITONSERVER_MEMORY_CPU;
    int64_t device = 0;
    check(TRITONBACKEND_InputBuffer(input, i, &data, &bytes, &kind, &device));
    const Device place = device_of(kind, device);
    if (!to && (place.kind == DeviceKind::cpu || stays)) {
      g.data = static_cast<const char*>(data), g.device = place;
      continue;
    }
    if (!to) g.joined = allocate_shared(default_memory(), g.bytes), to = static_cast<char*>(g.joined.get());
    if (bytes > g.bytes - static_cast<uint64_t>(to - static_cast<char*>(g.joined.get())))
      bad_data("has more bytes than the {} that the server says", g.bytes);
    read_bytes(to, data, bytes, place);
    to += bytes;
  }
  if (g.joined) g.data = static_cast<const char*>(g.joined.get());
  return g;
}

int samples_of(const Given& g) {
  if (g.shape.empty()) bad_argument("has no dimension that counts the samples");
  if (g.shape[0] < 1) bad_argument("has no samples: its shape begins with {}", g.shape[0]);
  if (g.shape[0] > INT32_MAX) bad_argument("has {} samples", g.shape[0]);
  return static_cast<int>(g.shape[0]);
}

// A BYTES element is its length in four bytes, and the bytes: a file.
Batch files_of(const Given& g) {
  for (size_t d = 1; d < g.shape.size(); ++d)
    if (g.shape[d] != 1) bad_argument("has {} elements in a sample; BYTES have one: the file", g.shape[d]);
  const int count = samples_of(g);
  if (g.bytes / sizeof(uint32_t) < static_cast<uint64_t>(count))
    bad_data("ends after {} bytes, which is too short for {} elements", g.bytes, count);
  Batch files(DType::uint8, 1, {}, count);
  const char *at = g.data, *const end = g.data + g.bytes;
  for (int i = 0; i < count; ++i) {
    uint32_t length = 0;
    if (end - at >= static_cast<ptrdiff_t>(sizeof length)) std::memcpy(&length, at, sizeof length), at += sizeof length;
    else bad_data("element {} is cut: its length is missing", i);
    if (static_cast<uint64_t>(end - at) < length)
      bad_data("element {} is cut: it has {} bytes of {}", i, end - at, length);
    files.sample(i).data = const_cast<char*>(at);
    files.sample(i).shape = {static_cast<int64_t>(length)};
    at += length;
  }
  if (at != end) bad_data("has {} bytes after its last element", end - at);
  return files;
}

Batch arrays_of(const Given& g, const TensorOfModel& t) {
  const int count = samples_of(g);
  Shape shape{g.shape.subspan(1)};
  if (t.own.ndim == 0 && shape == Shape{1}) shape = {};
  if (t.own.ndim >= 0 && t.own.ndim != shape.size())
    bad_type("has samples of {} dimensions, but the pipeline takes {}; the first of a request counts the samples",
             shape.size(), t.own.ndim);
  const DType type = element_type(g.type);
  if (t.own.dtype != DType::none && t.own.dtype != type)
    bad_type("is {}, but the pipeline takes {}", name_of(type), name_of(t.own.dtype));
  const uint64_t each = static_cast<uint64_t>(shape.volume()) * size_of(type);
  if (each != g.bytes / static_cast<uint64_t>(count) || g.bytes % static_cast<uint64_t>(count) != 0)
    bad_data("has {} bytes, but {} samples of the shape {} have {} each", g.bytes, count, shape.text(), each);
  Batch arrays(type, shape.size(), {}, count);
  arrays.set_device(g.device);
  for (int i = 0; i < count; ++i) {
    arrays.sample(i).data = const_cast<char*>(g.data) + static_cast<uint64_t>(i) * each;
    arrays.sample(i).shape = shape;
  }
  return arrays;
}

Batch samples_for(TRITONBACKEND_Request* request, const TensorOfModel& t) {
  const Given g = given_to(request, t.name, t.on_gpu && t.type != TRITONSERVER_TYPE_BYTES);
  Batch b = g.type == TRITONSERVER_TYPE_BYTES ? files_of(g) : arrays_of(g, t);
  b.block = g.joined;
  for (int i = 0; i < b.size(); ++i) b.sample(i).source = "sample " + std::to_string(i);
  return b;
}

}  // namespace

std::vector<Batch> request_inputs(TRITONBACKEND_Request* request, const Signature& signature) {
  std::vector<Batch> batches;
  for (const TensorOfModel& t : signature.inputs) {
    try {
      batches.push_back(samples_for(request, t));
    } catch (const Error& e) {
      throw Error(e.kind(), "input '" + t.name + "' " + e.what());
    }
    if (batches.back().size() != batches[0].size())
      bad_argument("input '{}' has {} samples, but '{}' has {}", t.name, batches.back().size(),
                   signature.inputs[0].name, batches[0].size());
  }
  return batches;
}

}  // namespace penstock::triton
