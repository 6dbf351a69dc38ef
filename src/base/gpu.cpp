// SPDX-License-Identifier: Apache-2.0
#include "base/gpu.h"

#include <dlfcn.h>

#include "base/direct_storage.h"
#include "base/settings.h"

namespace penstock {
namespace {

class NoGpu final : public GpuBackend {
 public:
  explicit NoGpu(std::string why) : why_(std::move(why)) {}
  std::string why_not() const override { return why_; }
  std::string kernel_compiler() const override { return why_; }
  DeviceRuntime& runtime() override { refuse(); }
  std::unique_ptr<BatchStageRunner> make_stage(const StageProgram&) override { refuse(); }
  bool runs_whole(const std::string&) const override { return false; }
  std::unique_ptr<BatchDecoder> make_decoder(int, DecodeEngine, std::string& why) override {
    why = why_;
    return nullptr;
  }

 private:
  [[noreturn]] void refuse() const { fail(ErrorKind::argument, "no GPU can be used: {}", why_); }
  std::string why_;
};

std::string library_path() {
  if (const char* named = Setting("PENSTOCK_GPU_LIBRARY").value()) return named;
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&gpu_backend), &self) || !self.dli_fname) return "libpenstock_cuda.so";
  const std::string own = self.dli_fname;
  const size_t slash = own.rfind('/');
  return (slash == std::string::npos ? std::string() : own.substr(0, slash + 1)) + "libpenstock_cuda.so";
}

GpuBackend& load() {
  const std::string path = library_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    static NoGpu absent(std::string("the CUDA part of Penstock is not there: ") + (why ? why : path));
    return absent;
  }
  using Entry = GpuBackend* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kGpuBackendEntry));
  GpuBackend* made = nullptr;
  if (entry) {
    if (const auto error = error_of([&] { made = entry(); })) {
      static NoGpu failed(error->what());
      return failed;
    }
  }
  static NoGpu foreign(path + " is not the CUDA part of Penstock");
  return made ? *made : foreign;
}

}  // namespace

GpuBackend& gpu_backend() {
  static GpuBackend& loaded = load();
  return loaded;
}

DirectStorage* direct_storage(std::string& why) {
  why = gpu_backend().why_not();
  if (!why.empty()) return nullptr;
  void* library = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL);  // once more
  using Entry = DirectStorage* (*)(std::string*);
  const auto entry = library ? reinterpret_cast<Entry>(dlsym(library, kDirectStorageEntry)) : nullptr;
  if (!entry) {
    why = "the CUDA part of Penstock has none";
    return nullptr;
  }
  DirectStorage* made = nullptr;
  if (const auto error = error_of([&] { made = entry(&why); })) why = error->what();
  return made;
}

}  // namespace penstock
