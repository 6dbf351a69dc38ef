// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>

#include "base/error.h"
#include "base/settings.h"
#include "cuda/runtime/driver_version.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock {

// The functions as NVRTC documents them: a result of 0 is success, a program is an opaque pointer.
struct Nvrtc::Calls {
  using Program = void*;
  int (*version)(int* major, int* minor) = nullptr;
  int (*count_architectures)(int* count) = nullptr;
  int (*architectures)(int* list) = nullptr;
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* header_texts,
                const char* const* header_names) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int options, const char* const* list) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  const char* (*error_string)(int) = nullptr;
};

std::string Nvrtc::not_installed(int driver, const std::string& tried) {
  const bool fits_all = fits_driver(kNewestCudaMajor, driver);
  return fmt::format(
      "NVRTC{} is not installed (`pip install {}` brings it){}{}",
      fits_all ? "" : fmt::format(" of CUDA {}, for a driver of CUDA {},", driver / 1000, version_text(driver)),
      extra_for(driver), tried.empty() ? "" : ": ", tried);
}

std::string Nvrtc::why_unfit(int major, int minor, int driver) {
  if (fits_driver(major, driver)) return {};
  return fmt::format(
      "NVRTC {}.{} makes code for drivers of CUDA {} ({} or newer), and the driver takes CUDA {}: `pip install {}` "
      "brings "
      "one that fits",
      major, minor, major, driver_release(major), version_text(driver), extra_for(driver));
}

const Nvrtc* Nvrtc::load(std::string& why) {
  void* opened = nullptr;
  if (const char* named = Setting("PENSTOCK_NVRTC").value()) {
    opened = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    const char* reason = opened ? nullptr : dlerror();
    if (reason) why = fmt::format("NVRTC: PENSTOCK_NVRTC is set to a library that cannot be loaded: {}", reason);
  } else {
    std::string tried;
    opened = open_nvidia_library(names_that_fit({"libnvrtc.so.13", "libnvrtc.so.12"}, driver_version()), tried);
    if (!opened) why = not_installed(driver_version(), tried);
  }
  if (!opened) return nullptr;
  auto calls = std::make_shared<Calls>();
  OptionalLibrary library(opened, {}, "it has no");
  library.find(calls->version, "nvrtcVersion");
  library.find(calls->count_architectures, "nvrtcGetNumSupportedArchs");
  library.find(calls->architectures, "nvrtcGetSupportedArchs");
  library.find(calls->create, "nvrtcCreateProgram");
  library.find(calls->destroy, "nvrtcDestroyProgram");
  library.find(calls->compile, "nvrtcCompileProgram");
  library.find(calls->log_size, "nvrtcGetProgramLogSize");
  library.find(calls->log, "nvrtcGetProgramLog");
  library.find(calls->cubin_size, "nvrtcGetCUBINSize");
  library.find(calls->cubin, "nvrtcGetCUBIN");
  library.find(calls->ptx_size, "nvrtcGetPTXSize");
  library.find(calls->ptx, "nvrtcGetPTX");
  library.find(calls->error_string, "nvrtcGetErrorString");
  std::string path = "libnvrtc";
  if (Dl_info place; calls->version && dladdr(reinterpret_cast<void*>(calls->version), &place) && place.dli_fname)
    path = place.dli_fname;
  int count = 0;
  std::unique_ptr<Nvrtc> made(new Nvrtc);
  if (!library.why_not().empty()) {
    why = fmt::format("{} is not a usable NVRTC: {}", path, library.why_not());
    return nullptr;
  }
  int code = calls->version(&made->major_, &made->minor_);
  // NVRTC loads its other half by name, and some of its builds do not search in their own folder: a library that is
  // already loaded is found.
  if (code == 0 && path.find('/') != std::string::npos)
    dlopen(fmt::format("{}/libnvrtc-builtins.so.{}.{}", path.substr(0, path.rfind('/')), made->major_, made->minor_)
               .c_str(),
           RTLD_NOW | RTLD_LOCAL);
  if (code == 0) code = calls->count_architectures(&count);
  if (code == 0 && count > 0) {
    made->architectures_.resize(static_cast<size_t>(count));
    code = calls->architectures(made->architectures_.data());
  }
  if (code != 0 || count <= 0) {
    why = fmt::format("{} is not a usable NVRTC: {}", path, calls->error_string(code));
    return nullptr;
  }
  why = why_unfit(made->major_, made->minor_, driver_version());
  if (!why.empty()) return nullptr;
  std::sort(made->architectures_.begin(), made->architectures_.end());
  made->path_ = path;
  made->calls_ = std::move(calls);
  return made.release();  // lives as long as the process, like its library
}

const Nvrtc* Nvrtc::find(std::string& why) {
  static auto* const why_not = new std::string;  // read during static destruction
  static const Nvrtc* const found = load(*why_not);
  if (!found) why = *why_not;
  return found;
}

std::string Nvrtc::version() const { return fmt::format("{}.{}", major_, minor_); }

std::vector<std::string> Nvrtc::options(int architecture, std::string& why) const {
  const auto after = std::upper_bound(architectures_.begin(), architectures_.end(), architecture);
  if (after == architectures_.begin()) {
    why = fmt::format("NVRTC {} does not support compute capability {}.{}", version(), architecture / 10,
                      architecture % 10);
    return {};
  }
  const int known = *std::prev(after);
  // Sets every option that affects the bits of a result, though most of them are the compiler's defaults.
  return {fmt::format("--gpu-architecture={}_{}", known == architecture ? "sm" : "compute", known),
          "--std=c++20",
          "--fmad=false",
          "--ftz=false",
          "--prec-div=true",
          "--prec-sqrt=true",
          "-default-device"};
}

bool Nvrtc::makes_ptx(const std::vector<std::string>& options) {
  return !options.empty() && options.front().find("=compute_") != std::string::npos;
}

KernelImage Nvrtc::compile(const std::string& text, const std::string& entry,
                           const std::vector<std::string>& options) const {
  const auto check = [&](int code, const char* what) {
    if (code != 0) fail(ErrorKind::internal, "kernel {}: {} failed: {}", entry, what, calls_->error_string(code));
  };
  Calls::Program made = nullptr;
  check(calls_->create(&made, text.c_str(), (entry + ".cu").c_str(), 0, nullptr, nullptr), "passing the text to NVRTC");
  const auto destroy = [this](void* p) { static_cast<void>(calls_->destroy(&p)); };
  const std::unique_ptr<void, decltype(destroy)> program(made, destroy);
  std::vector<const char*> list;
  for (const std::string& o : options) list.push_back(o.c_str());
  if (const int code = calls_->compile(made, static_cast<int>(list.size()), list.data()); code != 0) {
    std::string log;
    if (size_t size = 0; calls_->log_size(made, &size) == 0 && size > 1) {
      log.resize(size);
      if (calls_->log(made, log.data()) != 0) log.clear();
      while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    }
    fail(ErrorKind::internal, "kernel {}: NVRTC {}: {}\n{}", entry, version(), calls_->error_string(code), log);
  }
  KernelImage image;
  image.ptx = makes_ptx(options);
  size_t size = 0;
  check((image.ptx ? calls_->ptx_size : calls_->cubin_size)(made, &size), "getting the size of the code");
  if (size == 0) fail(ErrorKind::internal, "kernel {}: NVRTC returned no code", entry);
  image.bytes.resize(size);
  check((image.ptx ? calls_->ptx : calls_->cubin)(made, image.bytes.data()), "getting the code");
  return image;
}

}  // namespace penstock
