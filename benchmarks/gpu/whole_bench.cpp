// SPDX-License-Identifier: Apache-2.0
// usage: gpu_whole_bench [PART OF A NAME]
// Time of whole operators on 64 pictures of 1080p, beside a copy of as many bytes.
#include <chrono>
#include <cstdio>
#include <cstring>

#include "cuda/whole/whole_stage.h"
#include "exec/call.h"

namespace penstock {
namespace {

using Arguments = std::vector<std::pair<std::string, Value>>;
using Ints = std::vector<int64_t>;
using Reals = std::vector<double>;
constexpr int kBatch = 64, kRuns = 20;

Driver& driver() {
  static const std::unique_ptr<Driver> made = make_driver();
  return *made;
}
double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double bytes_per_second(StreamHandle stream) {
  const size_t bytes = size_t{kBatch} * 1080 * 1920 * 3;
  const auto from = allocate_shared(driver().memory(0), bytes, stream),
             to = allocate_shared(driver().memory(0), bytes, stream);
  for (int r = 0; r < 3; ++r) driver().copy(0, to.get(), from.get(), bytes, stream);
  driver().synchronize(0, stream);
  const double begin = seconds();
  for (int r = 0; r < kRuns; ++r) driver().copy(0, to.get(), from.get(), bytes, stream);
  driver().synchronize(0, stream);
  return 2.0 * static_cast<double>(bytes) * kRuns / (seconds() - begin);
}

void measure(const char* name, const char* op, const Arguments& given, DType type, const Shape& shape,
             const Layout& layout, int inputs, StreamHandle stream, double copy) {
  const OpInfo& info = get_op(op);
  std::vector<Argument> args(info.args.size());
  for (const auto& [argument, value] : given)
    for (size_t i = 0; i < args.size(); ++i)
      if (info.args[i].name == argument) args[i].value = value;
  StageProgram program;
  std::vector<int> operands;
  std::vector<Batch> in;
  size_t bytes = 0;
  for (int k = 0; k < inputs; ++k) {
    in.push_back(Batch::uniform(type, shape, layout, kBatch, driver().memory(0)));
    driver().set_zero(0, in.back().block.get(), in.back().bytes(), stream);
    program.inputs.push_back({type, shape.size(), layout});
    operands.push_back(k);
    bytes += in.back().bytes();
  }
  program.outputs = {append_node(program, bind_op(info, args), operands, {0, 1})};
  const auto stage = make_whole_stage(program, driver());
  BatchStageCall call;
  call.size = kBatch, call.inputs = in, call.memory = driver().memory(0), call.stream = stream;
  call.context = [](int i) {
    SampleContext c;
    c.sample = static_cast<uint64_t>(i);
    return c;
  };
  Batch out[1];
  std::vector<SampleError> errors;
  for (int r = 0; r < 3; ++r) stage->run(call, out, errors);
  driver().synchronize(0, stream);
  bytes += out[0].bytes();
  const double begin = seconds();
  for (int r = 0; r < kRuns; ++r) stage->run(call, out, errors);
  const double enqueued = seconds();
  driver().synchronize(0, stream);
  const double each = (seconds() - begin) / kRuns, host = (enqueued - begin) / kRuns;
  std::printf("%-34s %9.1f us  host %7.1f us  %7.1f GB/s  %5.2f of a copy\n", name, each * 1e6, host * 1e6,
              static_cast<double>(bytes) / each * 1e-9, static_cast<double>(bytes) / each / copy);
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  using namespace penstock;
  const StreamHandle stream = driver().take_stream(0);
  const double copy = bytes_per_second(stream);
  std::printf("%s: a copy reads and writes %.0f GB/s\n", driver().device_name(0).c_str(), copy * 1e-9);
  const char* part = argc > 1 ? argv[1] : "";
  const Shape image{1080, 1920, 3}, gray{1080, 1920}, planes{3, 1080, 1920};
  const auto run = [&](const char* name, const char* op, const Arguments& args, DType t, const Shape& s,
                       const Layout& l, int inputs = 1) {
    if (std::strstr(name, part)) measure(name, op, args, t, s, l, inputs, stream, copy);
  };
  const DType u8 = DType::uint8, f16 = DType::float16, f32 = DType::float32;
  run("reshape u8", "reshape", {{"shape", Ints{-1}}}, u8, image, "HWC");
  run("transpose HWC CHW u8", "transpose", {{"perm", Ints{2, 0, 1}}}, u8, image, "HWC");
  run("transpose HWC CHW f16", "transpose", {{"perm", Ints{2, 0, 1}}}, f16, image, "HWC");
  run("transpose HWC CHW f32", "transpose", {{"perm", Ints{2, 0, 1}}}, f32, image, "HWC");
  run("transpose CHW HWC u8", "transpose", {{"perm", Ints{1, 2, 0}}}, u8, planes, "CHW");
  run("transpose HW WH u8", "transpose", {}, u8, gray, "HW");
  run("transpose HW WH f32", "transpose", {}, f32, gray, "HW");
  run("transpose HWC WHC u8", "transpose", {{"perm", Ints{1, 0, 2}}}, u8, image, "HWC");
  run("cat 2 axis 0 u8", "cat", {{"axis", int64_t{0}}}, u8, image, "HWC", 2);
  run("cat 2 axis 1 u8", "cat", {{"axis", int64_t{1}}}, u8, image, "HWC", 2);
  run("cat 3 planes axis 2 u8", "stack", {{"axis", int64_t{2}}}, u8, gray, "HW", 3);
  run("pad 1088x1920 u8", "pad", {{"shape", Ints{1088, 1920, 3}}}, u8, image, "HWC");
  run("pad 1088x1952 u8", "pad", {{"shape", Ints{1088, 1952, 3}}}, u8, image, "HWC");
  run("pad 2160x1920 u8", "pad", {{"shape", Ints{2160, 1920, 3}}}, u8, image, "HWC");
  run("erase 500x500 u8", "erase", {{"anchor", Reals{100, 100}}, {"shape", Reals{500, 500}}}, u8, image, "HWC");
  run("mean u8", "reductions.mean", {}, u8, image, "HWC");
  run("mean f32", "reductions.mean", {}, f32, image, "HWC");
  run("mean of channels u8", "reductions.mean", {{"axes", Ints{0, 1}}}, u8, image, "HWC");
  run("mean of channels f32", "reductions.mean", {{"axes", Ints{0, 1}}}, f32, image, "HWC");
  run("mean of planes u8", "reductions.mean", {{"axes", Ints{1, 2}}}, u8, planes, "CHW");
  run("mean over channels u8", "reductions.mean", {{"axes", Ints{2}}}, u8, image, "HWC");
  run("mean over rows u8", "reductions.mean", {{"axes", Ints{0}}}, u8, image, "HWC");
  run("normalize channels u8 f32", "normalize", {{"axes", Ints{0, 1}}}, u8, image, "HWC");
  run("normalize channels u8 f16", "normalize", {{"axes", Ints{0, 1}}, {"dtype", static_cast<int64_t>(f16)}}, u8, image,
      "HWC");
  run("normalize given u8 f32", "normalize", {{"mean", Reals{100}}, {"stddev", Reals{50}}}, u8, image, "HWC");
  run("uniform f32", "random.uniform", {{"shape", Ints{1080, 1920, 3}}}, f32, image, "HWC", 0);
  run("normal f32", "random.normal", {{"shape", Ints{1080, 1920, 3}}}, f32, image, "HWC", 0);
}
