// SPDX-License-Identifier: Apache-2.0
#include "emulated_gpu/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace penstock {
namespace {

constexpr size_t kPage = 4096, kAlignment = 16;  // what the widest loads of kernels need
// New memory holds what no test expects, as that of a GPU may: a result that nothing wrote is then wrong.
constexpr int kUnwritten = 0xA7;
constexpr size_t kMostUnwritten = 16 << 20;  // of larger blocks the beginning alone, for the time it takes

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
size_t pages_of(size_t bytes) { return rounded(bytes < 1 ? 1 : bytes, kPage); }

// The end of a block is the end of its pages, and the page after them is never open.
struct Blocks {
  std::mutex mutex;
  std::map<char*, size_t> pages;
  int open = 0;

  int rights() const { return open > 0 ? PROT_READ | PROT_WRITE : PROT_NONE; }
  void set_all() {
    for (const auto& [at, bytes] : pages) ::mprotect(at, bytes, rights());
  }
};

Blocks& blocks() {
  static auto* all = new Blocks;  // threads use it until the process ends
  return *all;
}
bool protects() {
  static const bool on = std::getenv("PENSTOCK_EMULATED_PROTECT") != nullptr;
  return on;
}

}  // namespace

void* take_device_memory(size_t bytes) {
  const size_t unwritten = std::min(bytes, kMostUnwritten);
  if (!protects()) {
    void* const taken = std::aligned_alloc(256, rounded(bytes < 1 ? 1 : bytes, 256));
    return taken ? std::memset(taken, kUnwritten, unwritten) : nullptr;
  }
  const size_t size = rounded(bytes < 1 ? 1 : bytes, kAlignment);
  const size_t pages = pages_of(bytes);
  void* p = ::mmap(nullptr, pages + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(p) + (pages - size);
  ::mprotect(p, pages, PROT_READ | PROT_WRITE);
  std::memset(begin, kUnwritten, unwritten);
  std::lock_guard lock(blocks().mutex);
  blocks().pages[static_cast<char*>(p)] = pages;
  ::mprotect(p, pages, blocks().rights());
  return begin;
}

void give_back_device_memory(void* p, size_t bytes) noexcept {
  if (!protects()) return std::free(p);
  char* at = static_cast<char*>(p) - reinterpret_cast<size_t>(p) % kPage;
  std::lock_guard lock(blocks().mutex);
  blocks().pages.erase(at);
  ::munmap(at, pages_of(bytes) + kPage);
}

// Also for stand-ins of libraries, which find it by its name. begins: else it ends.
extern "C" __attribute__((visibility("default"))) void penstock_emulated_gpu_works(int begins) {
  if (!protects()) return;
  std::lock_guard lock(blocks().mutex);
  const bool was = blocks().open > 0;
  blocks().open += begins ? 1 : -1;
  if (was != (blocks().open > 0)) blocks().set_all();
}

DeviceAccess::DeviceAccess() { penstock_emulated_gpu_works(1); }
DeviceAccess::~DeviceAccess() { penstock_emulated_gpu_works(0); }

}  // namespace penstock
