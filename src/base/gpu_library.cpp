// SPDX-License-Identifier: Apache-2.0
#include "base/gpu_library.h"

#include <dlfcn.h>

#include "base/error_of.h"
#include "base/settings.h"
#include "penstock/penstock.h"

namespace penstock {
namespace {

class NoLibrary final : public GpuLibrary {
 public:
  explicit NoLibrary(std::string why) : why_(std::move(why)) {}
  std::string why_not() const override { return why_; }
  DeviceRuntime& runtime() override { fail(ErrorKind::argument, "no GPU can be used: {}", why_); }

 private:
  std::string why_;
};

std::string library_path() {
  if (const char* named = Setting("PENSTOCK_GPU_LIBRARY").value()) return named;
  // With the version, as libpenstock.so.0.1 has it: a file that ends with .so is a module to Python.
  const auto name = fmt::format("libpenstock_cuda.so.{}.{}", PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR);
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&gpu_library), &self) || !self.dli_fname) return name;
  const std::string own = self.dli_fname;
  const size_t slash = own.rfind('/');
  return (slash == std::string::npos ? std::string() : own.substr(0, slash + 1)) + name;
}

GpuLibrary& load() {
  const std::string path = library_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    static NoLibrary absent(std::string("the CUDA part of Penstock was not found: ") + (why ? why : path));
    return absent;
  }
  using Entry = GpuLibrary* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kGpuLibraryEntry));
  GpuLibrary* made = nullptr;
  if (entry) {
    if (const auto error = error_of([&] { made = entry(); })) {
      static NoLibrary failed(error->what());
      return failed;
    }
  }
  static NoLibrary foreign(path + " is not the CUDA part of Penstock");
  return made ? *made : foreign;
}

}  // namespace

GpuLibrary::~GpuLibrary() = default;

GpuLibrary& gpu_library() {
  static GpuLibrary& loaded = load();
  return loaded;
}

void* gpu_library_symbol(const char* name) {
  void* library = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL);  // a second reference to the same library
  return library ? dlsym(library, name) : nullptr;
}

}  // namespace penstock
