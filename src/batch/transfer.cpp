// SPDX-License-Identifier: Apache-2.0
#include "batch/transfer.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "base/begin_thread.h"
#include "base/error_of.h"
#include "base/gpu_library.h"
#include "base/thread_pool.h"
#include "batch/copy_strided_on_gpu.h"

namespace penstock {
namespace {

bool on_gpu(Device d) { return d.kind == DeviceKind::gpu; }

// Where a sample begins in the memory that Batch::allocate would give it.
struct Placing {
  std::vector<size_t> offset;
  size_t bytes = 0;
};
Placing placing_of(const Batch& b) {
  Placing p;
  const bool packed = b.has_uniform_shapes();
  for (int i = 0; i < b.size(); ++i) {
    p.offset.push_back(p.bytes);
    const size_t n = static_cast<size_t>(b.shape(i).volume()) * size_of(b.dtype());
    p.bytes += packed || i + 1 == b.size() ? n : (n + 63) / 64 * 64;
  }
  return p;
}

// Whether the samples are row-major and have the offsets of `p`, relative to the first one.
bool lies_as(const Batch& b, const Placing& p) {
  const auto* base = static_cast<const char*>(b.sample(0).data);
  for (int i = 0; i < b.size(); ++i) {
    const Batch::Sample& s = b.sample(i);
    if (!s.strides.empty() || static_cast<const char*>(s.data) != base + p.offset[i]) return false;
    // Samples of several owners can be adjacent by chance: then nobody owns the gaps.
    if (i > 0 && s.owner != b.sample(0).owner) return false;
  }
  return true;
}

Batch like(const Batch& from) {
  Batch b(from.dtype(), from.ndim(), from.layout(), from.size());
  for (int i = 0; i < from.size(); ++i) b.sample(i).shape = from.shape(i), b.sample(i).source = from.sample(i).source;
  return b;
}

// Copies samples into one block of host memory; several threads copy large ones.
constexpr size_t kParallelBytes = size_t{1} << 20;
void gather(const Batch& from, const Placing& p, char* to) {
  const auto one = [&](int64_t i, int) {
    const View v = from.view(static_cast<int>(i));
    const auto next = static_cast<size_t>(i) + 1;
    const size_t end = p.offset[i] + static_cast<size_t>(v.volume()) * size_of(v.dtype);
    if (const size_t begins = next < p.offset.size() ? p.offset[next] : p.bytes; begins > end)
      std::memset(to + end, 0, begins - end);
    if (v.volume() == 0) return;
    if (v.dense()) std::memcpy(to + p.offset[i], v.data, static_cast<size_t>(v.volume()) * size_of(v.dtype));
    else copy_strided(v, {to + p.offset[i], v.dtype, v.layout, v.shape, dense_strides(v.shape)});
  };
  if (from.size() > 1 && p.bytes >= kParallelBytes) shared_pool()->parallel_for(from.size(), one);
  else
    for (int i = 0; i < from.size(); ++i) one(i, 0);
}

// `stream` may still read our pinned memory: the memory is then freed on that stream.
bool hold_pinned(const std::shared_ptr<void>& owner, const MemoryResource* pinned, StreamHandle stream) {
  auto* freed = std::get_deleter<FreeOnStream>(owner);
  if (!freed || freed->resource.get() != pinned) return false;
  StreamHandle expected = nullptr;
  return std::atomic_ref(freed->stream).compare_exchange_strong(expected, stream) || expected == stream;
}

Batch host_to_gpu(const Batch& from, int gpu, StreamHandle stream) {
  DeviceRuntime& rt = runtime_of(gpu);
  wait_on_host(from);
  Batch to = like(from);
  to.allocate(rt.memory(gpu), stream);
  const Placing p = placing_of(from);
  if (p.bytes > 0) {
    const auto pinned = rt.pinned_memory();
    const Batch::Sample& first = from.sample(0);
    const auto& owner = first.owner ? first.owner : from.block;
    const void* source = first.data;
    std::shared_ptr<void> staged;
    if (!lies_as(from, p) || !owner) source = nullptr;
    else if (!hold_pinned(owner, pinned.get(), stream)) {
      if (!std::get_deleter<FreeOnStream>(owner) && rt.is_pinned(source)) {
        staged = owner_until_done(owner, gpu, stream);
      } else {
        source = nullptr;
      }
    }
    if (!source) {
      staged = allocate_shared(pinned, p.bytes, stream);
      gather(from, p, static_cast<char*>(staged.get()));
      source = staged.get();
    }
    rt.copy(gpu, to.sample(0).data, source, p.bytes, stream);
  }
  to.ready = rt.record(gpu, stream);
  return to;
}

// Copies from a GPU to any device; `stream` belongs to `gpu`.
Batch from_gpu(const Batch& from, Device target, int gpu, StreamHandle stream) {
  DeviceRuntime& rt = runtime_of(gpu);
  Batch to = like(from);
  to.allocate(on_gpu(target) ? rt.memory(gpu) : rt.pinned_memory(), stream);
  order_before(from, stream);
  const Placing p = placing_of(from);
  if (lies_as(from, p) && (from.size() > kCopiedOneByOne || p.bytes == from.bytes())) {
    if (p.bytes > 0) rt.copy(gpu, to.sample(0).data, from.sample(0).data, p.bytes, stream);
  } else {
    for (int i = 0; i < from.size(); ++i) {
      copy_strided_on_gpu(rt, gpu, from.view(i), to.view(i), stream);
      if (!on_gpu(target)) clear_gap_after(to, i);
    }
  }
  to.ready = rt.record(gpu, stream);
  used_on(from, stream, *to.ready);
  return to;
}

Batch batch_of(const Tensor& t) {
  Batch b(t.view.dtype, t.view.shape.size(), t.view.layout, 1);
  b.sample(0) = {t.view.data, t.view.shape, t.view.dense() ? Shape{} : t.view.strides, t.owner, t.source};
  b.set_device(t.device);
  b.stream = t.stream, b.ready = t.ready;
  return b;
}

// Destroys what it is given on its own thread: the function of notify must not call a GPU's library or wait for
// Python's lock, and a destructor may do both.
class LetGo {
 public:
  void operator()(std::shared_ptr<void> owner) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(owner));
    wake_.notify_one();
  }
  LetGo() {
    begin_thread([this] {
      std::unique_lock lock(mutex_);
      while (true) {
        wake_.wait(lock, [this] { return !waiting_.empty(); });
        std::vector<std::shared_ptr<void>> now;
        now.swap(waiting_);
        lock.unlock();
        now.clear();
        lock.lock();
      }
    }).detach();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<void>> waiting_;
};

LetGo& let_go() {
  static auto* forever = new LetGo;
  return *forever;
}

struct ThreadStreams {
  std::map<int, StreamHandle> of_gpu;
  ~ThreadStreams() {
    for (const auto& [gpu, stream] : of_gpu) gpu_library().runtime().give_back_stream(gpu, stream);
  }
};

}  // namespace

std::string name_of(Device d) { return on_gpu(d) ? fmt::format("gpu:{}", d.id) : "cpu"; }

DeviceRuntime& runtime_of(int gpu) {
  GpuLibrary& library = gpu_library();
  if (const std::string why = library.why_not(); !why.empty()) bad_argument("no GPU can be used: {}", why);
  DeviceRuntime& rt = library.runtime();
  if (gpu < 0 || gpu >= rt.device_count())
    bad_argument("there is no GPU {}: the machine has {}", gpu, rt.device_count());
  return rt;
}

StreamHandle thread_stream(int gpu) {
  thread_local ThreadStreams streams;
  auto& s = streams.of_gpu[gpu];
  if (!s) s = runtime_of(gpu).take_stream(gpu);
  return s;
}

Batch copy_to(const Batch& from, Device to, StreamHandle stream) {
  if (from.device() == to || from.size() == 0) return from;
  const int gpu = on_gpu(to) ? to.id : from.device().id;
  if (!stream) stream = thread_stream(gpu);
  return on_gpu(from.device()) ? from_gpu(from, to, gpu, stream) : host_to_gpu(from, gpu, stream);
}

void clear_gap_after(const Batch& b, int i) {
  const size_t n = static_cast<size_t>(b.shape(i).volume()) * size_of(b.dtype());
  if (i + 1 == b.size()) return;
  char* const end = static_cast<char*>(b.sample(i).data) + n;
  if (char* const next = static_cast<char*>(b.sample(i + 1).data); next > end)
    std::memset(end, 0, static_cast<size_t>(next - end));
}

Tensor copy_to(const Tensor& from, Device to, StreamHandle stream) {
  return from.device == to ? from : copy_to(batch_of(from), to, stream).tensor(0);
}

void gather_on_gpu(const Batch& from, Batch& to) {
  const int gpu = from.device().id;
  DeviceRuntime& rt = runtime_of(gpu);
  const StreamHandle stream = from.stream ? from.stream : thread_stream(gpu);
  to.allocate(rt.memory(gpu), stream);
  order_before(from, stream);
  auto* p = static_cast<char*>(to.sample(0).data);
  for (int i = 0; i < from.size(); ++i) {
    const View v = from.view(i);
    copy_strided_on_gpu(rt, gpu, v, {p, v.dtype, v.layout, v.shape, dense_strides(v.shape)}, stream);
    p += static_cast<size_t>(v.volume()) * size_of(v.dtype);
  }
  to.ready = rt.record(gpu, stream);
  used_on(from, stream, *to.ready);
}

Batch on_host(const Batch& batch) {
  Batch b = copy_to(batch, {});
  wait_on_host(b);
  b.ready = nullptr;
  return b;
}

Tensor on_host(const Tensor& tensor) {
  Tensor t = copy_to(tensor, {});
  wait_on_host(t);
  t.ready = nullptr;
  return t;
}

static void wait_on_host(Device device, StreamHandle stream, const DeviceEvent* ready) {
  if (ready) ready->synchronize();
  else if (on_gpu(device) && stream) runtime_of(device.id).synchronize(device.id, stream);
}
void wait_on_host(const Batch& b) { wait_on_host(b.device(), b.stream, b.ready.get()); }
void wait_on_host(const Tensor& t) { wait_on_host(t.device, t.stream, t.ready.get()); }

static void order_before(Device device, StreamHandle from, const DeviceEvent* ready, StreamHandle stream) {
  if (!on_gpu(device) || from == stream || (!from && !ready)) return;
  DeviceRuntime& rt = runtime_of(device.id);
  if (ready) rt.wait(device.id, stream, *ready);
  else rt.wait(device.id, stream, *rt.record(device.id, from));
}
void order_before(const Batch& b, StreamHandle stream) { order_before(b.device(), b.stream, b.ready.get(), stream); }
void order_before(const Tensor& t, StreamHandle stream) { order_before(t.device, t.stream, t.ready.get(), stream); }

namespace {

// Owners of memory that is freed in the order of one stream and used on another one. One object holds them all, so that
// one event orders them.
struct UsedOn {
  std::vector<std::shared_ptr<void>> owners;
  int gpu;
  StreamHandle freed_on, used_on;
  ~UsedOn() {
    if (owners.empty()) return;
    // Without this order the memory could be overwritten while it is read. If it fails, the memory is leaked instead.
    if (error_of([&] {
          DeviceRuntime& rt = runtime_of(gpu);
          rt.wait(gpu, freed_on, *rt.record(gpu, used_on));
        }))
      new std::vector<std::shared_ptr<void>>(std::move(owners));
  }
};

}  // namespace

Batch taken_over(Batch b, StreamHandle stream) {
  if (!on_gpu(b.device()) || b.stream == stream) return b;
  order_before(b, stream);
  if (b.stream) {
    const std::shared_ptr<UsedOn> all(new UsedOn{{}, b.device().id, b.stream, stream});
    all->owners.reserve(static_cast<size_t>(b.size()) + 1);
    const auto take = [&](std::shared_ptr<void>& owner) {
      if (!owner) return;
      void* p = owner.get();
      all->owners.push_back(std::move(owner));
      owner = std::shared_ptr<void>(all, p);
    };
    for (int i = 0; i < b.size(); ++i) take(b.sample(i).owner);
    take(b.block);
  }
  b.stream = stream, b.ready = nullptr;
  return b;
}

void used_on(const Batch& b, StreamHandle stream, const DeviceEvent& done) {
  if (on_gpu(b.device()) && b.stream && b.stream != stream)
    runtime_of(b.device().id).wait(b.device().id, b.stream, done);
}

std::shared_ptr<void> owner_used_on(std::shared_ptr<void> owner, int gpu, StreamHandle freed_on, StreamHandle used_on) {
  if (!owner || !freed_on || freed_on == used_on) return owner;
  void* p = owner.get();
  const std::shared_ptr<UsedOn> one(new UsedOn{{}, gpu, freed_on, used_on});
  one->owners.push_back(std::move(owner));
  return std::shared_ptr<void>(one, p);
}

std::shared_ptr<void> owner_until_done(std::shared_ptr<void> owner, int gpu, StreamHandle stream) {
  void* p = owner.get();
  let_go();  // creates its thread here, not in a callback
  return std::shared_ptr<void>(p, [owner = std::move(owner), gpu, stream](void*) mutable {
    auto* last = new std::shared_ptr<void>(std::move(owner));  // leaked if notify never calls
    error_of([&] {
      runtime_of(gpu).notify(gpu, stream, [last] {
        let_go()(std::move(*last));
        delete last;
      });
    });
  });
}

}  // namespace penstock
