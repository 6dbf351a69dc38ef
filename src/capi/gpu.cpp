// SPDX-License-Identifier: Apache-2.0
// GPUs: how many, the program's allocator for each, moving and ordering batches.

#include "base/gpu_library.h"
#include "capi/edge.h"

namespace penstock {
namespace {

class ProgramDeviceMemory final : public MemoryResource {
 public:
  ProgramDeviceMemory(const penstock_device_allocator_functions& f, Device device) : f_(f), device_(device) {}
  ~ProgramDeviceMemory() override {
    if (armed_ && f_.release) f_.release(f_.user);
  }
  void arm() { armed_ = true; }  // from now on this object owns `user`
  void* allocate(size_t bytes, StreamHandle stream) override {
    void* p = f_.allocate(f_.user, bytes, stream);
    if (!p)
      fail(ErrorKind::out_of_memory, "the program's allocator could not allocate {} bytes on {}", bytes,
           name_of(device_));
    if (reinterpret_cast<uintptr_t>(p) % kAlignment != 0) {
      f_.deallocate(f_.user, p, bytes, stream);
      bad_argument("the program's allocator must align memory on {} to {} bytes", name_of(device_), kAlignment);
    }
    return p;
  }
  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    f_.deallocate(f_.user, p, bytes, stream);
  }
  Device device() const override { return device_; }

 private:
  static constexpr size_t kAlignment = 256;
  const penstock_device_allocator_functions f_;
  const Device device_;
  bool armed_ = false;
};

}  // namespace

Device device_of(penstock_device_kind kind, int id) {
  if (kind == PENSTOCK_CPU) return {};
  if (kind != PENSTOCK_GPU) bad_argument("{} is not a kind of device", kind);
  runtime_of(id);
  return {DeviceKind::gpu, static_cast<int16_t>(id)};
}

}  // namespace penstock

using namespace penstock;

int penstock_gpu_count(void) {
  int count = 0;
  guarded([&] {
    if (gpu_library().why_not().empty()) count = gpu_library().runtime().device_count();
  });
  return count;
}

const char* penstock_gpu_why_not(void) {
  static const auto* why = new std::string(gpu_library().why_not());
  return why->c_str();
}

penstock_status penstock_set_device_allocator(int device, const penstock_device_allocator_functions* functions) {
  return guarded([&] {
    const Device d = device_of(PENSTOCK_GPU, device);
    if (!functions) return runtime_of(device).set_memory(device, nullptr);
    const auto f = read_struct(functions, "functions");
    if (!f.allocate || !f.deallocate) bad_argument("an allocator needs the functions allocate and deallocate");
    auto memory = std::make_shared<ProgramDeviceMemory>(f, d);
    runtime_of(device).set_memory(device, memory);
    memory->arm();
  });
}

penstock_status penstock_batch_copy_to(const penstock_batch* batch, penstock_device_kind device_kind, int device_id,
                                       void* stream, penstock_batch** copy) {
  return guarded([&] {
    const Batch& b = required(batch, "batch").batch;
    required(copy, "copy");
    const Device to = device_of(device_kind, device_id);
    Batch made = copy_to(b, to, stream_of(stream));
    if (to.kind == DeviceKind::cpu) wait_on_host(made), made.ready = nullptr;
    *copy = new penstock_batch{std::move(made)};
  });
}

penstock_status penstock_batch_order_before(const penstock_batch* batch, void* stream) {
  return guarded([&] { order_before(required(batch, "batch").batch, stream_of(stream)); });
}

penstock_status penstock_batch_used_on(const penstock_batch* batch, void* stream) {
  return guarded([&] {
    const Batch& b = required(batch, "batch").batch;
    if (b.device().kind == DeviceKind::cpu) return;
    const int gpu = b.device().id;
    used_on(b, stream_of(stream), *runtime_of(gpu).record(gpu, stream_of(stream)));
  });
}

penstock_status penstock_batch_wait(const penstock_batch* batch) {
  return guarded([&] { wait_on_host(required(batch, "batch").batch); });
}
