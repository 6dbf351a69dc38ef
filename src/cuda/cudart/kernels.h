// SPDX-License-Identifier: Apache-2.0
// Kernels compiled from text, once for each architecture.
#pragma once
#include <functional>
#include <future>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "cuda/cudart/context.h"
#include "cuda/runtime/driver.h"
#include "cuda/runtime/kernel_cache.h"

namespace penstock {

// Lives as long as the process: code on a GPU is not unloaded.
class CudaKernel final : public DeviceKernel {
 public:
  CudaKernel(cudaKernel_t handle, std::string entry, int devices);
  void launch(GpuContext& gpu, const Launch& how, const void* table, cudaStream_t stream) const;
  // Loads the code on the GPU. Without it the first launch would do that, in the middle of the work.
  void load_on(GpuContext& gpu) const;

 private:
  void allow_shared(GpuContext& gpu, size_t bytes) const;
  struct OnGpu {
    std::atomic<bool> loaded{false};
    std::atomic<size_t> allowed_shared{0};  // dynamic
    size_t own_shared = 0;
  };
  cudaKernel_t handle_;
  std::string entry_;
  std::unique_ptr<OnGpu[]> on_;
  mutable std::mutex mutex_;
};

class KernelStore {
 public:
  explicit KernelStore(int devices) : devices_(devices) {}
  // See Driver::kernel(). For simultaneous requests for one kernel, one compiles and the others wait.
  std::shared_ptr<const CudaKernel> get(GpuContext& gpu, const std::string& text, const std::string& entry,
                                        std::string& why) {
    return get(gpu, text, entry, why, false);
  }
  // See Driver::compilation().
  std::function<void()> compilation(GpuContext& gpu, const std::string& text, const std::string& entry);
  std::shared_ptr<const CudaKernel> get_prebuilt(GpuContext& gpu, const std::string& text, const std::string& entry) {
    std::string why;
    return get(gpu, text, entry, why, true);
  }

 private:
  struct Made {
    std::shared_ptr<const CudaKernel> kernel;
    std::string why;
    std::optional<Error> error;
  };
  // From the fat binaries in this library; null if they do not contain the text, or no code for this GPU.
  std::shared_ptr<const CudaKernel> prebuilt(GpuContext& gpu, const std::string& text, const std::string& entry) const;
  std::shared_ptr<const CudaKernel> get(GpuContext& gpu, const std::string& text, const std::string& entry,
                                        std::string& why, bool only_prebuilt);
  Made make(GpuContext& gpu, int architecture, const std::string& text, const std::string& entry,
            std::optional<KernelImage> ahead) const;
  const int devices_;
  const KernelCache disk_ = KernelCache::of_user();
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_future<Made>> known_;
  std::unordered_map<std::string, KernelImage> ahead_;  // results of compilation(), until the kernel is requested
};

}  // namespace penstock
