// SPDX-License-Identifier: Apache-2.0
// A GPU that is not there: device memory is host memory, streams run at once, and kernel texts are compiled by g++ and run
// block after block with one thread each. It shows whether the stages, the transfers and the executor do the right thing;
// of real hardware it shows nothing. PENSTOCK_EMULATED_GPUS says how many there are (2).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "base/error.h"
#include "cuda/driver.h"
#include "cuda/nvrtc.h"
#include "emulated_gpu/compile.h"

namespace penstock {
namespace {

class EmulatedEvent final : public DeviceEvent {
 public:
  bool done() const override { return true; }
  void synchronize() const override {}
};

// Counts what it gave; PENSTOCK_EMULATED_MEMORY limits the bytes of a device, so that running out can be tested.
class EmulatedMemory final : public MemoryResource {
 public:
  explicit EmulatedMemory(Device device) : device_(device) {
    if (const char* limit = std::getenv("PENSTOCK_EMULATED_MEMORY"); limit && device.kind == DeviceKind::gpu)
      limit_ = std::strtoull(limit, nullptr, 10);
  }
  void* allocate(size_t bytes, StreamHandle) override {
    std::lock_guard lock(mutex_);
    if (held_ + bytes > limit_) fail(ErrorKind::out_of_memory, "GPU {}: no room for {} bytes", device_.id, bytes);
    void* p = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
    if (!p) throw std::bad_alloc();
    held_ += bytes;
    return p;
  }
  void deallocate(void* p, size_t bytes, StreamHandle) noexcept override {
    std::lock_guard lock(mutex_);
    held_ -= bytes;
    std::free(p);
  }
  Device device() const override { return device_; }

 private:
  Device device_;
  std::mutex mutex_;
  size_t held_ = 0, limit_ = ~size_t{0};
};

class EmulatedDriver final : public Driver {
 public:
  EmulatedDriver() {
    const char* n = std::getenv("PENSTOCK_EMULATED_GPUS");
    for (int i = 0, count = n ? std::atoi(n) : 2; i < count; ++i)
      own_memory_.push_back(std::make_shared<EmulatedMemory>(Device{DeviceKind::gpu, static_cast<int16_t>(i)}));
    memory_ = own_memory_;
  }
  int device_count() const override { return static_cast<int>(memory_.size()); }
  std::string device_name(int device) const override { return fmt::format("emulated GPU {}", check(device)); }
  StreamHandle take_stream(int device) override {
    check(device);
    std::lock_guard lock(mutex_);
    return reinterpret_cast<StreamHandle>(static_cast<uintptr_t>(0x1000 + 16 * ++streams_));
  }
  void give_back_stream(int, StreamHandle) noexcept override {}
  std::shared_ptr<MemoryResource> memory(int device) override {
    check(device);
    std::lock_guard lock(mutex_);
    return memory_[device];
  }
  void set_memory(int device, std::shared_ptr<MemoryResource> memory) override {
    check(device);
    std::lock_guard lock(mutex_);
    memory_[device] = memory ? std::move(memory) : own_memory_[device];
  }
  std::shared_ptr<MemoryResource> pinned_memory() override { return pinned_; }
  void copy(int device, void* to, const void* from, size_t bytes, StreamHandle) override {
    check(device);
    std::memcpy(to, from, bytes);
  }
  void set_zero(int device, void* to, size_t bytes, StreamHandle) override {
    check(device);
    std::memset(to, 0, bytes);
  }
  std::shared_ptr<DeviceEvent> record(int device, StreamHandle) override {
    check(device);
    return std::make_shared<EmulatedEvent>();
  }
  void wait(int device, StreamHandle, const DeviceEvent&) override { check(device); }
  void notify(int device, StreamHandle, std::function<void()> f) override {
    check(device);
    f();
  }
  void synchronize(int device, StreamHandle) override { check(device); }

  std::shared_ptr<const DeviceKernel> kernel(int device, const std::string& text, const std::string& entry,
                                             std::string&) override {
    check(device);
    std::lock_guard lock(mutex_);
    auto& kept = kernels_[entry + '\n' + text];
    if (!kept) {
      kept = compile_for_host(text, entry);
      if (std::getenv("PENSTOCK_CHECK_NVRTC")) check_with_nvrtc(text, entry);
    }
    return kept;
  }
  void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table, StreamHandle) override {
    check(device);
    if (how.shared_bytes > most_shared_bytes(device)) fail(ErrorKind::internal, "{} shared bytes", how.shared_bytes);
    static_cast<const HostKernel&>(kernel).run(how, static_cast<const char*>(table));
  }
  int multiprocessors(int) const override { return 4; }
  size_t most_shared_bytes(int) const override { return 99 * 1024; }

 private:
  // The text as a GPU's compiler sees it, for the oldest and a new architecture.
  static void check_with_nvrtc(const std::string& text, const std::string& entry) {
    std::string why;
    const Nvrtc* nvrtc = Nvrtc::find(why);
    if (!nvrtc) fail(ErrorKind::internal, "NVRTC is to check the kernels: {}", why);
    for (const int architecture : {75, 90}) nvrtc->compile(text, entry, nvrtc->options(architecture, why));
  }
  int check(int device) const {
    if (device < 0 || device >= device_count())
      bad_argument("there is no GPU {}: the machine has {}", device, device_count());
    return device;
  }
  std::vector<std::shared_ptr<MemoryResource>> own_memory_, memory_;
  std::shared_ptr<MemoryResource> pinned_ = std::make_shared<EmulatedMemory>(Device{});
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const DeviceKernel>> kernels_;
  uintptr_t streams_ = 0;
};

}  // namespace

std::unique_ptr<Driver> make_driver() { return std::make_unique<EmulatedDriver>(); }

}  // namespace penstock
