// SPDX-License-Identifier: Apache-2.0
// The program's own allocator and threads.
#include <atomic>
#include <exception>
#include <mutex>

#include "base/thread_pool.h"
#include "capi/edge.h"

namespace penstock {
namespace {

constexpr size_t kAlignment = 64;

class ProgramMemory final : public MemoryResource {
 public:
  explicit ProgramMemory(const penstock_allocator_functions& f) : f_(f) {}
  ~ProgramMemory() override {
    if (armed_ && f_.release) f_.release(f_.user);
  }
  void arm() { armed_ = true; }  // from now on this object owns `user`
  void* allocate(size_t bytes, StreamHandle) override {
    void* p = f_.allocate(f_.user, bytes, kAlignment);
    if (!p) fail(ErrorKind::out_of_memory, "the program's allocator could not allocate {} bytes", bytes);
    if (reinterpret_cast<uintptr_t>(p) % kAlignment != 0) {
      f_.deallocate(f_.user, p, bytes, kAlignment);
      bad_argument("the program's allocator must return memory aligned to {} bytes", kAlignment);
    }
    return p;
  }
  void deallocate(void* p, size_t bytes, StreamHandle) noexcept override {
    f_.deallocate(f_.user, p, bytes, kAlignment);
  }

 private:
  const penstock_allocator_functions f_;
  bool armed_ = false;
};

class ProgramPool final : public ThreadPool {
 public:
  explicit ProgramPool(const penstock_thread_pool& pool) : pool_(pool) {}
  int size() const override { return pool_.threads; }
  void parallel_for(int64_t count, const std::function<void(int64_t, int)>& body) override {
    Loop loop{body};
    pool_.parallel_for(pool_.user, count, &Loop::run, &loop);
    if (loop.error) std::rethrow_exception(loop.error);
    if (loop.calls != count)
      fail(ErrorKind::internal, "the program's thread pool ran {} of {} bodies", loop.calls.load(), count);
  }

 private:
  struct Loop {
    const std::function<void(int64_t, int)>& body;
    std::atomic<int64_t> calls{0};
    std::atomic<bool> failed{false};
    std::mutex mutex{};
    std::exception_ptr error{};

    // No exception may pass through the program's code: the first one is kept until the loop ends.
    static void run(void* context, int64_t index, int thread) {
      auto& loop = *static_cast<Loop*>(context);
      ++loop.calls;
      if (loop.failed) return;
      try {
        loop.body(index, thread);
      } catch (...) {
        std::lock_guard lock(loop.mutex);
        if (!loop.error) loop.error = std::current_exception();
        loop.failed = true;
      }
    }
  };
  const penstock_thread_pool pool_;
};

}  // namespace

std::shared_ptr<MemoryResource> memory_of(const penstock_allocator* allocator) {
  return allocator ? allocator->memory : default_memory();
}

}  // namespace penstock

using namespace penstock;

penstock_status penstock_allocator_create(const penstock_allocator_functions* functions,
                                          penstock_allocator** allocator) {
  return guarded([&] {
    required(allocator, "allocator");
    const auto f = read_struct(functions, "functions");
    if (!f.allocate || !f.deallocate) bad_argument("an allocator needs the functions allocate and deallocate");
    auto memory = std::make_shared<ProgramMemory>(f);
    auto handle = std::make_unique<penstock_allocator>(penstock_allocator{memory});
    memory->arm();
    *allocator = handle.release();
  });
}

void penstock_allocator_destroy(penstock_allocator* allocator) { delete allocator; }

penstock_status penstock_set_default_allocator(const penstock_allocator* allocator) {
  return guarded([&] { set_default_memory(allocator ? allocator->memory : nullptr); });
}

penstock_status penstock_set_threads(int threads) {
  return guarded([&] {
    constexpr int kMost = 1024;
    if (threads < 0 || threads > kMost) bad_argument("threads must be 0 to {}, got {}", kMost, threads);
    set_shared_pool(threads ? std::make_shared<ThreadPool>(threads) : nullptr);
  });
}

penstock_status penstock_set_thread_pool(const penstock_thread_pool* pool) {
  return guarded([&] {
    if (!pool) return set_shared_pool(nullptr);
    const auto p = read_struct(pool, "pool");
    if (!p.parallel_for) bad_argument("a thread pool needs the function parallel_for");
    if (p.threads < 1) bad_argument("a thread pool needs at least one thread, got {}", p.threads);
    set_shared_pool(std::make_shared<ProgramPool>(p));
  });
}
