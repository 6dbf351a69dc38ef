// SPDX-License-Identifier: Apache-2.0
// Where memory comes from. A resource belongs to one device; a Buffer returns itself to its resource.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace penstock {

enum class DeviceKind : int8_t { cpu = 0, gpu = 1 };
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int16_t id = 0;
  friend bool operator==(Device, Device) = default;
};

// A position in an ordered queue of device work; null on the CPU, where all work is complete when a call returns.
using StreamHandle = void*;

class MemoryResource {
 public:
  virtual ~MemoryResource() = default;
  virtual void* allocate(size_t bytes, StreamHandle stream = nullptr) = 0;  // aligned to 64 bytes; throws Error
  virtual void deallocate(void* p, size_t bytes, StreamHandle stream = nullptr) noexcept = 0;
  virtual Device device() const { return {}; }
};

// Plain aligned host memory.
MemoryResource& system_memory();
// Keeps freed blocks by size class for the next request, so that a steady loop takes no page faults. Keeps the most
// recent ones: 32 MB, or as many as make all blocks twice the peak of bytes in use. A large one also serves a request
// for up to a fifth less. trim() frees all idle blocks. bytes_held() counts blocks in use and idle.
class HostPool final : public MemoryResource {
 public:
  explicit HostPool(MemoryResource& upstream = system_memory());
  ~HostPool() override;
  void* allocate(size_t bytes, StreamHandle = nullptr) override;
  void deallocate(void* p, size_t bytes, StreamHandle = nullptr) noexcept override;
  void trim();
  size_t bytes_held() const;
  size_t bytes_in_use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
// The resource of immediate calls and of pipelines without their own; a user's allocator can replace it.
std::shared_ptr<MemoryResource> default_memory();
void set_default_memory(std::shared_ptr<MemoryResource> resource);

// The deleter of allocate_shared's pointers; std::get_deleter finds it.
struct FreeOnStream {
  std::shared_ptr<MemoryResource> resource;
  size_t bytes;
  StreamHandle stream;
  void operator()(void* p) const noexcept { resource->deallocate(p, bytes, stream); }
};
// Memory that is freed, on the stream that it was allocated on, with the last copy of the pointer. Keeps its resource
// alive.
std::shared_ptr<void> allocate_shared(const std::shared_ptr<MemoryResource>& resource, size_t bytes,
                                      StreamHandle stream = nullptr);

// Throws ErrorKind::out_of_memory; count * size is checked.
size_t checked_bytes(int64_t count, size_t size);

}  // namespace penstock
