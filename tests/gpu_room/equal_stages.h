// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cpu/stage.h"
#include "cuda/stages/stage.h"
#include "gpu_room/device_batch.h"
#include "gpu_room/stage_program.h"

namespace penstock {

// A stage on the GPU, twice, and on the CPU: the same bytes and errors.
inline void expect_equal_with(const char* kernels, const std::vector<OpCall>& steps, const std::vector<Batch>& inputs) {
  ::setenv("PENSTOCK_KERNELS", kernels, 1);
  std::string name = kernels;
  for (const auto& s : steps) name += " " + s.op;
  SCOPED_TRACE(name);
  std::vector<ValueType> types;
  for (const auto& b : inputs) types.push_back({b.dtype(), b.ndim(), b.layout()});
  const StageProgram program = program_of(steps, types);
  const int n = inputs[0].size();
  auto context = [](int i) {
    SampleContext c;
    c.index = i, c.sample = static_cast<uint64_t>(i);
    return c;
  };
  static const std::unique_ptr<Driver> driver =
      make_driver();  // of the emulated GPU, or of a real one (gpu_stage_check)
  std::vector<Batch> there;
  for (const auto& b : inputs) there.push_back(on_device(*driver, b));
  std::map<const Batch*, Batch> moved;
  for (const OpCall& step : steps)
    for (const auto& [name, batch] : step.each)
      if (step.there) moved[batch] = on_device(*driver, *batch);
  const StageProgram ours = program_of(steps, types, moved);
  BatchStageCall call;
  call.size = n, call.context = context, call.inputs = there, call.memory = driver->memory(0),
  call.stream = stream_of(*driver);
  Batch out[1];
  std::vector<SampleError> errors;
  const auto runner = make_gpu_stage(ours, *driver);
  runner->run(call, out, errors);
  errors.clear();
  out[0] = {};
  runner->rebound(ours)->run(call, out, errors);  // with what the first call left
  const CpuStage cpu(program);
  CpuScratch scratch;
  for (int i = 0; i < n; ++i) {
    std::vector<StageInput> in(inputs.size());
    for (size_t k = 0; k < inputs.size(); ++k) in[k].view = inputs[k].view(i);
    Tensor t;
    const auto error = error_of([&] {
      cpu.run(
          context(i), in,
          [&](int, DType type, const Shape& s, const Layout& l) { return (t = Tensor::empty(type, s, l)).view; },
          scratch);
    });
    const SampleError* ours = nullptr;
    for (const auto& e : errors)
      if (e.sample == i) ours = &e;
    ASSERT_EQ(error.has_value(), ours != nullptr) << i << ": "
                                                  << (error  ? error->what()
                                                      : ours ? ours->error.what()
                                                             : "");
    if (error) {
      EXPECT_STREQ(error->what(), ours->error.what());
      continue;
    }
    ASSERT_EQ(t.view.shape, out[0].shape(i)) << i;
    ASSERT_EQ(t.view.dtype, out[0].dtype());
    const size_t bytes = t.view.volume() * size_of(t.view.dtype);
    std::vector<char> back(bytes + 1);
    driver->copy(0, back.data(), out[0].sample(i).data, bytes, stream_of(*driver));
    driver->synchronize(0, stream_of(*driver));
    if (std::memcmp(back.data(), t.view.data, bytes) == 0) continue;
    View host = t.view;
    host.data = back.data();
    int shown = 0;
    for (int64_t k = 0; k < host.volume() && shown < 5; ++k) {
      const double a = element_as_double(t.view, k), b = element_as_double(host, k);
      if (a != b && !(a != a && b != b))
        ADD_FAILURE() << "sample " << i << ", element " << k << ": " << b << " where the CPU has " << a, ++shown;
    }
  }
}

// With the kernels that the environment asked for, else with both kinds.
inline void expect_equal(const std::vector<OpCall>& steps, const std::vector<Batch>& inputs) {
  static const char* const asked = std::getenv("PENSTOCK_KERNELS");
  static const std::string only = asked ? asked : "";
  if (only != "generic") expect_equal_with(only.empty() ? "compiled" : only.c_str(), steps, inputs);
  if (only.empty() || only == "generic") expect_equal_with("generic", steps, inputs);
}

}  // namespace penstock
