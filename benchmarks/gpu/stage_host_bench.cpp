// SPDX-License-Identifier: Apache-2.0
// Host time of one call of a stage on the GPU: a driver that copies nothing and launches nothing, inputs that are not
// there.
//   stage_host_bench [name [repeats]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>

#include "cuda/runtime/driver.h"
#include "cuda/stages/stage.h"
#include "operator/bound_op.h"

namespace penstock {
namespace {

// Addresses without memory, or host memory that is used again.
class IdleMemory final : public MemoryResource {
 public:
  explicit IdleMemory(Device device) : device_(device) {}
  void* allocate(size_t bytes, StreamHandle) override {
    if (device_.kind == DeviceKind::gpu) return reinterpret_cast<void*>(uintptr_t{1} << 40);
    bytes = (bytes + 65535) / 65536 * 65536;
    auto& idle = idle_[bytes];
    if (idle.empty()) return std::aligned_alloc(256, bytes);
    void* p = idle.back();
    idle.pop_back();
    return p;
  }
  void deallocate(void* p, size_t bytes, StreamHandle) noexcept override {
    if (device_.kind == DeviceKind::cpu) idle_[(bytes + 65535) / 65536 * 65536].push_back(p);
  }
  Device device() const override { return device_; }

 private:
  Device device_;
  std::map<size_t, std::vector<void*>> idle_;
};

class IdleEvent final : public DeviceEvent {
 public:
  bool done() const override { return true; }
  void synchronize() const override {}
};

class IdleDriver final : public Driver {
 public:
  int64_t copied = 0, launches = 0;
  int device_count() const override { return 1; }
  std::string device_name(int) const override { return "idle"; }
  StreamHandle take_stream(int) override { return nullptr; }
  void give_back_stream(int, StreamHandle) noexcept override {}
  std::shared_ptr<MemoryResource> memory(int) override { return memory_; }
  void set_memory(int, std::shared_ptr<MemoryResource>) override {}
  std::shared_ptr<MemoryResource> pinned_memory() override { return pinned_; }
  void copy(int, void*, const void*, size_t bytes, StreamHandle) override { copied += static_cast<int64_t>(bytes); }
  void set_zero(int, void*, size_t, StreamHandle) override {}
  std::shared_ptr<DeviceEvent> record(int, StreamHandle) override { return std::make_shared<IdleEvent>(); }
  void wait(int, StreamHandle, const DeviceEvent&) override {}
  void notify(int, StreamHandle, std::function<void()> f) override { f(); }
  void synchronize(int, StreamHandle) override {}
  std::shared_ptr<const DeviceKernel> kernel(int, const std::string&, const std::string&, std::string&) override {
    return std::make_shared<DeviceKernel>();
  }
  std::function<void()> compilation(int, const std::string&, const std::string&) override { return {}; }
  void launch(int, const DeviceKernel&, const Launch&, const void*, StreamHandle) override { ++launches; }
  int multiprocessors(int) const override { return 132; }
  size_t most_shared_bytes(int) const override { return 227 * 1024; }

 private:
  std::shared_ptr<MemoryResource> memory_ = std::make_shared<IdleMemory>(Device{DeviceKind::gpu, 0});
  std::shared_ptr<MemoryResource> pinned_ = std::make_shared<IdleMemory>(Device{});
};

struct Given {
  std::string name;
  Value value;
  std::shared_ptr<Batch> batch;
};
struct Step {
  std::string op;
  std::vector<Given> args;
};

// One value for each sample, between lo and hi.
std::shared_ptr<Batch> drawn(int n, std::vector<std::pair<double, double>> ranges, DType t = DType::float32) {
  auto b = std::make_shared<Batch>(
      Batch::uniform(t, ranges.size() > 1 ? Shape{static_cast<int64_t>(ranges.size())} : Shape{}, {}, n));
  std::mt19937 random(1);
  for (int i = 0; i < n; ++i)
    for (size_t k = 0; k < ranges.size(); ++k) {
      const double v = std::uniform_real_distribution<double>(ranges[k].first, ranges[k].second)(random);
      if (t == DType::int32) b->view(i).as<int32_t>()[k] = v > 0.5;
      else b->view(i).as<float>()[k] = static_cast<float>(v);
    }
  return b;
}

Batch pictures(IdleDriver& driver, int n, int h, int w, bool ragged, bool named) {
  Batch b(DType::uint8, 3, "HWC", n);
  std::mt19937 random(2);
  for (int i = 0; i < n; ++i) {
    b.sample(i).shape = ragged
                            ? Shape{h / 2 + static_cast<int>(random() % h), w / 2 + static_cast<int>(random() % w), 3}
                            : Shape{h, w, 3};
    if (named) b.sample(i).source = "/data/imagenet/train/n01440764/n01440764_10026.JPEG";
  }
  b.allocate(driver.memory(0));
  return b;
}

void measure(const char* only, int repeats, const std::string& name, int n, int h, int w, bool ragged,
             const std::vector<Step>& steps, bool named = false) {
  if (only && name != only) return;
  IdleDriver driver;
  StageProgram p;
  p.inputs = {{DType::uint8, 3, "HWC"}};
  int value = 0;
  for (const auto& step : steps) {
    const OpInfo& info = get_op(step.op);
    std::vector<Argument> args(info.args.size());
    for (const auto& g : step.args)
      for (size_t i = 0; i < info.args.size(); ++i)
        if (info.args[i].name == g.name) args[i].value = g.value, args[i].batch = g.batch.get();
    const DrawKey draws{0, static_cast<uint32_t>(value + 1)};
    value = append_node(p, std::shared_ptr<BoundOp>(bind_op(info, args)), {value}, draws);
  }
  p.outputs = {value};
  const auto first = make_gpu_stage(p, driver);
  const Batch inputs[] = {pictures(driver, n, h, w, ragged, named)};
  BatchStageCall call;
  call.size = n, call.inputs = inputs, call.memory = driver.memory(0);
  call.context = [](int i) {
    SampleContext c;
    c.index = i, c.sample = static_cast<uint64_t>(i), c.seed = 7;
    return c;
  };
  using Clock = std::chrono::steady_clock;
  double best = 1e9, rebinding = 1e9;
  for (int r = 0; r < repeats; ++r) {
    const auto start = Clock::now();
    const auto runner = first->rebound(p);  // as a pipeline does for each iteration
    const auto bound = Clock::now();
    Batch out[1];
    std::vector<SampleError> errors;
    runner->run(call, out, errors);
    const auto end = Clock::now();
    if (!errors.empty()) std::printf("%s\n", errors[0].error.what()), std::exit(1);
    best = std::min(best, std::chrono::duration<double, std::micro>(end - bound).count());
    rebinding = std::min(rebinding, std::chrono::duration<double, std::micro>(bound - start).count());
  }
  std::printf("%-28s %8.1f us run  %6.1f us rebound  %7.1f kB  %g launches\n", name.c_str(), best, rebinding,
              static_cast<double>(driver.copied) / repeats / 1000, static_cast<double>(driver.launches) / repeats);
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  using namespace penstock;
  using Reals = std::vector<double>;
  const char* only = argc > 1 && std::string(argv[1]) != "all" ? argv[1] : nullptr;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 1000;
  const auto run = [&](auto... a) { measure(only, repeats, a...); };
  const Step bc{"brightness_contrast", {{"brightness", 1.3, {}}, {"contrast", 0.7, {}}}};
  const Step cmn{"crop_mirror_normalize",
                 {{"mean", Reals{120, 110, 100}, {}},
                  {"std", Reals{60, 50, 40}, {}},
                  {"dtype", int64_t(DType::float16), {}},
                  {"output_layout", std::string("CHW"), {}}}};
  Step crop = cmn, mirrored = cmn;
  crop.args.push_back({"crop", Reals{224, 224}, {}});
  mirrored.args.push_back({"mirror", {}, drawn(256, {{0, 1}}, DType::int32)});
  const Step resize{"resize", {{"size", Reals{224, 224}, {}}, {"antialias", false, {}}}};
  Step region = resize;
  region.args.push_back({"roi_start", {}, drawn(256, {{0, 50}, {0, 50}})});
  region.args.push_back({"roi_end", {}, drawn(256, {{100, 180}, {100, 180}})});
  using Steps = std::vector<Step>;
  run("bc_1", 1, 8, 8, false, Steps{bc});
  run("bc_256", 256, 8, 8, false, Steps{bc});
  run("bc_256_named", 256, 8, 8, false, Steps{bc}, true);
  run("bc_256_ragged", 256, 375, 500, true, Steps{bc});
  run("bc_256_each", 256, 8, 8, false, Steps{{"brightness_contrast", {{"brightness", {}, drawn(256, {{0.5, 1.5}})}}}});
  run("flip_256", 256, 8, 8, false, Steps{{"flip", {{"horizontal", int64_t(1), {}}}}});
  run("cmn_256", 256, 256, 256, false, Steps{crop});
  run("cmn_256_ragged", 256, 500, 500, true, Steps{crop});
  run("resize_cmn_256", 256, 375, 500, false, Steps{resize, cmn});
  run("resize_cmn_256_ragged", 256, 375, 500, true, Steps{resize, cmn});
  run("region_cmn_256_ragged", 256, 375, 500, true, Steps{region, mirrored});
  run("random_crop_cmn_256_ragged", 256, 375, 500, true,
      Steps{{"random_resized_crop", {{"size", Reals{224, 224}, {}}, {"antialias", false, {}}}}, mirrored});
  run("bc_64_1080p", 64, 1080, 1920, false, Steps{bc});
  run("bc_cmn_64_1080p", 64, 1080, 1920, false, Steps{bc, cmn});
  run("blur_64_1080p", 64, 1080, 1920, false,
      Steps{{"gaussian_blur", {{"window_size", std::vector<int64_t>{31}, {}}}}});
  run("rotate_64_1080p", 64, 1080, 1920, false, Steps{{"rotate", {{"angle", 33.0, {}}, {"fill_value", 0.0, {}}}}});
}
