// SPDX-License-Identifier: Apache-2.0
#include "cuda/cudart/kernels.h"

#include <limits>

#include "base/error_of.h"
#include "cuda/runtime/compile_apart.h"
#include "cuda/runtime/driver_version.h"
#include "cuda/cudart/prebuilt_images.h"

namespace penstock {

CudaKernel::CudaKernel(cudaKernel_t handle, std::string entry, int devices)
    : handle_(handle), entry_(std::move(entry)), on_(std::make_unique<OnGpu[]>(static_cast<size_t>(devices))) {}

void CudaKernel::load_on(GpuContext& gpu) const {
  OnGpu& on = on_[static_cast<size_t>(gpu.index())];
  if (on.loaded.load(std::memory_order_acquire)) return;
  std::lock_guard lock(mutex_);
  if (on.loaded.load(std::memory_order_acquire)) return;
  OnDevice scope(gpu);
  cudaFuncAttributes found{};
  check_cuda(cudaFuncGetAttributes(&found, reinterpret_cast<const void*>(handle_)), "loading a kernel", gpu.index());
  on.own_shared = found.sharedSizeBytes;
  on.loaded.store(true, std::memory_order_release);
}

// More than 48 KB of shared memory per block must be requested, once.
void CudaKernel::allow_shared(GpuContext& gpu, size_t bytes) const {
  OnGpu& on = on_[static_cast<size_t>(gpu.index())];
  if (bytes <= on.allowed_shared.load(std::memory_order_acquire)) return;
  load_on(gpu);
  std::lock_guard lock(mutex_);
  if (bytes <= on.allowed_shared.load(std::memory_order_acquire)) return;
  const auto most = static_cast<size_t>(gpu.attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (on.own_shared > most || bytes > most - on.own_shared)
    fail(ErrorKind::internal, "kernel {} needs {} + {} bytes of shared memory, but a block on GPU {} has {}", entry_,
         on.own_shared, bytes, gpu.index(), most);
  check_cuda(cudaKernelSetAttributeForDevice(handle_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(bytes), gpu.index()),
             "requesting shared memory", gpu.index());
  on.allowed_shared.store(bytes, std::memory_order_release);
}

void CudaKernel::launch(GpuContext& gpu, const Launch& how, const void* table, cudaStream_t stream) const {
  if (how.blocks == 0) return;
  if (how.blocks < 0 || how.blocks > std::numeric_limits<int32_t>::max() || how.threads < 1 || how.threads > 1024)
    fail(ErrorKind::internal, "kernel {}: {} blocks of {} threads cannot be launched", entry_, how.blocks, how.threads);
  OnDevice scope(gpu);
  if (how.shared_bytes > 0) allow_shared(gpu, how.shared_bytes);
  void* parameters[] = {how.by_value ? const_cast<void*>(table) : static_cast<void*>(&table)};
  const cudaError_t code =
      cudaLaunchKernel(reinterpret_cast<const void*>(handle_), dim3(static_cast<unsigned>(how.blocks)),
                       dim3(static_cast<unsigned>(how.threads)), parameters, how.shared_bytes, stream);
  if (code != cudaSuccess) [[unlikely]]
    fail_cuda(code, ("launching the kernel " + entry_).c_str(), gpu.index());
}

static std::string key_of(int architecture, const std::string& text, const std::string& entry, bool only_prebuilt) {
  return fmt::format("{}{} {}\n{}", only_prebuilt ? "prebuilt " : "", architecture, entry, text);
}

std::function<void()> KernelStore::compilation(GpuContext& gpu, const std::string& text, const std::string& entry) {
  std::string why;
  const int architecture = gpu.architecture();
  const std::string key = key_of(architecture, text, entry, false);
  {
    std::lock_guard lock(mutex_);
    if (known_.count(key) || ahead_.count(key)) return {};
  }
  const bool is_prebuilt = find_prebuilt_image(text) && fits_driver(prebuilt_cuda_major(), driver_version());
  if (!can_compile_apart() || is_prebuilt) return {};
  const Nvrtc* nvrtc = Nvrtc::find(why);
  auto options = nvrtc ? nvrtc->options(architecture, why) : std::vector<std::string>();
  if (options.empty()) return {};
  return [this, nvrtc, key, text, entry, options = std::move(options)] {
    KernelImage image = kernel_image(*nvrtc, disk_, text, entry, options);
    std::lock_guard lock(mutex_);
    ahead_.insert_or_assign(key, std::move(image));
  };
}

std::shared_ptr<const CudaKernel> KernelStore::get(GpuContext& gpu, const std::string& text, const std::string& entry,
                                                   std::string& why, bool only_prebuilt) {
  const int architecture = gpu.architecture();
  const std::string key = key_of(architecture, text, entry, only_prebuilt);
  std::optional<KernelImage> ahead;
  std::promise<Made> promise;
  std::shared_future<Made> known;
  bool mine = false;
  {
    std::lock_guard lock(mutex_);
    auto& slot = known_[key];
    if (!slot.valid()) {
      slot = promise.get_future().share();
      mine = true;
      if (auto node = ahead_.extract(key)) ahead = std::move(node.mapped());
    }
    known = slot;
  }
  if (mine) {
    Made made;
    made.error = error_of([&] {
      if (only_prebuilt) made.kernel = prebuilt(gpu, text, entry);
      else made = make(gpu, architecture, text, entry, std::move(ahead));
    });
    const bool good = made.kernel != nullptr;
    promise.set_value(std::move(made));
    if (!good) {  // not kept: memory may have run out
      std::lock_guard lock(mutex_);
      known_.erase(key);
    }
  }
  const Made& made = known.get();
  if (made.error) throw Error(*made.error);  // each waiting caller gets its own copy
  if (!made.kernel) {
    why = made.why;
    return nullptr;
  }
  made.kernel->load_on(gpu);
  return made.kernel;
}

std::shared_ptr<const CudaKernel> KernelStore::prebuilt(GpuContext& gpu, const std::string& text,
                                                        const std::string& entry) const {
  const std::byte* image = find_prebuilt_image(text);
  if (!image || !fits_driver(prebuilt_cuda_major(), driver_version())) return nullptr;
  if (std::string why; !has_prebuilt_code(gpu.architecture()) && Nvrtc::find(why)) return nullptr;
  OnDevice scope(gpu);
  cudaLibrary_t library = nullptr;
  cudaKernel_t handle = nullptr;
  cudaError_t code = cudaLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (code == cudaSuccess) code = cudaLibraryGetKernel(&handle, library, entry.c_str());
  cudaFuncAttributes found{};  // whether it has code for this GPU may show only now
  if (code == cudaSuccess) code = cudaFuncGetAttributes(&found, reinterpret_cast<const void*>(handle));
  if (code == cudaSuccess) return std::make_shared<CudaKernel>(handle, entry, devices_);
  if (code == cudaErrorMemoryAllocation) fail_cuda(code, ("loading the kernel " + entry).c_str(), gpu.index());
  static_cast<void>(cudaGetLastError());
  if (library) static_cast<void>(cudaLibraryUnload(library));
  return nullptr;  // NVRTC knows this GPU
}

KernelStore::Made KernelStore::make(GpuContext& gpu, int architecture, const std::string& text,
                                    const std::string& entry, std::optional<KernelImage> ahead) const {
  Made made;
  made.kernel = prebuilt(gpu, text, entry);
  if (made.kernel) return made;
  const Nvrtc* nvrtc = Nvrtc::find(made.why);
  if (!nvrtc) return made;
  const auto options = nvrtc->options(architecture, made.why);
  if (options.empty()) return made;
  OnDevice scope(gpu);
  for (const bool anew : {false, true}) {
    const KernelImage image =
        ahead ? *std::exchange(ahead, std::nullopt) : kernel_image(*nvrtc, disk_, text, entry, options, anew);
    cudaLibrary_t library = nullptr;
    cudaError_t code = cudaLibraryLoadData(&library, image.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    cudaKernel_t handle = nullptr;
    if (code == cudaSuccess) {
      code = cudaLibraryGetKernel(&handle, library, entry.c_str());
      if (code != cudaSuccess) static_cast<void>(cudaLibraryUnload(library));
    }
    if (code == cudaSuccess) {
      made.kernel = std::make_shared<CudaKernel>(handle, entry, devices_);
      return made;
    }
    if (image.ptx && code == cudaErrorUnsupportedPtxVersion) {
      static_cast<void>(cudaGetLastError());
      made.why = fmt::format(
          "NVRTC {} is too new for the NVIDIA driver, and does not support compute "
          "capability {}.{}",
          nvrtc->version(), architecture / 10, architecture % 10);
      return made;
    }
    // Code from the disk may be unusable for this driver; code that was just compiled must load.
    if (anew) fail_cuda(code, ("loading the kernel " + entry).c_str(), gpu.index());
    static_cast<void>(cudaGetLastError());
  }
  return made;
}

}  // namespace penstock
