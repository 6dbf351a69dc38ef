// SPDX-License-Identifier: Apache-2.0
// A driver that passes everything on, for tests and benchmarks that watch some of it.
#pragma once
#include "cuda/runtime/driver.h"

namespace penstock {

class ForwardingDriver : public Driver {
 public:
  explicit ForwardingDriver(std::unique_ptr<Driver> d) : d_(std::move(d)) {}
  int device_count() const override { return d_->device_count(); }
  std::string device_name(int device) const override { return d_->device_name(device); }
  StreamHandle take_stream(int device) override { return d_->take_stream(device); }
  void give_back_stream(int device, StreamHandle s) noexcept override { d_->give_back_stream(device, s); }
  std::shared_ptr<MemoryResource> memory(int device) override { return d_->memory(device); }
  void set_memory(int device, std::shared_ptr<MemoryResource> m) override { d_->set_memory(device, std::move(m)); }
  std::shared_ptr<MemoryResource> pinned_memory() override { return d_->pinned_memory(); }
  int device_of(const void* p) const override { return d_->device_of(p); }
  bool is_pinned(const void* p) const override { return d_->is_pinned(p); }
  void copy(int device, void* to, const void* from, size_t bytes, StreamHandle s) override {
    d_->copy(device, to, from, bytes, s);
  }
  void set_zero(int device, void* to, size_t bytes, StreamHandle s) override { d_->set_zero(device, to, bytes, s); }
  std::shared_ptr<DeviceEvent> record(int device, StreamHandle s) override { return d_->record(device, s); }
  void wait(int device, StreamHandle s, const DeviceEvent& e) override { d_->wait(device, s, e); }
  void notify(int device, StreamHandle s, std::function<void()> f) override { d_->notify(device, s, std::move(f)); }
  void synchronize(int device, StreamHandle s) override { d_->synchronize(device, s); }
  std::shared_ptr<const DeviceKernel> kernel(int device, const std::string& text, const std::string& entry,
                                             std::string& why) override {
    return d_->kernel(device, text, entry, why);
  }
  std::function<void()> compilation(int device, const std::string& text, const std::string& entry) override {
    return d_->compilation(device, text, entry);
  }
  std::shared_ptr<const DeviceKernel> prebuilt_kernel(int device, const std::string& text,
                                                      const std::string& entry) override {
    return d_->prebuilt_kernel(device, text, entry);
  }
  void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table, StreamHandle s) override {
    d_->launch(device, kernel, how, table, s);
  }
  int multiprocessors(int device) const override { return d_->multiprocessors(device); }
  size_t most_shared_bytes(int device) const override { return d_->most_shared_bytes(device); }
  void on_device(int device, const std::function<void()>& f) override { d_->on_device(device, f); }

 protected:
  const std::unique_ptr<Driver> d_;
};

}  // namespace penstock
