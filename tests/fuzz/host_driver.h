// SPDX-License-Identifier: Apache-2.0
// A GPU for the JPEG decoder alone, of which everything is done at once, on the host, its kernels on fibers.
#pragma once
#include <cstdlib>
#include <cstring>

#include "cuda/runtime/driver.h"
#include "cuda/jpeg/kernel_text.h"
#include "cuda/kernels/vocabulary.h"
#include "emulated_gpu/cooperative_kernels.h"

namespace penstock::jpeg_gpu {
// The text is for compilers; here the kernels are built in.
const std::vector<VocabularyPart>& kernel_parts() {
  static const std::vector<VocabularyPart> none;
  return none;
}
}  // namespace penstock::jpeg_gpu

namespace penstock::fuzz {

struct BuiltIn final : DeviceKernel {
  CooperativeKernel kernel = nullptr;
};
struct Memory final : MemoryResource {
  void* allocate(size_t bytes, StreamHandle) override {
    auto* p = static_cast<uint8_t*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    std::memset(p, 0xA5, bytes);
    return p;
  }
  void deallocate(void* p, size_t, StreamHandle) noexcept override { std::free(p); }
};

// Everything at once, on the host.
class HostDriver final : public Driver {
 public:
  int device_count() const override { return 1; }
  std::string device_name(int) const override { return "host"; }
  StreamHandle take_stream(int) override { return this; }
  void give_back_stream(int, StreamHandle) noexcept override {}
  std::shared_ptr<MemoryResource> memory(int) override { return memory_; }
  void set_memory(int, std::shared_ptr<MemoryResource>) override {}
  std::shared_ptr<MemoryResource> pinned_memory() override { return memory_; }
  void copy(int, void* to, const void* from, size_t bytes, StreamHandle) override { std::memcpy(to, from, bytes); }
  void set_zero(int, void* to, size_t bytes, StreamHandle) override { std::memset(to, 0, bytes); }
  std::shared_ptr<DeviceEvent> record(int, StreamHandle) override { return nullptr; }
  void wait(int, StreamHandle, const DeviceEvent&) override {}
  void notify(int, StreamHandle, std::function<void()> f) override { f(); }
  void synchronize(int, StreamHandle) override {}
  std::shared_ptr<const DeviceKernel> kernel(int, const std::string& text, const std::string& entry,
                                             std::string&) override {
    auto made = std::make_shared<BuiltIn>();
    made->kernel = find_cooperative(text, entry);
    return made;
  }
  std::function<void()> compilation(int, const std::string&, const std::string&) override { return {}; }
  void launch(int, const DeviceKernel& kernel, const Launch& how, const void* table, StreamHandle) override {
    run_cooperative(static_cast<const BuiltIn&>(kernel).kernel, how.blocks, how.threads,
                    static_cast<const char*>(table));
  }
  int multiprocessors(int) const override { return 1; }
  size_t most_shared_bytes(int) const override { return 48 << 10; }

 private:
  std::shared_ptr<MemoryResource> memory_ = std::make_shared<Memory>();
};

}  // namespace penstock::fuzz
