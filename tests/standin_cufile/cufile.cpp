// SPDX-License-Identifier: Apache-2.0
// Stands in for cuFile where there is no GPU: "device" memory is the host's (tests/emulated_gpu), files are read by
// pread. It keeps the books of handles and blocks and ends the process where its caller does not keep to cuFile's
// protocol. PENSTOCK_STANDIN_CUFILE says what goes wrong: "start" (the driver), "files" (their registration), "memory"
// (its registration), "read", "errno" (reads, by an error of cuFile's or the system's), "short" (reads give less than
// was requested, which is legal), "end" (as if files ended at byte 100,000). PENSTOCK_STANDIN_CUFILE_LOG names a
// file that gets a line for each call.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace {

struct Result {
  int error, cuda_error;
};
struct Descriptor {
  int kind;
  union {
    int descriptor;
    void* handle;
  } file;
  const void* operations;
};
struct Handle {
  int descriptor;
};

constexpr off_t kEnd = 100000;
std::mutex mutex;
bool started = false;
std::set<Handle*> handles;
std::map<const char*, size_t> blocks;

bool wrong(const char* what) {
  const char* asked = std::getenv("PENSTOCK_STANDIN_CUFILE");
  return asked && std::string(asked) == what;
}

// Opens or closes the memory of the emulated GPU (tests/emulated_gpu/device_memory.h), if this process has one.
void let_gpu_work(bool begins) {
  using Function = void (*)(int);
  static const Function let = [] {
    const char* path = std::getenv("PENSTOCK_GPU_LIBRARY");
    void* library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : RTLD_DEFAULT;
    return reinterpret_cast<Function>(dlsym(library ? library : RTLD_DEFAULT, "penstock_emulated_gpu_works"));
  }();
  if (let) let(begins);
}

__attribute__((format(printf, 1, 2))) void log(const char* format, ...) {
  static FILE* const file = [] {
    const char* path = std::getenv("PENSTOCK_STANDIN_CUFILE_LOG");
    return path ? std::fopen(path, "a") : nullptr;
  }();
  if (!file) return;
  va_list list;
  va_start(list, format);
  std::vfprintf(file, format, list);
  va_end(list);
  std::fflush(file);
}

void demand(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "stand-in of cuFile: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" {

Result cuFileDriverOpen() {
  std::lock_guard lock(mutex);
  demand(!started, "the driver is opened twice");
  if (wrong("start")) return {5001, 0};
  started = true;
  log("open driver\n");
  return {0, 0};
}

Result cuFileHandleRegister(void** handle, Descriptor* d) {
  std::lock_guard lock(mutex);
  demand(started, "the driver is not open");
  struct stat s;
  demand(d->kind == 1 && !d->operations && ::fstat(d->file.descriptor, &s) == 0, "no open file descriptor");
  if (wrong("files") || !S_ISREG(s.st_mode)) return {5011, 0};
  // NVIDIA's refuses files that were opened with O_NONBLOCK ("unsupported file open flags").
  constexpr int kOpenFlags = 5019;
  if (::fcntl(d->file.descriptor, F_GETFL) & O_NONBLOCK) return {kOpenFlags, 0};
  for (Handle* h : handles) demand(h->descriptor != d->file.descriptor, "a descriptor is registered twice");
  auto* made = new Handle{d->file.descriptor};
  handles.insert(made);
  *handle = made;
  log("add file\n");
  return {0, 0};
}

void cuFileHandleDeregister(void* handle) {
  std::lock_guard lock(mutex);
  auto* h = static_cast<Handle*>(handle);
  demand(handles.erase(h) == 1, "a handle that is not registered is dropped");
  demand(::fcntl(h->descriptor, F_GETFD) >= 0, "a descriptor is closed before its handle is dropped");
  delete h;
  log("drop file\n");
}

Result cuFileBufRegister(const void* block, size_t bytes, int flags) {
  std::lock_guard lock(mutex);
  demand(started && block && bytes > 0 && flags == 0, "a block that cannot be registered");
  if (wrong("memory")) return {5025, 1};
  demand(blocks.emplace(static_cast<const char*>(block), bytes).second, "a block is registered twice");
  log("add memory of %zu bytes\n", bytes);
  return {0, 0};
}

Result cuFileBufDeregister(const void* block) {
  std::lock_guard lock(mutex);
  demand(blocks.erase(static_cast<const char*>(block)) == 1, "a block that is not registered is dropped");
  log("drop memory\n");
  return {0, 0};
}

ssize_t cuFileRead(void* handle, void* block, size_t bytes, off_t offset, off_t at) {
  int descriptor;
  {
    std::lock_guard lock(mutex);
    demand(handles.count(static_cast<Handle*>(handle)) == 1, "a read by a handle that is not registered");
    descriptor = static_cast<Handle*>(handle)->descriptor;
    const auto known = blocks.find(static_cast<const char*>(block));
    if (known != blocks.end()) demand(static_cast<size_t>(at) + bytes <= known->second, "a read goes behind its block");
    else
      for (const auto& [begin, size] : blocks)
        demand(static_cast<const char*>(block) < begin || static_cast<const char*>(block) >= begin + size,
               "a read names no block's begin");
    log("read %zu bytes at %lld to %lld%s\n", bytes, static_cast<long long>(offset), static_cast<long long>(at),
        known == blocks.end() ? " of an unknown block" : "");
  }
  if (wrong("read")) return -5027;
  if (wrong("errno")) {
    errno = EIO;
    return -1;
  }
  if (wrong("short")) bytes = std::min<size_t>(bytes, 50000);
  if (wrong("end")) bytes = offset < kEnd ? std::min<size_t>(bytes, static_cast<size_t>(kEnd - offset)) : 0;
  if (bytes == 0) return 0;
  // As cuFile's compatibility mode: a descriptor with O_DIRECT is read past it.
  const int plain = ::open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDONLY | O_CLOEXEC);
  demand(plain >= 0, "the file cannot be opened");
  let_gpu_work(true);
  const ssize_t n = ::pread(plain, static_cast<char*>(block) + at, bytes, offset);
  let_gpu_work(false);
  ::close(plain);
  return n;
}

}  // extern "C"
