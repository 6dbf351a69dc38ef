// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/cufile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/error_of.h"
#include "base/gpu_library.h"
#include "base/settings.h"
#include "cuda/runtime/nvidia_library.h"

namespace penstock {
namespace {

// The functions as cuFile documents them. A result of 0 is success; a result of cuFileRead below 0 is -1 with errno, or
// a negated cuFile error.
struct Result {
  int error;
  int cuda_error;
};
struct Descriptor {
  int kind;  // 1: a file descriptor
  union {
    int descriptor;
    void* handle;
  } file;
  const void* operations;
};
struct Calls {
  Result (*open_driver)() = nullptr;
  Result (*add_file)(void** handle, Descriptor*) = nullptr;
  void (*drop_file)(void* handle) = nullptr;
  Result (*add_memory)(const void* block, size_t bytes, int flags) = nullptr;
  Result (*drop_memory)(const void* block) = nullptr;
  ssize_t (*read)(void* handle, void* block, size_t bytes, off_t offset, off_t at) = nullptr;
};

std::string reason(const Result& r) {
  return r.cuda_error ? fmt::format("error {}, CUDA error {}", r.error, r.cuda_error)
                      : fmt::format("error {}", r.error);
}

class CufileFile final : public DirectFile {
 public:
  CufileFile(Driver& driver, const Calls& calls, int device, int descriptor)
      : driver_(driver), calls_(calls), device_(device), descriptor_(descriptor) {}
  ~CufileFile() override {
    if (handle_) calls_.drop_file(handle_);
    ::close(descriptor_);
  }
  bool add(std::string& why) {
    Descriptor d{};
    d.kind = 1, d.file.descriptor = descriptor_;
    Result r{};
    driver_.on_device(device_, [&] { r = calls_.add_file(&handle_, &d); });
    if (r.error) handle_ = nullptr, why = "cuFile does not accept the file: " + reason(r);
    return !r.error;
  }
  int64_t read(void* memory, int64_t at, int64_t bytes, int64_t offset, std::string& why) const override {
    constexpr int64_t kMost = int64_t{1} << 30;  // per call
    int64_t done = 0;
    driver_.on_device(device_, [&] {
      while (done < bytes) {
        const int64_t ask = std::min(kMost, bytes - done);
        errno = 0;
        const ssize_t n = calls_.read(handle_, memory, static_cast<size_t>(ask), offset + done, at + done);
        if (n == 0) return;
        if (n == -1 && errno == EINTR) continue;
        if (n < 0 || n > ask) {
          why = n == -1 && errno ? fmt::format("cuFile cannot read: {}", std::strerror(errno))
                                 : fmt::format("cuFile cannot read: error {}", -n);
          done = -1;
          return;
        }
        done += n;
      }
    });
    return done;
  }

 private:
  Driver& driver_;
  const Calls& calls_;
  int device_, descriptor_;
  void* handle_ = nullptr;
};

class CufileStorage final : public DirectStorage {
 public:
  CufileStorage(Driver& driver, const Calls& calls, std::string path)
      : driver_(driver), calls_(calls), path_(std::move(path)) {}
  std::string name() const override { return "cuFile, " + path_; }

  std::unique_ptr<DirectFile> open(int device, const std::string& path, std::string& why) override {
    // Bypasses the page cache if the file system can do that; if not, cuFile reads in its compatibility mode.
    int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECT);
    if (descriptor < 0 && errno == EINVAL) descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
      why = std::strerror(errno);
      return nullptr;
    }
    // So that opening does not block if a pipe has replaced the file; cuFile refuses files that have the flag.
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    auto file = std::make_unique<CufileFile>(driver_, calls_, device, descriptor);  // closes it
    if (!file->add(why)) return nullptr;
    return file;
  }
  bool add_memory(int device, void* block, size_t bytes) override {
    Result r{};
    driver_.on_device(device, [&] { r = calls_.add_memory(block, bytes, 0); });
    return !r.error;
  }
  void drop_memory(int device, void* block) noexcept override {
    error_of([&] { driver_.on_device(device, [&] { calls_.drop_memory(block); }); });
  }

 private:
  Driver& driver_;
  const Calls calls_;
  std::string path_;
};

}  // namespace

std::unique_ptr<DirectStorage> make_cufile_storage(Driver& driver, std::string& why) {
  const char* named = Setting("PENSTOCK_CUFILE").value();
  if (named && std::string(named) == "off") {
    why = "PENSTOCK_CUFILE is off";
    return nullptr;
  }
  void* opened = nullptr;
  std::string tried;
  if (named) {
    opened = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (const char* said = opened ? nullptr : dlerror()) tried = said;
  } else {
    opened = open_nvidia_library({"libcufile.so.0"}, tried);
  }
  if (!opened) {
    why = "cuFile is not installed (`pip install penstock[cufile]` brings it): " + tried;
    return nullptr;
  }
  Calls calls;
  OptionalLibrary library(opened, {}, "this cuFile lacks");
  library.find(calls.open_driver, "cuFileDriverOpen");
  library.find(calls.add_file, "cuFileHandleRegister");
  library.find(calls.drop_file, "cuFileHandleDeregister");
  library.find(calls.add_memory, "cuFileBufRegister");
  library.find(calls.drop_memory, "cuFileBufDeregister");
  library.find(calls.read, "cuFileRead");
  if (!library.why_not().empty()) {
    why = library.why_not();
    return nullptr;
  }
  Result r{};
  driver.on_device(0, [&] { r = calls.open_driver(); });
  if (r.error) {
    why = "cuFile does not start: " + reason(r);
    return nullptr;
  }
  Dl_info info;
  const bool found = dladdr(reinterpret_cast<const void*>(calls.read), &info) && info.dli_fname;
  return std::make_unique<CufileStorage>(driver, calls, found ? info.dli_fname : "libcufile.so.0");
}

}  // namespace penstock

extern "C" penstock::GpuLibrary* penstock_gpu_library();
extern "C" __attribute__((visibility("default"))) penstock::DirectStorage* penstock_direct_storage(std::string* why) {
  static std::string reason;
  // It outlives static destruction, like streams and memory.
  static penstock::DirectStorage* const made =
      penstock::make_cufile_storage(static_cast<penstock::Driver&>(penstock_gpu_library()->runtime()), reason)
          .release();
  *why = reason;
  return made;
}
