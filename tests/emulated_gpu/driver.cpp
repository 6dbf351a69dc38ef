// SPDX-License-Identifier: Apache-2.0
// A GPU that is not there: device memory is host memory, streams run at once, and kernel texts are compiled by g++ and
// run block after block with one thread each. It shows whether the stages, the transfers and the executor do the right
// thing; of real hardware it shows nothing. PENSTOCK_EMULATED_GPUS says how many there are (2); with
// PENSTOCK_EMULATED_COMPILER=off texts are not compiled but those that are compiled with the library, as without NVRTC;
// =none: nor those, as on a GPU that they have no code for; =nvrtc: NVRTC makes their code first, as for a real GPU.
// With PENSTOCK_EMULATED_TEXTS kernels are written into that folder and do nothing; its file `launches` names each one
// that starts.
// With PENSTOCK_EMULATED_LAUNCHES=off kernels and copies do nothing, to measure the host. PENSTOCK_EMULATED_LOG names a
// file that gets a line for everything that is ordered by streams, so that tests can see the order.
// PENSTOCK_EMULATED_PROTECT: see device_memory.h.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"
#include "cuda/runtime/driver.h"
#include "cuda/runtime/kernel_cache.h"
#include "cuda/runtime/nvrtc.h"
#include "cuda/stages/texts.h"
#include "emulated_gpu/compile.h"
#include "emulated_gpu/cooperative_kernels.h"
#include "emulated_gpu/device_memory.h"

namespace penstock {
namespace {

template <class... A> void log(fmt::format_string<A...> text, A&&... args) {
  static FILE* const file = [] {
    const char* path = std::getenv("PENSTOCK_EMULATED_LOG");
    return path ? std::fopen(path, "a") : nullptr;
  }();
  if (!file) return;
  std::fputs((fmt::format(text, std::forward<A>(args)...) + '\n').c_str(), file);
  std::fflush(file);
}

// Which the thread works on, for libraries that ask; -1: none.
int& current_device() {
  static thread_local int current = -1;
  return current;
}

// How much later than the host a GPU works.
std::chrono::microseconds latency() {
  const char* text = std::getenv("PENSTOCK_EMULATED_LATENCY");
  return std::chrono::microseconds(text ? std::atoi(text) : 0);
}

class EmulatedEvent final : public DeviceEvent {
 public:
  explicit EmulatedEvent(int number) : number(number) {}
  bool done() const override { return std::chrono::steady_clock::now() >= when_; }
  void synchronize() const override { log("host waits for event {}", number); }
  const int number;

 private:
  const std::chrono::steady_clock::time_point when_ = std::chrono::steady_clock::now() + latency();
};

// With PENSTOCK_EMULATED_POISON new memory holds this byte, and a copy from page-locked memory to a GPU in which it
// stands four times in a row is an error: nobody has written that.
constexpr unsigned char kPoison = 0xA5;
bool poisons() {
  static const bool on = std::getenv("PENSTOCK_EMULATED_POISON") != nullptr;
  return on;
}

// Counts what it gave; PENSTOCK_EMULATED_MEMORY limits the bytes of a device, so that running out can be tested.
class EmulatedMemory final : public MemoryResource {
 public:
  explicit EmulatedMemory(Device device) : device_(device) {
    if (const char* limit = std::getenv("PENSTOCK_EMULATED_MEMORY"); limit && device.kind == DeviceKind::gpu)
      limit_ = std::strtoull(limit, nullptr, 10);
  }
  void* allocate(size_t bytes, StreamHandle stream) override {
    std::lock_guard lock(mutex_);
    if (held_ + bytes > limit_) fail(ErrorKind::out_of_memory, "GPU {}: no room for {} bytes", device_.id, bytes);
    void* p = is_device() ? take_device_memory(bytes) : std::aligned_alloc(256, (bytes + 511) / 256 * 256);
    if (!p) throw std::bad_alloc();
    if (poisons()) {
      DeviceAccess works;
      std::memset(p, kPoison, bytes);
    }
    held_ += bytes;
    blocks_[static_cast<char*>(p)] = bytes;
    log("{} {}: allocate {} bytes on {}", name(), device_.id, bytes, stream);
    return p;
  }
  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    std::lock_guard lock(mutex_);
    held_ -= bytes;
    blocks_.erase(static_cast<char*>(p));
    if (is_device()) give_back_device_memory(p, bytes);
    else std::free(p);
    log("{} {}: free {} bytes on {}", name(), device_.id, bytes, stream);
  }
  bool holds(const void* p) {
    std::lock_guard lock(mutex_);
    auto it = blocks_.upper_bound(const_cast<char*>(static_cast<const char*>(p)));
    if (it == blocks_.begin()) return false;
    --it;
    return p < it->first + std::max<size_t>(it->second, 1);
  }
  Device device() const override { return device_; }

 private:
  bool is_device() const { return device_.kind == DeviceKind::gpu; }
  const char* name() const { return is_device() ? "gpu" : "pinned"; }
  Device device_;
  std::mutex mutex_;
  std::map<char*, size_t> blocks_;
  size_t held_ = 0, limit_ = ~size_t{0};
};

// Calls what notify() is given after PENSTOCK_EMULATED_LATENCY microseconds, in order, on a thread of its own, as a GPU
// that works later does. 0: at once.
class Later {
 public:
  void call(std::function<void()> f) {
    if (latency_.count() == 0) return f();
    std::lock_guard lock(mutex_);
    calls_.emplace_back(std::chrono::steady_clock::now() + latency_, std::move(f));
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
    wake_.notify_one();
  }

 private:
  void serve() {
    for (std::unique_lock lock(mutex_);;) {
      wake_.wait(lock, [&] { return !calls_.empty(); });
      auto [when, f] = std::move(calls_.front());
      calls_.pop_front();
      lock.unlock();
      std::this_thread::sleep_until(when);
      f();
      lock.lock();
    }
  }
  const std::chrono::microseconds latency_ = latency();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::function<void()>>> calls_;
  std::thread thread_;
};

class EmulatedDriver final : public Driver {
 public:
  EmulatedDriver() {
    const char* n = std::getenv("PENSTOCK_EMULATED_GPUS");
    for (int i = 0, count = n ? std::atoi(n) : 2; i < count; ++i)
      own_memory_.push_back(std::make_shared<EmulatedMemory>(Device{DeviceKind::gpu, static_cast<int16_t>(i)}));
    memory_.assign(own_memory_.begin(), own_memory_.end());
  }
  int device_count() const override { return static_cast<int>(memory_.size()); }
  std::string device_name(int device) const override { return fmt::format("emulated GPU {}", check(device)); }
  StreamHandle take_stream(int device) override {
    check(device);
    std::lock_guard lock(mutex_);
    return reinterpret_cast<StreamHandle>(static_cast<uintptr_t>(0x1000 + 16 * ++streams_));
  }
  void give_back_stream(int, StreamHandle) noexcept override {}
  std::shared_ptr<MemoryResource> memory(int device) override {
    check(device);
    std::lock_guard lock(mutex_);
    return memory_[device];
  }
  void set_memory(int device, std::shared_ptr<MemoryResource> memory) override {
    check(device);
    std::lock_guard lock(mutex_);
    memory_[device] = memory ? std::move(memory) : own_memory_[device];
  }
  int device_of(const void* p) const override {
    for (int i = 0; i < device_count(); ++i)
      if (own_memory_[i]->holds(p)) return i;
    return -1;
  }
  bool is_pinned(const void* p) const override { return pinned_->holds(p); }
  std::shared_ptr<MemoryResource> pinned_memory() override { return pinned_; }
  void copy(int device, void* to, const void* from, size_t bytes, StreamHandle stream) override {
    check(device);
    log("gpu {}: copy {} bytes on {}", device, bytes, stream);
    if (poisons() && is_pinned(from) && device_of(to) >= 0)
      check_written(static_cast<const unsigned char*>(from), bytes);
    if (!launches()) return;
    DeviceAccess works;
    std::memcpy(to, from, bytes);
  }
  void set_zero(int device, void* to, size_t bytes, StreamHandle) override {
    check(device);
    DeviceAccess works;
    std::memset(to, 0, bytes);
  }
  std::shared_ptr<DeviceEvent> record(int device, StreamHandle stream) override {
    auto event = std::make_shared<EmulatedEvent>(++events_);
    log("gpu {}: record event {} on {}", check(device), event->number, stream);
    return event;
  }
  void wait(int device, StreamHandle stream, const DeviceEvent& event) override {
    log("gpu {}: {} waits for event {}", check(device), stream, static_cast<const EmulatedEvent&>(event).number);
  }
  void notify(int device, StreamHandle stream, std::function<void()> f) override {
    log("gpu {}: notify on {}", check(device), stream);
    static auto* later = new Later;  // its thread outlives static destruction
    later->call(std::move(f));
  }
  void synchronize(int device, StreamHandle stream) override {
    log("gpu {}: host waits for {}", check(device), stream);
  }

  std::shared_ptr<const DeviceKernel> kernel(int device, const std::string& text, const std::string& entry,
                                             std::string& why) override {
    check(device);
    const std::string word = compiler();
    if (word == "none" || (word == "off" && !is_prebuilt(text))) {
      why = "PENSTOCK_EMULATED_COMPILER is " + word;
      return nullptr;
    }
    bool ahead = is_prebuilt(text);
    {
      std::lock_guard lock(mutex_);
      ahead = ahead || kernels_.count(entry + '\n' + text);
    }
    if (!ahead) compile_as_real(text, entry);
    std::lock_guard lock(mutex_);
    auto& kept = kernels_[entry + '\n' + text];
    if (!kept) {
      if (!texts().empty()) kept = std::make_shared<HostKernel>(kept_text(text, entry));
      else if (const CooperativeKernel built_in = find_cooperative(text, entry))
        kept = std::make_shared<HostKernel>(built_in);
      else kept = compile_for_host(text, entry);
      if (std::getenv("PENSTOCK_CHECK_NVRTC")) check_with_nvrtc(text, entry);
    }
    return kept;
  }
  std::function<void()> compilation(int device, const std::string& text, const std::string& entry) override {
    check(device);
    std::lock_guard lock(mutex_);
    if (const std::string word = compiler(); word == "none" || word == "off") return {};
    if (!texts().empty() || is_prebuilt(text) || kernels_.count(entry + '\n' + text)) return {};
    return [=, this] {
      compile_as_real(text, entry);
      if (!find_cooperative(text, entry)) library_for_host(text, entry);
      std::lock_guard lock(mutex_);
      kernels_[entry + '\n' + text];
    };
  }
  std::shared_ptr<const DeviceKernel> prebuilt_kernel(int device, const std::string& text,
                                                      const std::string& entry) override {
    std::string why;
    return is_prebuilt(text) ? kernel(device, text, entry, why) : nullptr;
  }
  void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table,
              StreamHandle stream) override {
    check(device);
    log("gpu {}: launch on {}", device, stream);
    if (how.shared_bytes > most_shared_bytes(device)) fail(ErrorKind::internal, "{} shared bytes", how.shared_bytes);
    const auto& host_kernel = static_cast<const HostKernel&>(kernel);
    if (!texts().empty()) std::ofstream(texts() + "/launches", std::ios::app) << host_kernel.name() << '\n';
    if (!texts().empty() || !launches()) return;
    DeviceAccess works;
    host_kernel.run(how, static_cast<const char*>(table));
  }
  void on_device(int device, const std::function<void()>& f) override {
    struct Scope {
      explicit Scope(int device) : before(current_device()) { current_device() = device; }
      ~Scope() { current_device() = before; }
      const int before;
    } scope(check(device));
    f();
  }
  int multiprocessors(int) const override { return 4; }
  size_t most_shared_bytes(int) const override { return 99 * 1024; }

 private:
  static void check_written(const unsigned char* from, size_t bytes) {
    size_t run = 0;
    for (size_t i = 0; i < bytes; ++i)
      if (run = from[i] == kPoison ? run + 1 : 0; run == 4)
        fail(ErrorKind::internal, "{} bytes are copied to a GPU of which nobody has written number {}", bytes, i - 3);
  }
  static bool launches() {
    static const bool off = std::getenv("PENSTOCK_EMULATED_LAUNCHES") != nullptr;
    return !off;
  }
  static const std::string& texts() {
    static const char* const folder = std::getenv("PENSTOCK_EMULATED_TEXTS");
    static const std::string name = folder ? folder : "";
    return name;
  }
  // Writes the text of a kernel into the folder of texts; returns the file's name.
  static std::string kept_text(const std::string& text, const std::string& entry) {
    const std::string name = fmt::format("{:016x}.cu", std::hash<std::string>()(entry + text));
    std::ofstream(texts() + '/' + name) << text;
    return name;
  }
  static bool is_prebuilt(const std::string& text) {
    for (const PrebuiltText& t : prebuilt_texts())
      if (t.text() == text) return true;
    return false;
  }
  static std::string compiler() {
    const char* word = std::getenv("PENSTOCK_EMULATED_COMPILER");
    return word ? word : "";
  }
  // As slow as a test wants it, to see what runs meanwhile, or with the compiler of a real GPU.
  static void compile_as_real(const std::string& text, const std::string& entry) {
    if (const char* delay = std::getenv("PENSTOCK_EMULATED_COMPILE_MS"))
      std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(delay)));
    if (compiler() != "nvrtc") return;
    std::string why;
    const Nvrtc* nvrtc = Nvrtc::find(why);
    if (!nvrtc) fail(ErrorKind::internal, "{}", why);
    kernel_image(*nvrtc, KernelCache::of_user(), text, entry, nvrtc->options(90, why));
  }
  // The text as a GPU's compiler sees it, for the oldest and a new architecture.
  static void check_with_nvrtc(const std::string& text, const std::string& entry) {
    std::string why;
    const Nvrtc* nvrtc = Nvrtc::find(why);
    if (!nvrtc) fail(ErrorKind::internal, "NVRTC is to check the kernels: {}", why);
    for (const int architecture : {75, 90}) nvrtc->compile(text, entry, nvrtc->options(architecture, why));
  }
  int check(int device) const {
    if (device < 0 || device >= device_count())
      bad_argument("there is no GPU {}: the machine has {}", device, device_count());
    return device;
  }
  std::vector<std::shared_ptr<EmulatedMemory>> own_memory_;
  std::vector<std::shared_ptr<MemoryResource>> memory_;  // the program's own, or the same
  std::shared_ptr<EmulatedMemory> pinned_ = std::make_shared<EmulatedMemory>(Device{});
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const DeviceKernel>> kernels_;
  uintptr_t streams_ = 0;
  std::atomic<int> events_{0};
};

}  // namespace

// For the stand-in of libnvcuvid, which checks it.
extern "C" __attribute__((visibility("default"))) int penstock_emulated_current_device() { return current_device(); }

std::unique_ptr<Driver> make_driver() { return std::make_unique<EmulatedDriver>(); }

}  // namespace penstock
