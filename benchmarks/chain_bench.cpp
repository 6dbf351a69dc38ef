// SPDX-License-Identifier: Apache-2.0
// Ten operators in a chain as one stage, without graph and Python: what the tile interpreter itself costs.
//   ninja -C build chain_bench && build/chain_bench [rounds]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/thread_pool.h"
#include "cpu/stage.h"

namespace penstock {
namespace {

constexpr int kSamples = 32, kThreads = 2, kOperators = 10;

using Arguments = std::map<std::string, Argument>;
std::shared_ptr<BoundOp> bind(const char* name, const Arguments& given) {
  const OpInfo& info = get_op(name);
  std::vector<Argument> args(info.args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (auto it = given.find(info.args[i].name); it != given.end()) args[i] = it->second;
  return bind_op(info, args);
}

Argument number(double v) { return {Value{v}, nullptr}; }

void measure(const char* title, DType type, const std::function<std::shared_ptr<BoundOp>(int)>& op, int rounds) {
  StageProgram program;
  program.inputs.push_back({type, 3, "HWC"});
  int value = 0;
  for (int i = 0; i < kOperators; ++i) value = append_node(program, op(i), {value}, {0, static_cast<uint32_t>(i)});
  program.outputs = {value};
  const CpuStage stage(std::move(program));
  Batch in = Batch::uniform(type, Shape{512, 512, 3}, "HWC", kSamples);
  for (int i = 0; i < kSamples; ++i)
    for (int64_t k = 0; k < in.view(i).volume(); ++k) {
      if (type == DType::uint8) in.view(i).as<uint8_t>()[k] = static_cast<uint8_t>(k * 7 + i);
      else in.view(i).as<float>()[k] = static_cast<float>(k % 1000) * 0.001f;
    }
  Batch out = Batch::uniform(type, Shape{512, 512, 3}, "HWC", kSamples);
  ThreadPool pool(kThreads);
  std::vector<CpuScratch> scratch(kThreads);
  std::vector<double> ms;
  for (int r = 0; r < rounds + 1; ++r) {
    const auto begin = std::chrono::steady_clock::now();
    pool.parallel_for(kSamples, [&](int64_t i, int thread) {
      SampleContext c;
      c.index = static_cast<int>(i), c.sample = static_cast<uint64_t>(i);
      StageInput input{in.view(static_cast<int>(i)), {}};
      stage.run(
          c, std::span(&input, 1),
          [&](int, DType, const Shape&, const Layout&) { return out.view(static_cast<int>(i)); }, scratch[thread]);
    });
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  ms.erase(ms.begin());
  std::sort(ms.begin(), ms.end());
  std::printf("%-42s %6.2f ms (best %.2f)\n", title, ms[ms.size() / 2], ms[0]);
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  using namespace penstock;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 7;
  Batch factor = Batch::uniform(DType::float32, Shape{}, {}, kSamples);
  for (int i = 0; i < kSamples; ++i) *factor.view(i).as<float>() = 1.0f + 0.001f * static_cast<float>(i);
  measure(
      "arithmetic, float32", DType::float32,
      [](int i) {
        return i & 1 ? bind("_add", {{"right", number(0.25)}, {"right_type", number(int(DType::float32))}})
                     : bind("_mul", {{"right", number(1.01)}, {"right_type", number(int(DType::float32))}});
      },
      rounds);
  for (DType t : {DType::float32, DType::uint8})
    measure(
        t == DType::uint8 ? "brightness_contrast, uint8, per sample" : "brightness_contrast, float32, per sample", t,
        [&](int) { return bind("brightness_contrast", {{"brightness", {{}, &factor}}, {"contrast", number(1.02)}}); },
        rounds);
  return 0;
}
