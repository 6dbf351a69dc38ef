// SPDX-License-Identifier: Apache-2.0
// Device memory that a reader's threads read files into (device/direct_storage.h).
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "base/device_runtime.h"
#include "data/storage.h"
#include "device/direct_storage.h"

namespace penstock {

// Reuses blocks. Reads of files do not follow the order of streams, so a block is given out only when all work that was
// enqueued with it is done; the host waits only for new blocks. Thread-safe.
class DirectMemory final : public MemoryResource {
 public:
  // `registers`: registers blocks with cuFile.
  DirectMemory(DeviceRuntime& runtime, int device, std::shared_ptr<MemoryResource> from,
               std::shared_ptr<MemoryResource> pinned, DirectStorage& storage, bool registers);
  ~DirectMemory() override;
  void* allocate(size_t bytes, StreamHandle stream = nullptr) override;
  void deallocate(void* p, size_t bytes, StreamHandle stream = nullptr) noexcept override;
  Device device() const override { return {DeviceKind::gpu, static_cast<int16_t>(device_)}; }

  const std::shared_ptr<MemoryResource>& pinned() const { return pinned_; }
  // Null if files are not read this way here; the caller then reads and uploads.
  std::unique_ptr<DirectFile> open(const std::string& path) const;
  void upload(void* to, const void* from, size_t bytes, StreamHandle stream) const {
    runtime_.copy(device_, to, from, bytes, stream);
  }

 private:
  struct Idle {
    void* block;
    std::shared_ptr<DeviceEvent> used;  // null: nothing was enqueued with it
  };
  static size_t block_bytes(size_t bytes);

  DeviceRuntime& runtime_;
  int device_;
  std::shared_ptr<MemoryResource> from_, pinned_;
  DirectStorage& storage_;
  bool registers_;
  StreamHandle stream_;  // for allocation and release
  std::mutex mutex_;
  std::map<size_t, std::deque<Idle>> idle_;  // by size, the longest idle first
  std::map<void*, bool> blocks_;             // all blocks, and whether cuFile knows them
};

// A whole file, with the errors of read_file. If cuFile reads it, it is there on return. If cuFile does not accept
// the file, it goes through pinned memory, after earlier work on `stream`.
std::shared_ptr<void> read_file_to_device(const std::shared_ptr<DirectMemory>& device, const std::string& path,
                                          StreamHandle stream, FileStamp& stamp);

// A source that reads directly. Its outputs are then on the device.
class ReadsDirectly {
 public:
  virtual ~ReadsDirectly() = default;
  virtual bool registers_memory() const = 0;
  virtual void read_into(std::shared_ptr<DirectMemory> memory) = 0;
};

}  // namespace penstock
