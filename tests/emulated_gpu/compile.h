// SPDX-License-Identifier: Apache-2.0
// Kernel texts as code of the host.
#pragma once
#include "cuda/runtime/driver.h"
#include "emulated_gpu/cooperative_kernels.h"

namespace penstock {

class HostKernel final : public DeviceKernel {
 public:
  using RunBlocks = void (*)(const char* table, int64_t blocks, char* shared);
  explicit HostKernel(RunBlocks run_blocks) : run_blocks_(run_blocks) {}
  explicit HostKernel(CooperativeKernel cooperative) : cooperative_(cooperative) {}
  explicit HostKernel(std::string name) : name_(std::move(name)) {}  // does nothing
  const std::string& name() const { return name_; }
  void run(const Launch& how, const char* table) const;

 private:
  RunBlocks run_blocks_ = nullptr;
  CooperativeKernel cooperative_ = nullptr;
  std::string name_;
};

// Compiled with g++, kept in a folder of this machine's temporary files: the library's path. Throws with the compiler's
// words.
std::string library_for_host(const std::string& text, const std::string& entry);
std::shared_ptr<const DeviceKernel> compile_for_host(const std::string& text, const std::string& entry);

}  // namespace penstock
