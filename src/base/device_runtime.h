// SPDX-License-Identifier: Apache-2.0
// Memory and streams of GPUs. The library with Penstock's GPU part implements it (base/gpu_library.h); nothing here
// needs CUDA's headers.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/memory.h"

namespace penstock {

// A point in a stream: everything that was enqueued before it.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  virtual bool done() const = 0;
  virtual void synchronize() const = 0;  // blocks the host; only for a user who asks for values
};

// Memory and queues of all GPUs of the process. Thread-safe; every call names its device. Errors are penstock::Error:
// out_of_memory, or argument for a device that does not exist.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  virtual int device_count() const = 0;
  virtual std::string device_name(int device) const = 0;
  virtual std::string pci_bus_id(int /*device*/) const { return {}; }  // as "0000:3b:00.0"; empty: not known
  virtual size_t memory_bytes(int /*device*/) const { return 0; }      // total memory; 0: not known

  // A stream for exclusive use until it is given back. Streams live as long as the process: memory is freed on them.
  virtual StreamHandle take_stream(int device) = 0;
  virtual void give_back_stream(int device, StreamHandle stream) noexcept = 0;
  // Stream-ordered: work that is enqueued on s from now on may use allocate(bytes, s); deallocate(p, bytes, s) takes
  // effect after the work that is on s at the time of the call. Events order other streams.
  virtual std::shared_ptr<MemoryResource> memory(int device) = 0;
  // Replaces it by a user's allocator; null: back to our own pool. Memory returns to the resource that it came from.
  virtual void set_memory(int device, std::shared_ptr<MemoryResource> memory) = 0;
  // Host memory that copies to and from the device access directly. After deallocate(p, bytes, s) with a stream, it is
  // reused when the work that is on s at the time of the call is done; without a stream, at once.
  virtual std::shared_ptr<MemoryResource> pinned_memory() = 0;
  // The device of memory that others allocated: the GPU's number, -1 for the host.
  virtual int device_of(const void*) const { return -1; }
  virtual bool is_pinned(const void*) const { return false; }  // of host memory

  // Copies between any two of device and host memory; the addresses say which. Pageable host memory makes it block.
  virtual void copy(int device, void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  // The same for rows of bytes, each so many bytes after the one before.
  virtual void copy_rows(int device, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes,
                         size_t rows, StreamHandle stream) {
    for (size_t i = 0; i < rows; ++i)
      copy(device, static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, bytes,
           stream);
  }
  virtual void set_zero(int device, void* to, size_t bytes, StreamHandle stream) = 0;
  virtual std::shared_ptr<DeviceEvent> record(int device, StreamHandle stream) = 0;
  virtual void wait(int device, StreamHandle stream, const DeviceEvent& event) = 0;
  // Calls f on a thread of the runtime when the work that is on the stream now is done. f is short and makes no call.
  virtual void notify(int device, StreamHandle stream, std::function<void()> f) = 0;
  virtual void synchronize(int device, StreamHandle stream) = 0;
  // Whether what is enqueued on the stream becomes a graph, which runs later and again (CUDA's stream capture).
  virtual bool is_recording(int /*device*/, StreamHandle) const { return false; }
  // Calls f with this device as the calling thread's: for libraries that ask CUDA for the current device, and around
  // many calls of this class, each of which would switch by itself otherwise.
  virtual void on_device(int /*device*/, const std::function<void()>& f) { f(); }
};

}  // namespace penstock
