// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>

#include "base/error.h"

namespace penstock {
namespace {

constexpr size_t kAlignment = 64;
// Batches of many megabytes are written once and read once. With small pages, page faults and TLB misses take a good
// part of that time.
constexpr size_t kHugePage = size_t{2} << 20, kHuge = 4 * kHugePage;

class SystemMemory final : public MemoryResource {
 public:
  void* allocate(size_t bytes, StreamHandle) override {
    const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (rounded < bytes) fail(ErrorKind::out_of_memory, "{} bytes cannot be allocated", bytes);
    const bool huge = rounded >= kHuge;
    void* p = nullptr;
    if (::posix_memalign(&p, huge ? kHugePage : kAlignment, rounded ? rounded : kAlignment) != 0)
      fail(ErrorKind::out_of_memory, "{} bytes cannot be allocated", bytes);
#if defined(MADV_HUGEPAGE)
    // Only whole pages, so that no extra byte becomes resident. If the system refuses, nothing is lost.
    if (huge) static_cast<void>(::madvise(p, rounded / kHugePage * kHugePage, MADV_HUGEPAGE));
#endif
    return p;
  }
  void deallocate(void* p, size_t, StreamHandle) noexcept override { std::free(p); }
};

// Size classes: four per octave, so that at most a fifth of a block is slack.
size_t size_class(size_t bytes) {
  if (bytes <= 256) return 256;
  const size_t octave = std::bit_floor(bytes - 1), step = octave / 4;
  return (bytes + step - 1) / step * step;
}
// Larger blocks are exact multiples of a page: slack on batch slots would count against memory budgets. But an idle one
// that is larger by a quarter serves as well: batches of pictures differ a little from each other in size, and to clear
// new pages takes as long as to fill them.
constexpr size_t kLarge = size_t{1} << 20, kPage = 4096;
size_t block_size(size_t bytes) { return bytes > kLarge ? (bytes + kPage - 1) / kPage * kPage : size_class(bytes); }

}  // namespace

MemoryResource& system_memory() {
  static SystemMemory m;
  return m;
}

struct HostPool::State {
  explicit State(MemoryResource& u) : upstream(u) {}
  MemoryResource& upstream;
  mutable std::mutex mutex;
  struct Block {
    void* p;
    uint64_t age;  // of the deallocation
  };
  std::map<size_t, std::deque<Block>> idle;
  std::map<void*, size_t> larger;  // blocks in use that are larger than their request: their size
  size_t in_use = 0, held = 0, most_in_use = 0;
  uint64_t clock = 0;

  // An idle block for a request of `n` bytes, and its size in n; null: there is none.
  void* take_idle(size_t& n) {
    const size_t most = n > kLarge ? n + n / 4 : n;
    for (auto it = idle.lower_bound(n); it != idle.end() && it->first <= most; ++it) {
      if (it->second.empty()) continue;
      void* p = it->second.back().p;
      if (it->first > n) larger[p] = it->first;
      it->second.pop_back();
      n = it->first;
      return p;
    }
    return nullptr;
  }

  // Drops the block that has been idle longest; else sizes that do not occur again would accumulate.
  Block take_oldest(size_t& bytes) {
    auto oldest = idle.end();
    for (auto it = idle.begin(); it != idle.end();) {
      if (it->second.empty()) {
        it = idle.erase(it);
        continue;
      }
      if (oldest == idle.end() || it->second.front().age < oldest->second.front().age) oldest = it;
      ++it;
    }
    const Block b = oldest->second.front();
    bytes = oldest->first;
    oldest->second.pop_front();
    held -= bytes;
    return b;
  }
};
// The limit of idle memory is this, or what is held in total is twice the peak of memory in use, if that is more: the
// blocks of a loop differ in size, so that a turn needs more of them than are in use at one time.
constexpr size_t kIdle = size_t{32} << 20;

HostPool::HostPool(MemoryResource& upstream) : state_(std::make_unique<State>(upstream)) {}
HostPool::~HostPool() { trim(); }

void* HostPool::allocate(size_t bytes, StreamHandle) {
  size_t n = block_size(bytes);
  if (n < bytes) fail(ErrorKind::out_of_memory, "{} bytes cannot be allocated", bytes);
  {
    std::lock_guard lock(state_->mutex);
    if (void* p = state_->take_idle(n)) {
      state_->in_use += n;
      state_->most_in_use = std::max(state_->most_in_use, state_->in_use);
      return p;
    }
  }
  void* p = state_->upstream.allocate(n);
  std::lock_guard lock(state_->mutex);
  state_->in_use += n;
  state_->most_in_use = std::max(state_->most_in_use, state_->in_use);
  state_->held += n;
  return p;
}

void HostPool::deallocate(void* p, size_t bytes, StreamHandle) noexcept {
  size_t n = block_size(bytes);
  std::unique_lock lock(state_->mutex);
  if (const auto found = n > kLarge ? state_->larger.find(p) : state_->larger.end(); found != state_->larger.end()) {
    n = found->second;
    state_->larger.erase(found);
  }
  state_->in_use -= n;
  try {
    state_->idle[n].push_back({p, ++state_->clock});
  } catch (...) {
    state_->held -= n;
    lock.unlock();
    state_->upstream.deallocate(p, n);
    return;
  }
  while (state_->held > std::max(state_->in_use + kIdle, 2 * state_->most_in_use)) {
    size_t size = 0;
    const State::Block b = state_->take_oldest(size);
    state_->upstream.deallocate(b.p, size);
  }
}

void HostPool::trim() {
  std::lock_guard lock(state_->mutex);
  for (auto& [n, blocks] : state_->idle)
    for (const auto& block : blocks) {
      state_->upstream.deallocate(block.p, n);
      state_->held -= n;
    }
  state_->idle.clear();
}

size_t HostPool::bytes_held() const {
  std::lock_guard lock(state_->mutex);
  return state_->held;
}
size_t HostPool::bytes_in_use() const {
  std::lock_guard lock(state_->mutex);
  return state_->in_use;
}

namespace {
std::mutex default_mutex;
// Never destroyed: tensors may outlive static destruction order in a Python process.
std::shared_ptr<MemoryResource>& default_slot() {
  static auto* slot = new std::shared_ptr<MemoryResource>(std::make_shared<HostPool>());
  return *slot;
}
}  // namespace

std::shared_ptr<MemoryResource> default_memory() {
  std::lock_guard lock(default_mutex);
  return default_slot();
}
void set_default_memory(std::shared_ptr<MemoryResource> resource) {
  std::lock_guard lock(default_mutex);
  default_slot() = resource ? std::move(resource) : std::make_shared<HostPool>();
}

std::shared_ptr<void> allocate_shared(const std::shared_ptr<MemoryResource>& resource, size_t bytes,
                                      StreamHandle stream) {
  void* p = resource->allocate(bytes, stream);
  return std::shared_ptr<void>(p, FreeOnStream{resource, bytes, stream});
}

size_t checked_bytes(int64_t count, size_t size) {
  size_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(static_cast<size_t>(count), size, &bytes) || bytes > (size_t{1} << 46))
    fail(ErrorKind::out_of_memory, "{} elements of {} bytes are too many", count, size);
  return bytes;
}

}  // namespace penstock
