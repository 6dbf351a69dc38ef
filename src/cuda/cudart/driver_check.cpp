// SPDX-License-Identifier: Apache-2.0
// Tests every function of the driver on a GPU, and prints PASS or FAIL per line and measured times. Needs NVRTC
// (PENSTOCK_NVRTC=/…/libnvrtc.so.13). `--fault` ends with a kernel that fails, after which the process cannot use the
// GPU.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "cuda/cudart/device_memory.h"
#include "cuda/runtime/driver.h"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;
int failures = 0;

void report(bool good, const std::string& what) {
  std::printf("%s %s\n", good ? "PASS" : "FAIL", what.c_str());
  std::fflush(stdout);
  failures += !good;
}
template <class F> void check(const std::string& what, F&& f) {
  try {
    report(f(), what);
  } catch (const std::exception& e) {
    report(false, what + ": " + e.what());
  }
}
template <class F> bool throws(ErrorKind kind, const std::string& words, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    const bool good = e.kind() == kind && std::string(e.what()).find(words) != std::string::npos;
    std::printf("     %s\n", e.what());
    return good;
  }
  return false;
}
double microseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
}
template <class F> void measure(const char* what, int times, F&& f) {
  f();
  const auto begin = Clock::now();
  for (int i = 0; i < times; ++i) f();
  std::printf("     %-58s %9.2f us\n", what, microseconds(begin) / times);
  std::fflush(stdout);
}

// Writes `value` to `n` floats, `cycles` clock cycles after it began.
constexpr const char* kFill = R"(
struct Fill { float* to; long long n; long long cycles; float value; };
extern "C" __global__ void fill(const char* table) {
  const Fill& f = *reinterpret_cast<const Fill*>(table);
  const long long begin = clock64();
  while (clock64() - begin < f.cycles) {}
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < f.n; i += (long long)gridDim.x * blockDim.x)
    f.to[i] = f.value;
}
)";
constexpr const char* kShared = R"(
extern __shared__ int room[];
extern "C" __global__ void shared(const char* table) {
  int* const* where = reinterpret_cast<int* const*>(table);
  const int n = *reinterpret_cast<const int*>(table + 8);
  for (int i = threadIdx.x; i < n; i += blockDim.x) room[i] = i;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) (*where)[i] = room[n - 1 - i];
}
)";
struct Fill {
  float* to;
  int64_t n, cycles;
  float value;
};
constexpr int64_t kLong = 100'000'000;  // cycles: 0.05 s at 2 GHz

class Checks {
 public:
  Checks(Driver& driver, int device) : driver_(driver), device_(device), pinned_(driver.pinned_memory()) {}

  void all() {
    a_ = driver_.take_stream(device_);
    b_ = driver_.take_stream(device_);
    memory_ = driver_.memory(device_);
    std::string why;
    check("kernel from text", [&] { return (fill_ = driver_.kernel(device_, kFill, "fill", why)) != nullptr; });
    if (!fill_) return report(false, "no kernels: " + why);
    streams(), memory(memory_, "pool"), current_context(), events(), calls(), pinned(), kernels(), users_memory();
    memory(make_cached_memory(std::make_shared<Gpus>(), device_), "cached blocks");
    peers(), costs(), out_of_memory();
    driver_.give_back_stream(device_, a_);
    driver_.give_back_stream(device_, b_);
  }

  void fault() {
    std::atomic<bool> called{false};
    check("a kernel that fails ends in an error, and callbacks still run", [&] {
      a_ = driver_.take_stream(device_);
      memory_ = driver_.memory(device_);
      std::string why;
      fill_ = driver_.kernel(device_, kFill, "fill", why);
      if (!fill_) fail(ErrorKind::internal, "no kernels: {}", why);
      enqueue(a_, reinterpret_cast<float*>(16), 1000, 1, kLong);
      driver_.notify(device_, a_, [&] { called = true; });
      const bool said =
          throws(ErrorKind::internal, "can no longer use the GPU", [&] { driver_.synchronize(device_, a_); });
      for (int i = 0; i < 6000 && !called; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return said && called;
    });
  }

 private:
  // The table is uploaded through pinned memory and freed after the kernel, as for stages.
  void enqueue(StreamHandle stream, float* to, int64_t n, float value, int64_t cycles = 0) {
    const Fill f{to, n, cycles, value};
    void* host = pinned_->allocate(sizeof f, stream);
    std::memcpy(host, &f, sizeof f);
    void* table = memory_->allocate(sizeof f, stream);
    driver_.copy(device_, table, host, sizeof f, stream);
    driver_.launch(device_, *fill_, {.blocks = 64, .threads = 256, .shared_bytes = 0}, table, stream);
    memory_->deallocate(table, sizeof f, stream);
    pinned_->deallocate(host, sizeof f, stream);
  }
  bool holds(const float* p, int64_t n, float value, StreamHandle stream) {
    const size_t bytes = static_cast<size_t>(n) * sizeof(float);
    auto* host = static_cast<float*>(pinned_->allocate(bytes));
    driver_.copy(device_, host, p, bytes, stream);
    driver_.synchronize(device_, stream);
    const bool good = std::all_of(host, host + n, [&](float x) { return x == value; });
    pinned_->deallocate(host, bytes);
    return good;
  }

  void streams() {
    check("streams differ, and one that is given back is reused", [&] {
      const StreamHandle c = driver_.take_stream(device_);
      const bool differ = a_ && b_ && c && a_ != b_ && b_ != c && a_ != c;
      driver_.give_back_stream(device_, c);
      const StreamHandle again = driver_.take_stream(device_);
      driver_.give_back_stream(device_, again);
      return differ && again == c;
    });
  }

  void memory(const std::shared_ptr<MemoryResource>& resource, const std::string& name) {
    constexpr int64_t n = 1 << 20;
    constexpr size_t bytes = n * sizeof(float);
    check(name + ": zeroed, written, copied, read", [&] {
      auto* p = static_cast<float*>(resource->allocate(bytes, a_));
      auto* q = static_cast<float*>(resource->allocate(bytes, a_));
      driver_.set_zero(device_, p, bytes, a_);
      bool good = holds(p, n, 0, a_) && reinterpret_cast<uintptr_t>(p) % 64 == 0;
      enqueue(a_, p, n, 3);
      driver_.copy(device_, q, p, bytes, a_);
      good = good && holds(q, n, 3, a_);
      resource->deallocate(p, bytes, a_);
      resource->deallocate(q, bytes, a_);
      return good;
    });
    check(name + ": small blocks are reused on a stream, and on another one only after it", [&] {
      bool good = true;
      for (int i = 0; i < 5; ++i) {
        auto* p = static_cast<float*>(resource->allocate(1000, a_));
        enqueue(a_, p, 250, 1, kLong);
        resource->deallocate(p, 1000, a_);
        auto* q = static_cast<float*>(resource->allocate(1000, b_));  // the kernel on a_ has not written yet
        enqueue(b_, q, 250, 2);
        auto* again = static_cast<float*>(resource->allocate(900, a_));
        enqueue(a_, again, 225, 3);
        const auto behind = driver_.record(device_, a_);
        driver_.wait(device_, b_, *behind);
        good = good && holds(q, 250, 2, b_) && holds(again, 225, 3, b_) && q != p && (name != "pool" || again == p);
        resource->deallocate(q, 1000, b_);
        resource->deallocate(again, 900, a_);
      }
      return good;
    });
    check(name + ": another stream does not reuse too early what one frees late", [&] {
      bool good = true;
      for (int i = 0; i < 5; ++i) {
        auto* p = static_cast<float*>(resource->allocate(bytes, a_));
        enqueue(a_, p, n, 1, kLong);
        resource->deallocate(p, bytes, a_);
        auto* q = static_cast<float*>(resource->allocate(bytes, b_));
        enqueue(b_, q, n, 2);
        const auto behind = driver_.record(device_, a_);
        driver_.wait(device_, b_, *behind);
        good = good && holds(q, n, 2, b_);
        resource->deallocate(q, bytes, b_);
      }
      return good;
    });
    check(name + ": a steady loop takes nothing from the system", [&] {
      size_t before = 0, after = 0, total = 0;
      const auto loop = [&] {
        for (int i = 0; i < 300; ++i) {
          const StreamHandle s = i % 2 ? a_ : b_;
          void* p = resource->allocate(bytes * 4, s);
          void* q = resource->allocate(bytes * 8, s);
          driver_.set_zero(device_, p, bytes * 4, s);
          resource->deallocate(p, bytes * 4, s);
          resource->deallocate(q, bytes * 8, s);
        }
        driver_.synchronize(device_, a_);
        driver_.synchronize(device_, b_);
        cudaSetDevice(device_);
      };
      loop();
      cudaMemGetInfo(&before, &total);
      loop();
      cudaMemGetInfo(&after, &total);
      return before == after && before > 0;
    });
  }

  void current_context() {
    check("a thread with no context has none afterwards", [&] {
      using Current = CUresult (*)(CUcontext*);
      const auto current = reinterpret_cast<Current>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent"));
      auto before = reinterpret_cast<CUcontext>(1), after = before;
      std::thread([&] {
        current(&before);
        void* p = memory_->allocate(100, a_);
        driver_.set_zero(device_, p, 100, a_);
        memory_->deallocate(p, 100, a_);
        driver_.record(device_, a_)->synchronize();
        current(&after);
      }).join();
      return before == nullptr && after == nullptr;
    });
    check("scopes within each other leave the thread's capture mode as it was", [&] {
      const auto exchanged = [](cudaStreamCaptureMode with) {
        check_cuda(cudaThreadExchangeStreamCaptureMode(&with), "changing the capture mode", 0);
        return with;
      };
      const cudaStreamCaptureMode usual = exchanged(cudaStreamCaptureModeThreadLocal);
      cudaStreamCaptureMode within = usual;
      driver_.on_device(device_, [&] {
        driver_.synchronize(device_, a_);
        within = exchanged(cudaStreamCaptureModeRelaxed);
      });
      return within == cudaStreamCaptureModeRelaxed && exchanged(usual) == cudaStreamCaptureModeThreadLocal;
    });
  }

  void events() {
    auto* p = static_cast<float*>(memory_->allocate(4000, a_));
    check("an event is not done before its stream, and done after", [&] {
      enqueue(a_, p, 1000, 5, kLong);
      const auto event = driver_.record(device_, a_);
      const bool early = event->done();
      event->synchronize();
      return !early && event->done();
    });
    check("a stream waits for an event of another", [&] {
      enqueue(a_, p, 1000, 7, kLong);
      const auto event = driver_.record(device_, a_);
      driver_.wait(device_, b_, *event);
      return holds(p, 1000, 7, b_);
    });
    memory_->deallocate(p, 4000, a_);
  }

  void calls() {
    check("callbacks run after the work, in order, and their exceptions stay there", [&] {
      auto* p = static_cast<float*>(memory_->allocate(4000, a_));
      std::vector<int> order;
      bool early = false;
      enqueue(a_, p, 1000, 5, kLong);
      const auto event = driver_.record(device_, a_);
      std::atomic<int> came{0};
      driver_.notify(device_, a_, [&] { order.push_back(0), ++came; });
      driver_.notify(device_, a_, [] { throw std::runtime_error("not to be seen"); });
      for (int i = 1; i < 100; ++i) driver_.notify(device_, a_, [&, i] { order.push_back(i), ++came; });
      early = came > 0 && !event->done();
      driver_.synchronize(device_, a_);
      bool good = !early && came == 100;
      for (int i = 0; i < 100 && good; ++i) good = order[static_cast<size_t>(i)] == i;
      memory_->deallocate(p, 4000, a_);
      return good;
    });
  }

  void pinned() {
    constexpr size_t bytes = 100'000;
    check("pinned memory that a stream still reads is not reused", [&] {
      void* p = pinned_->allocate(bytes, a_);
      auto* d = static_cast<float*>(memory_->allocate(bytes, a_));
      enqueue(a_, d, 100, 5, kLong);
      driver_.copy(device_, d, p, bytes, a_);
      pinned_->deallocate(p, bytes, a_);
      void* q = pinned_->allocate(bytes, a_);
      driver_.synchronize(device_, a_);
      std::vector<void*> later;  // it is requested again if no other one is idle
      while (later.size() < 3000 && (later.empty() || later.back() != p)) later.push_back(pinned_->allocate(bytes, a_));
      const bool again = later.back() == p;
      pinned_->deallocate(q, bytes, a_);
      for (void* r : later) pinned_->deallocate(r, bytes);
      memory_->deallocate(d, bytes, a_);
      return q != p && again;
    });
    check("the device of memory", [&] {
      void* p = pinned_->allocate(bytes, a_);
      bool good = false;
      int somewhere = 0;
      std::thread([&] {  // without a context
        const bool right = driver_.is_pinned(p) && !driver_.is_pinned(&somewhere) && driver_.device_of(p) == -1 &&
                           driver_.device_of(&somewhere) == -1;
        void* d = memory_->allocate(100, a_);
        good = right && driver_.device_of(d) == device_ && !driver_.is_pinned(d);
        memory_->deallocate(d, 100, a_);
      })
          .join();
      pinned_->deallocate(p, bytes, a_);
      return good && reinterpret_cast<uintptr_t>(p) % 64 == 0;
    });
  }

  void kernels() {
    check("a kernel is compiled once for all requests", [&] {
      std::vector<std::shared_ptr<const DeviceKernel>> got(8);
      std::vector<std::thread> threads;
      const std::string text = std::string(kFill) + "// " + std::to_string(Clock::now().time_since_epoch().count());
      std::string why[8];
      for (size_t t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
          try {
            got[t] = driver_.kernel(device_, text, "fill", why[t]);
          } catch (const std::exception& e) {
            std::printf("     %s\n", e.what());
          }
        });
      for (auto& t : threads) t.join();
      return got[0] && std::all_of(got.begin(), got.end(), [&](const auto& k) { return k == got[0]; });
    });
    std::string why;
    check("a wrong text ends in the compiler's message", [&] {
      return throws(ErrorKind::internal, "undeclared", [&] {
        driver_.kernel(device_, "extern \"C\" __global__ void f(const char*) { undeclared = 1; }", "f", why);
      });
    });
    check("an entry that is not in the text", [&] {
      return throws(ErrorKind::internal, "nothing", [&] { driver_.kernel(device_, kFill, "nothing", why); });
    });
    const auto kernel = driver_.kernel(device_, kShared, "shared", why);
    const size_t most = driver_.most_shared_bytes(device_);
    for (const size_t bytes : {size_t{4096}, size_t{48} << 10, most})
      check(fmt::format("{} bytes of shared memory", bytes), [&] {
        const int n = static_cast<int>(bytes / 4);
        struct {
          void* to;
          int n;
        } table{memory_->allocate(bytes, a_), n};
        void* up = memory_->allocate(sizeof table, a_);
        driver_.copy(device_, up, &table, sizeof table, a_);
        driver_.launch(device_, *kernel, {.blocks = 1, .threads = 256, .shared_bytes = bytes}, up, a_);
        std::vector<int> got(static_cast<size_t>(n));
        driver_.copy(device_, got.data(), table.to, bytes, a_);
        driver_.synchronize(device_, a_);
        bool good = true;
        for (int i = 0; i < n; ++i) good = good && got[static_cast<size_t>(i)] == n - 1 - i;
        memory_->deallocate(table.to, bytes, a_);
        memory_->deallocate(up, sizeof table, a_);
        return good;
      });
    check("more shared memory than the GPU has", [&] {
      return throws(ErrorKind::internal, "shared memory", [&] {
        driver_.launch(device_, *kernel, {.blocks = 1, .threads = 256, .shared_bytes = most + 1}, nullptr, a_);
      });
    });
    check("impossible numbers of blocks and threads", [&] {
      driver_.launch(device_, *kernel, {.blocks = 0, .threads = 256, .shared_bytes = 0}, nullptr, a_);
      return throws(ErrorKind::internal, "cannot be launched", [&] {
        driver_.launch(device_, *kernel, {.blocks = 1, .threads = 2000, .shared_bytes = 0}, nullptr, a_);
      });
    });
  }

  void users_memory() {
    check("a user's allocator replaces the pool, and the pool returns", [&] {
      auto users = std::make_shared<HostPool>();
      driver_.set_memory(device_, users);
      const bool placed = driver_.memory(device_) == users;
      driver_.set_memory(device_, nullptr);
      return placed && driver_.memory(device_) == memory_;
    });
  }

  void peers() {
    for (int other = 0; other < driver_.device_count(); ++other) {
      if (other == device_) continue;
      check(fmt::format("copies from GPU {} to GPU {}", device_, other), [&] {
        auto* p = static_cast<float*>(memory_->allocate(4000, a_));
        const auto there = driver_.memory(other);
        const StreamHandle s = driver_.take_stream(other);
        auto* q = static_cast<float*>(there->allocate(4000, s));
        enqueue(a_, p, 1000, 9, kLong);
        const auto written = driver_.record(device_, a_);
        driver_.wait(other, s, *written);
        driver_.copy(other, q, p, 4000, s);
        std::vector<float> got(1000);
        driver_.copy(other, got.data(), q, 4000, s);
        driver_.synchronize(other, s);
        there->deallocate(q, 4000, s);
        memory_->deallocate(p, 4000, a_);
        driver_.give_back_stream(other, s);
        return std::all_of(got.begin(), got.end(), [](float x) { return x == 9; });
      });
    }
  }

  void costs() {
    constexpr size_t bytes = 100 << 10;
    void* host = pinned_->allocate(bytes, a_);
    auto* p = static_cast<float*>(memory_->allocate(bytes, a_));
    const Fill f{p, 0, 0, 0};
    void* table = memory_->allocate(sizeof f, a_);
    driver_.copy(device_, table, &f, sizeof f, a_);
    const Launch one{.blocks = 1, .threads = 32, .shared_bytes = 0};
    const auto finish = [&] { driver_.synchronize(device_, a_); };
    finish();
    measure("launch, host time", 500, [&] { driver_.launch(device_, *fill_, one, table, a_); });
    finish();
    measure("launch and synchronize", 1000, [&] { driver_.launch(device_, *fill_, one, table, a_), finish(); });
    measure("100 KB up from pinned memory and synchronize", 1000,
            [&] { driver_.copy(device_, p, host, bytes, a_), finish(); });
    measure("100 KB up, host time", 200, [&] { driver_.copy(device_, p, host, bytes, a_); });
    finish();
    measure("device memory, 1 MB, allocated and freed", 1000,
            [&] { memory_->deallocate(memory_->allocate(1 << 20, a_), 1 << 20, a_); });
    measure("pinned memory, 100 KB, allocated and freed on a stream", 1000,
            [&] { pinned_->deallocate(pinned_->allocate(bytes, a_), bytes, a_); });
    measure("event: recorded, waited for by a stream", 1000,
            [&] { driver_.wait(device_, b_, *driver_.record(device_, a_)); });
    measure("a callback, until it runs", 300, [&] {
      std::atomic<bool> came{false};
      driver_.notify(device_, a_, [&] { came = true; });
      while (!came) std::this_thread::yield();
    });
    std::string why;
    measure("a kernel found by its text", 1000, [&] { driver_.kernel(device_, kFill, "fill", why); });
    finish();
    memory_->deallocate(p, bytes, a_);
    memory_->deallocate(table, sizeof f, a_);
    pinned_->deallocate(host, bytes, a_);
  }

  void out_of_memory() {
    check("more memory than the GPU has", [&] {
      return throws(ErrorKind::out_of_memory, std::to_string(size_t{1} << 42),
                    [&] { static_cast<void>(memory_->allocate(size_t{1} << 42, a_)); });
    });
    check("all memory in pieces, then one large piece of it", [&] {
      constexpr size_t piece = size_t{1} << 30;
      std::vector<void*> pieces;
      const bool said = throws(ErrorKind::out_of_memory, "no room", [&] {
        for (int i = 0; i < 1000; ++i) pieces.push_back(memory_->allocate(piece, i % 2 ? a_ : b_));
      });
      std::printf("     %zu GB\n", pieces.size());
      for (size_t i = 0; i < pieces.size(); ++i) memory_->deallocate(pieces[i], piece, i % 2 ? a_ : b_);
      const size_t large = piece * std::max<size_t>(pieces.size() * 3 / 4, 1);
      void* p = memory_->allocate(large, a_);
      driver_.set_zero(device_, p, large, a_);
      memory_->deallocate(p, large, a_);
      driver_.synchronize(device_, a_);
      return said;
    });
    check("and work continues", [&] {
      auto* p = static_cast<float*>(memory_->allocate(4000, a_));
      enqueue(a_, p, 1000, 4);
      const bool good = holds(p, 1000, 4, a_);
      memory_->deallocate(p, 4000, a_);
      return good;
    });
  }

  Driver& driver_;
  const int device_;
  std::shared_ptr<MemoryResource> memory_, pinned_;
  std::shared_ptr<const DeviceKernel> fill_;
  StreamHandle a_ = nullptr, b_ = nullptr;
};

int run(bool fault) {
  std::unique_ptr<Driver> driver;
  check("driver", [&] { return (driver = make_driver()) != nullptr; });
  if (!driver) return 1;
  const int count = driver->device_count();
  for (const int none : {-1, count})
    check(fmt::format("GPU {} does not exist", none), [&] {
      return throws(ErrorKind::argument, std::to_string(count), [&] { driver->take_stream(none); }) &&
             throws(ErrorKind::argument, std::to_string(count), [&] { driver->memory(none); });
    });
  for (int device = count - 1; device >= 0; --device) {  // not in the usual order of creating contexts
    std::printf("GPU %d: %s, %d multiprocessors, %zu bytes of shared memory a block\n", device,
                driver->device_name(device).c_str(), driver->multiprocessors(device),
                driver->most_shared_bytes(device));
    Checks(*driver, device).all();
  }
  if (fault) Checks(*driver, 0).fault();
  std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}

}  // namespace
}  // namespace penstock

int main(int arguments, char** given) { return penstock::run(arguments > 1 && std::string(given[1]) == "--fault"); }
