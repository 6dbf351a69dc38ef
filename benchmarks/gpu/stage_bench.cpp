// SPDX-License-Identifier: Apache-2.0
// Kernels of stages on a real GPU, one line each: time of the kernels by events, of the host's part, the bandwidth of
// bytes in and out once, and its ratio to a copy's in the same run. usage: gpu_stage_bench [FILTER] [REPEATS]
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/error_of.h"
#include "batch/batch.h"
#include "cuda/stages/stage.h"
#include "gpu_room/forwarding_driver.h"

namespace penstock {
namespace {

// Passes everything on and takes the time of launches.
class TimedDriver final : public ForwardingDriver {
 public:
  using ForwardingDriver::ForwardingDriver;
  void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table, StreamHandle s) override {
    ++launches;
    if (!timed) return d_->launch(device, kernel, how, table, s);
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    d_->launch(device, kernel, how, table, s);
    cudaEventRecord(a, static_cast<cudaStream_t>(s));
    for (int i = 0; i < kAgain; ++i) d_->launch(device, kernel, how, table, s);  // the same work again: back to back
    cudaEventRecord(b, static_cast<cudaStream_t>(s));
    cudaEventSynchronize(b);
    float ms = 0;
    cudaEventElapsedTime(&ms, a, b);
    microseconds += ms * 1000 / kAgain;
    cudaEventDestroy(a), cudaEventDestroy(b);
  }
  static constexpr int kAgain = 20;
  bool timed = false;
  int launches = 0;
  double microseconds = 0;
};

using Arguments = std::vector<std::pair<std::string, Argument>>;
struct Operation {
  std::string op;
  Arguments args;
};

StageProgram program_of(const std::vector<Operation>& steps, const ValueType& input) {
  StageProgram p;
  p.inputs = {input};
  int value = 0;
  for (const auto& step : steps) {
    const OpInfo& info = get_op(step.op);
    std::vector<Argument> args(info.args.size());
    for (const auto& [name, a] : step.args)
      for (size_t i = 0; i < info.args.size(); ++i)
        if (info.args[i].name == name) args[i] = a;
    value = append_node(p, std::shared_ptr<BoundOp>(bind_op(info, args)), {value}, {0, 7});
  }
  p.outputs = {value};
  return p;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

class Bench {
 public:
  Bench(std::string filter, int repeats) : driver_(make_driver()), filter_(std::move(filter)), repeats_(repeats) {
    stream_ = driver_.take_stream(0);
    fmt::print("{}\n", driver_.device_name(0));
    const size_t bytes = size_t{64} * 1080 * 1920 * 3;
    const auto a = allocate_shared(driver_.memory(0), bytes, stream_),
               b = allocate_shared(driver_.memory(0), bytes, stream_);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    for (int i = 0; i < 3; ++i) driver_.copy(0, b.get(), a.get(), bytes, stream_);
    cudaEventRecord(begin, static_cast<cudaStream_t>(stream_));
    for (int i = 0; i < 20; ++i) driver_.copy(0, b.get(), a.get(), bytes, stream_);
    cudaEventRecord(end, static_cast<cudaStream_t>(stream_));
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    copy_ = 2.0 * static_cast<double>(bytes) * 20 / (ms / 1000);
    fmt::print("copy of {} MB: {:.1f} us, {:.2f} TB/s read and written\n", bytes >> 20, ms * 50, copy_ / 1e12);
    fmt::print("{:44} {:>9} {:>9} {:>9} {:>9} {:>8}\n", "case", "kernel us", "launches", "host us", "call us",
               "of copy");
  }

  Batch images(DType t, const std::vector<Shape>& shapes, const Layout& layout) {
    Batch b(t, 3, layout, static_cast<int>(shapes.size()));
    for (size_t i = 0; i < shapes.size(); ++i) b.sample(static_cast<int>(i)).shape = shapes[i];
    b.allocate(driver_.memory(0), stream_);
    const Batch::Sample& last = b.sample(b.size() - 1);
    const size_t bytes = static_cast<size_t>(static_cast<char*>(last.data) - static_cast<char*>(b.block.get())) +
                         static_cast<size_t>(last.shape.volume()) * size_of(t);
    std::vector<uint8_t> noise(std::min<size_t>(bytes, size_t{1} << 24));
    std::mt19937 random(1);
    for (auto& v : noise) v = static_cast<uint8_t>(random());
    if (t == DType::float32) {
      auto* f = reinterpret_cast<float*>(noise.data());
      for (size_t i = 0; i < noise.size() / 4; ++i) f[i] = static_cast<float>(random() & 255);
    }
    for (size_t at = 0; at < bytes; at += noise.size())
      driver_.copy(0, static_cast<char*>(b.block.get()) + at, noise.data(), std::min(noise.size(), bytes - at),
                   stream_);
    driver_.synchronize(0, stream_);
    return b;
  }

  // `bytes`: what must be read and written at least; 0: all of the input and the output.
  void run(const std::string& name, const std::vector<Operation>& steps, const Batch& in, double bytes = 0) {
    if (name.find(filter_) == std::string::npos) return;
    const auto error = error_of([&] { measure(name, steps, in, bytes); });
    if (error) fmt::print("{:44} {}\n", name, error->what());
  }

 private:
  void measure(const std::string& name, const std::vector<Operation>& steps, const Batch& in, double bytes) {
    const auto stage = make_gpu_stage(program_of(steps, {in.dtype(), in.ndim(), in.layout()}), driver_);
    BatchStageCall call;
    call.size = in.size(), call.inputs = std::span(&in, 1), call.memory = driver_.memory(0), call.stream = stream_;
    call.context = [](int i) {
      SampleContext c;
      c.index = i, c.sample = static_cast<uint64_t>(i);
      return c;
    };
    std::vector<double> kernel, host, whole;
    double out_bytes = 0;
    for (int r = 0; r < repeats_ + 1; ++r) {
      Batch out[1];
      std::vector<SampleError> errors;
      driver_.timed = true, driver_.microseconds = 0, driver_.launches = 0;
      stage->run(call, out, errors);
      if (!errors.empty()) throw errors[0].error;
      out_bytes = static_cast<double>(out[0].bytes());
      if (r > 0) kernel.push_back(driver_.microseconds);
      driver_.timed = false;
      driver_.synchronize(0, stream_);
      constexpr int kCalls = 20;
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < kCalls; ++i) stage->run(call, out, errors);
      const auto enqueued = std::chrono::steady_clock::now();
      driver_.synchronize(0, stream_);
      const auto done = std::chrono::steady_clock::now();
      if (r > 0) {
        host.push_back(std::chrono::duration<double, std::micro>(enqueued - begin).count() / kCalls);
        whole.push_back(std::chrono::duration<double, std::micro>(done - begin).count() / kCalls);
      }
    }
    const int launches = driver_.launches / 21;
    if (bytes == 0) bytes = static_cast<double>(in.bytes()) + out_bytes;
    fmt::print("{:44} {:9.1f} {:9} {:9.1f} {:9.1f} {:8.2f}\n", name, median(kernel), launches, median(host),
               median(whole), bytes / (median(kernel) * 1e-6) / copy_);
    std::fflush(stdout);
  }

  TimedDriver driver_;
  StreamHandle stream_;
  std::string filter_;
  int repeats_;
  double copy_ = 1;
};

Argument constant(Value v) { return {std::move(v), nullptr}; }

Batch per_sample(int n, int values, const std::function<float(int, int)>& f) {
  Batch b = values == 0 ? Batch::uniform(DType::float32, Shape{}, {}, n)
                        : Batch::uniform(DType::float32, Shape{values}, {}, n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < std::max(1, values); ++k) b.view(i).as<float>()[k] = f(i, k);
  return b;
}

int run_all(const std::string& filter, int repeats) {
  Bench bench(filter, repeats);
  const std::vector<double> mean{123.7, 116.3, 103.5}, std_dev{58.4, 57.1, 57.4};
  const Operation bc{"brightness_contrast", {{"brightness", constant(1.1)}, {"contrast", constant(0.9)}}};
  const Operation normalize{
      "crop_mirror_normalize",
      {{"mean", constant(mean)}, {"std", constant(std_dev)}, {"dtype", constant(int64_t(DType::float16))}}};
  const auto turn = [](double angle) {
    return Operation{"rotate",
                     {{"angle", constant(angle)}, {"keep_size", constant(true)}, {"fill_value", constant(0.0)}}};
  };
  {
    const Batch hd = bench.images(DType::uint8, std::vector<Shape>(64, Shape{1080, 1920, 3}), "HWC");
    bench.run("1080p u8 copy", {{"copy", {}}}, hd);
    bench.run("1080p u8 1 x brightness_contrast", {bc}, hd);
    bench.run("1080p u8 2 x brightness_contrast", {bc, bc}, hd);
    bench.run("1080p u8 10 x brightness_contrast", std::vector<Operation>(10, bc), hd);
    bench.run("1080p u8 brightness_contrast + cmn CHW f16", {bc, normalize}, hd);
    bench.run("1080p u8 color_twist", {{"color_twist", {{"hue", constant(20.0)}, {"saturation", constant(1.2)}}}}, hd);
    bench.run("1080p u8 flip", {{"flip", {}}}, hd);
    bench.run("1080p gaussian 5", {{"gaussian_blur", {{"window_size", constant(std::vector<int64_t>{5})}}}}, hd);
    bench.run("1080p gaussian 31", {{"gaussian_blur", {{"window_size", constant(std::vector<int64_t>{31})}}}}, hd);
    for (const double angle : {15.0, 45.0, 90.0})
      bench.run(fmt::format("1080p warp (rotate {})", angle), {turn(angle)}, hd);
    bench.run("1080p warp (rotate 15) + brightness_contrast", {turn(15), bc}, hd);
    bench.run("1080p warp (rotate 15) + cmn CHW f16", {turn(15), normalize}, hd);
    bench.run("1080p warp (to half its size)",
              {{"warp_affine", {{"matrix", constant(std::vector<double>{2, 0, -960, 0, 2, -540})}}}}, hd);
    const Operation to640{"resize",
                          {{"size", constant(std::vector<double>{640, 640})}, {"antialias", constant(false)}}};
    bench.run("1080p resize 640", {to640}, hd);
    bench.run("1080p resize 640 + cmn f16", {to640, normalize}, hd);
    bench.run("1080p resize 640 antialias", {{"resize", {{"size", constant(std::vector<double>{640, 640})}}}}, hd);
  }
  {
    const Batch hd = bench.images(DType::float32, std::vector<Shape>(64, Shape{1080, 1920, 3}), "HWC");
    bench.run("1080p f32 10 x brightness_contrast", std::vector<Operation>(10, bc), hd);
  }
  std::mt19937 random(3);
  std::vector<Shape> shapes;
  for (int i = 0; i < 256; ++i)
    shapes.push_back(Shape{static_cast<int64_t>(224 + random() % 289), static_cast<int64_t>(224 + random() % 289), 3});
  const Batch ragged = bench.images(DType::uint8, shapes, "HWC");
  const Batch mirror = per_sample(256, 0, [](int i, int) { return static_cast<float>(i & 1); });
  Operation cmn = normalize;
  cmn.args.push_back({"mirror", {{}, &mirror}});
  // Regions of random area and shape, as random_resized_crop draws them.
  std::vector<float> y0(256), x0(256), y1(256), x1(256);
  double area = 0;
  for (int i = 0; i < 256; ++i) {
    const double h = static_cast<double>(shapes[i][0]), w = static_cast<double>(shapes[i][1]);
    const double a = h * w * (0.08 + 0.92 * (random() % 1000) / 1000),
                 aspect = std::exp(std::log(4.0 / 3) * (2.0 * (random() % 1000) / 1000 - 1));
    const double rw = std::min(w, std::sqrt(a * aspect)), rh = std::min(h, std::sqrt(a / aspect));
    y0[i] = static_cast<float>(std::floor((h - rh) * (random() % 1000) / 1000)),
    x0[i] = static_cast<float>(std::floor((w - rw) * (random() % 1000) / 1000));
    y1[i] = y0[i] + static_cast<float>(std::floor(rh)), x1[i] = x0[i] + static_cast<float>(std::floor(rw));
    area += rw * rh * 3;
  }
  const Batch start = per_sample(256, 2, [&](int i, int k) { return k ? x0[i] : y0[i]; });
  const Batch end = per_sample(256, 2, [&](int i, int k) { return k ? x1[i] : y1[i]; });
  for (const bool antialias : {false, true}) {
    const Operation crop{"resize",
                         {{"size", constant(std::vector<double>{224, 224})},
                          {"antialias", constant(antialias)},
                          {"roi_start", {{}, &start}},
                          {"roi_end", {{}, &end}}}};
    const Operation whole{"resize",
                          {{"size", constant(std::vector<double>{224, 224})}, {"antialias", constant(antialias)}}};
    const char* kind = antialias ? " antialias" : "";
    bench.run(fmt::format("ragged 256 crop + flip + cmn CHW f16{}", kind), {crop, cmn}, ragged,
              area + 256 * 224 * 224 * 3 * 2);
    bench.run(fmt::format("ragged 256 whole + flip + cmn CHW f16{}", kind), {whole, cmn}, ragged);
    bench.run(fmt::format("ragged 256 crop, u8 HWC{}", kind), {crop}, ragged, area + 256 * 224 * 224 * 3);
  }
  bench.run("ragged 256 brightness_contrast", {bc}, ragged);
  bench.run("ragged 256 flip", {{"flip", {{"horizontal", {{}, &mirror}}}}}, ragged);
  bench.run("ragged 256 warp (rotate 15)", {turn(15)}, ragged);
  bench.run("ragged 256 warp (rotate 15) + cmn CHW f16", {turn(15), normalize}, ragged);
  const Batch tiny = bench.images(DType::uint8, std::vector<Shape>(256, Shape{8, 8, 3}), "HWC");
  bench.run("tiny 256 brightness_contrast", {bc}, tiny);
  const Batch one = bench.images(DType::uint8, std::vector<Shape>(1, Shape{8, 8, 3}), "HWC");
  bench.run("tiny 1 brightness_contrast", {bc}, one);
  return 0;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  setenv("PENSTOCK_KERNELS", "compiled", 0);  // or `generic`
  return penstock::run_all(argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : 5);
}
