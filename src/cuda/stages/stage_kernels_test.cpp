// SPDX-License-Identifier: Apache-2.0
// Which kernel runs when: the generic one until the stage's own is there, at once where that is known.
#include "base/error_of.h"
#include "cuda/stages/stage_kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "cuda/stages/generic_stage.h"
#include "cuda/stages/texts.h"
#include "cuda/stages/stage.h"
#include "gpu_room/forwarding_driver.h"

namespace penstock {
namespace {

// Passes on what a stage asks for. Compiling takes as long as `gate` is shut, and ends as the test wants it.
class GatedDriver final : public ForwardingDriver {
 public:
  GatedDriver() : ForwardingDriver(make_driver()) {}
  void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table, StreamHandle s) override {
    generic_ran = generic_ && &kernel == generic_.get();
    d_->launch(device, kernel, how, table, s);
  }
  std::shared_ptr<const DeviceKernel> prebuilt_kernel(int device, const std::string& text,
                                                      const std::string& entry) override {
    if (!has_prebuilt) return nullptr;
    generic_ = d_->prebuilt_kernel(device, text, entry);
    std::string why;
    if (!generic_) generic_ = d_->kernel(device, text, entry, why);  // of a build without nvcc
    return generic_;
  }
  std::shared_ptr<const DeviceKernel> kernel(int device, const std::string& text, const std::string& entry,
                                             std::string& why) override {
    if (!compiled) compile();
    if (has_compiler) return d_->kernel(device, text, entry, why);
    why = "there is no compiler";
    return nullptr;
  }

  std::function<void()> compilation(int, const std::string&, const std::string&) override {
    if (!has_compiler) return {};
    return [this] { compile(); };
  }
  void compile() {
    ++compilations;
    opened.wait();
    if (error) throw Error(*error);
    compiled = true;
  }

  std::promise<void> gate;
  const std::shared_future<void> opened = gate.get_future().share();
  std::atomic<int> compilations{0};
  std::atomic<bool> generic_ran{false}, compiled{false};
  bool has_prebuilt = true, has_compiler = true;
  std::optional<Error> error;

 private:
  std::shared_ptr<const DeviceKernel> generic_;
};

// A stage and an input for it.
struct Work {
  explicit Work(GatedDriver& d, const std::vector<std::string>& ops = {"brightness", "contrast"}) : driver(d) {
    program.inputs = {{DType::int16, 1, ""}};
    int value = 0;
    uint32_t id = 1;
    for (const std::string& op : ops) {
      const OpInfo& info = get_op(op);
      std::vector<Argument> args(info.args.size());
      for (size_t i = 0; i < args.size(); ++i)
        if (info.args[i].name == op) args[i].value = 1.25;
      value = append_node(program, std::shared_ptr<BoundOp>(bind_op(info, args)), {value}, {0, id++});
    }
    program.outputs = {value};
    in = Batch(DType::int16, 1, {}, 1);
    in.sample(0).shape = Shape{1000};
    in.allocate(driver.memory(0));
    std::vector<int16_t> values(1000);
    std::iota(values.begin(), values.end(), int16_t{-500});
    driver.copy(0, in.sample(0).data, values.data(), values.size() * 2, nullptr);
    stage = make_gpu_stage(program, driver);
  }
  std::vector<int16_t> run() {
    BatchStageCall call;
    call.size = 1, call.inputs = {&in, 1}, call.memory = driver.memory(0);
    call.context = [](int) { return SampleContext{}; };
    Batch out[1];
    std::vector<SampleError> errors;
    stage->run(call, out, errors);
    std::vector<int16_t> result(1000);
    driver.copy(0, result.data(), out[0].sample(0).data, result.size() * 2, nullptr);
    driver.synchronize(0, nullptr);
    return result;
  }
  // Until the background has done its work.
  void wait_for_own_kernel() {
    for (int i = 0; i < 5000 && driver.generic_ran; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      run();
    }
  }
  GatedDriver& driver;
  StageProgram program;
  Batch in;
  std::unique_ptr<BatchStageRunner> stage;
};

GatedDriver& new_driver() { return *new GatedDriver; }  // a thread of the library may still work with it

TEST(StageKernels, TheGenericKernelRunsUntilTheOwnOneIsCompiled) {
  ::setenv("PENSTOCK_KERNELS", "auto", 1);
  GatedDriver& driver = new_driver();
  Work work(driver), other(driver);  // one text for both
  const std::vector<int16_t> first = work.run();
  EXPECT_TRUE(driver.generic_ran);
  EXPECT_EQ(work.run(), first);
  EXPECT_EQ(other.run(), first);
  EXPECT_TRUE(driver.generic_ran);
  driver.gate.set_value();
  work.wait_for_own_kernel();
  EXPECT_FALSE(driver.generic_ran);
  EXPECT_EQ(work.run(), first);
  EXPECT_EQ(driver.compilations, 1);
  EXPECT_NE(first[0], first[999]);
}

TEST(StageKernels, WithoutACompilerTheGenericKernelRunsForEver) {
  ::setenv("PENSTOCK_KERNELS", "auto", 1);
  GatedDriver& driver = new_driver();
  driver.has_compiler = false;
  driver.gate.set_value();
  Work work(driver);
  for (int i = 0; i < 3; ++i) work.run();
  EXPECT_TRUE(driver.generic_ran);
  EXPECT_EQ(driver.compilations, 1);
}

TEST(StageKernels, WithoutBothThereIsNoKernel) {
  for (const char* choice : {"auto", "compiled"}) {
    ::setenv("PENSTOCK_KERNELS", choice, 1);
    GatedDriver& driver = new_driver();
    driver.has_compiler = driver.has_prebuilt = false;
    driver.gate.set_value();
    Work work(driver);
    EXPECT_THROW(work.run(), NoKernel);
    EXPECT_THROW(work.run(), NoKernel);
    EXPECT_EQ(driver.compilations, 1) << "it is known by then";
  }
}

TEST(StageKernels, WithoutThePrebuiltKernelTheOwnOneIsWaitedFor) {
  ::setenv("PENSTOCK_KERNELS", "auto", 1);
  GatedDriver& driver = new_driver();
  driver.has_prebuilt = false;
  driver.gate.set_value();
  Work work(driver);
  work.run();
  EXPECT_FALSE(driver.generic_ran);
}

TEST(StageKernels, ACompilersErrorIsTold) {
  ::setenv("PENSTOCK_KERNELS", "auto", 1);
  GatedDriver& driver = new_driver();
  driver.error = Error(ErrorKind::internal, "a wrong text");
  driver.gate.set_value();
  Work work(driver);
  std::string told;
  for (int i = 0; i < 60000 && told.empty(); ++i) {
    if (const auto error = error_of([&] { work.run(); })) told = error->what();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(told, "a wrong text");
}

TEST(StageKernels, TheChoiceIsOneOfThreeWords) {
  ::setenv("PENSTOCK_KERNELS", "sometimes", 1);
  EXPECT_THROW(kernel_choice(), Error);
  ::setenv("PENSTOCK_KERNELS", "generic", 1);
  EXPECT_EQ(kernel_choice(), KernelChoice::generic);
  ::unsetenv("PENSTOCK_KERNELS");
  EXPECT_EQ(kernel_choice(), KernelChoice::automatic);
}

TEST(StageKernels, WhatHasNoRoomIsNotInterpreted) {
  StageCode code;
  Work work(new_driver(), {"brightness"});
  compile_stage(work.program, code);
  StageVariant v;
  EXPECT_TRUE(generic_variant(code, v, {}).has_value());
  v.planes = v.out_planes = 7;
  EXPECT_TRUE(generic_variant(code, v, {}).has_value()) << "several times four";
  v.dims = 5, v.filtered = 0b11110, v.kind = StageVariant::Kind::filtered;
  EXPECT_FALSE(generic_variant(code, v, {}).has_value());
}

TEST(PrebuiltTexts, HaveNamesAndEntries) {
  for (const PrebuiltText& t : prebuilt_texts()) {
    EXPECT_NE(t.text().find("extern \"C\" __global__"), std::string::npos) << t.name;
    EXPECT_EQ(&t.text(), &t.text()) << "made once: it is asked for at every lookup";
  }
}

}  // namespace
}  // namespace penstock
