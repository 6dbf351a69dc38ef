// SPDX-License-Identifier: Apache-2.0
// A pipeline's share of a GPU: a stream for each iteration in flight, counted memory, and callbacks when the device
// reaches a point.
#pragma once
#include <atomic>
#include <mutex>
#include <vector>

#include "base/device_runtime.h"
#include "batch/batch.h"

namespace penstock {

class GpuWork {
 public:
  // Throws ErrorKind::argument for a device that does not exist.
  static void check(int device);
  // `memory_limit`: for one allocation on the device, 0: none; a larger one is an Error (out_of_memory).
  GpuWork(int device, int streams, size_t memory_limit = 0);
  ~GpuWork();  // waits for its work

  int device() const { return device_; }
  DeviceRuntime& runtime() const { return runtime_; }
  StreamHandle stream(uint64_t iteration) const { return streams_.taken[iteration % iterations_]; }
  StreamHandle own_stream();  // one more, until the end
  const std::shared_ptr<MemoryResource>& memory() const { return memory_; }
  const std::shared_ptr<MemoryResource>& pinned() const { return pinned_; }
  const std::shared_ptr<MemoryResource>& staging() const { return staging_; }  // pinned, for files
  size_t bytes_in_use() const { return *in_use_; }
  size_t staging_bytes_in_use() const { return *staging_in_use_; }

  // Calls `f` when the work that is now on the stream is done: on any thread, perhaps before notify() returns, never
  // after silence() or the destructor.
  void notify(StreamHandle stream, std::function<void()> f);
  void silence();  // waits for a function that runs
  // Enqueues copies of all samples; both batches are dense per sample. Samples that are adjacent share a copy.
  void copy(const Batch& from, Batch& to, StreamHandle stream);

 private:
  struct Alive {
    std::mutex mutex;
    bool alive = true;
  };
  struct Streams {
    DeviceRuntime& runtime;
    int device;
    std::vector<StreamHandle> taken;
    ~Streams();
  };
  int device_;
  size_t iterations_;
  DeviceRuntime& runtime_;
  Streams streams_;
  std::shared_ptr<std::atomic<size_t>> in_use_ = std::make_shared<std::atomic<size_t>>(0);
  std::shared_ptr<std::atomic<size_t>> staging_in_use_ = std::make_shared<std::atomic<size_t>>(0);
  std::shared_ptr<MemoryResource> memory_, pinned_, staging_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

// Memory of `from` that keeps `token` alive as long as any of it.
std::shared_ptr<MemoryResource> with_token(std::shared_ptr<MemoryResource> from, std::shared_ptr<void> token);

}  // namespace penstock
