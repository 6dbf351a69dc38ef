// SPDX-License-Identifier: Apache-2.0
// Whole operators on the GPU give the CPU's bytes; on the emulated one, or on a real one (gpu_stage_check).
#include "cuda/whole/whole_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cuda/whole/device_work.h"
#include "exec/call.h"
#include "gpu_room/device_batch.h"
#include "gpu_room/random_batch.h"

namespace penstock {
namespace {

using Arguments = std::vector<std::pair<std::string, Value>>;
using Ints = std::vector<int64_t>;
using Reals = std::vector<double>;

Driver& driver() {
  static const std::unique_ptr<Driver> made = make_driver();
  return *made;
}

void expect_equal(const std::string& op, const Arguments& given, const std::vector<Batch>& inputs, int size = 0,
                  const std::vector<std::pair<std::string, Batch>>& each = {}) {
  SCOPED_TRACE(op);
  const OpInfo& info = get_op(op);
  std::vector<Argument> here(info.args.size()), there;
  const auto argument = [&](const std::string& name) -> size_t {
    for (size_t i = 0; i < info.args.size(); ++i)
      if (info.args[i].name == name) return i;
    ADD_FAILURE() << name;
    return 0;
  };
  for (const auto& [name, value] : given) here[argument(name)].value = value;
  there = here;
  std::vector<Batch> moved;
  moved.reserve(each.size());
  for (const auto& [name, batch] : each) {
    moved.push_back(on_device(driver(), batch));
    here[argument(name)].batch = &batch, there[argument(name)].batch = &moved.back();
  }
  const int n = inputs.empty() ? size : inputs[0].size();
  SampleContext context;
  context.seed = 77, context.draws.node = 5;
  const Batch expected = call_op(info, inputs, here, context, default_memory(), n)[0];

  StageProgram program;
  std::vector<int> operands;
  std::vector<Batch> device;
  for (const Batch& b : inputs) {
    program.inputs.push_back({b.dtype(), b.ndim(), b.layout()});
    operands.push_back(static_cast<int>(operands.size()));
    device.push_back(on_device(driver(), b));
  }
  program.outputs = {append_node(program, bind_op(info, there), operands, context.draws)};
  ASSERT_TRUE(is_whole(program) && has_whole_form(op));
  BatchStageCall call;
  call.size = n, call.inputs = device, call.memory = driver().memory(0), call.stream = stream_of(driver());
  call.context = [&](int i) { return of_sample(context, i); };
  Batch out[1];
  std::vector<SampleError> errors;
  make_whole_stage(program, driver())->run(call, out, errors);
  driver().synchronize(0, stream_of(driver()));
  ASSERT_TRUE(errors.empty()) << errors[0].error.what();
  ASSERT_EQ(out[0].dtype(), expected.dtype());
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(out[0].shape(i), expected.shape(i)) << i;
    const View v = expected.view(i);
    std::vector<char> back(v.volume() * size_of(v.dtype) + 1);
    driver().copy(0, back.data(), out[0].sample(i).data, back.size() - 1, stream_of(driver()));
    driver().synchronize(0, stream_of(driver()));
    if (std::memcmp(back.data(), v.data, back.size() - 1) == 0) continue;
    View host = v;
    host.data = back.data();
    int shown = 0;
    for (int64_t k = 0; k < v.volume() && shown < 4; ++k) {
      const double a = element_as_double(v, k), b = element_as_double(host, k);
      if (a != b && !(a != a && b != b))
        ADD_FAILURE() << "sample " << i << ", element " << k << ": " << b << " but the CPU has " << a, ++shown;
    }
  }
}

const std::vector<Shape> kImages{{7, 5, 3}, {1, 1, 3}, {33, 64, 3}, {0, 4, 3}, {480, 331, 3}, {120, 97, 3}};
constexpr DType kElements[] = {DType::uint8,   DType::int8,   DType::uint16,  DType::int16,   DType::uint32,
                               DType::int32,   DType::uint64, DType::int64,   DType::float16, DType::float32,
                               DType::float64, DType::bool_,  DType::bfloat16};

TEST(GpuWhole, Copies) {
  for (DType t : {DType::uint8, DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const Batch x = random_batch(t, kImages, "HWC", 1), y = random_batch(t, kImages, "HWC", 2);
    expect_equal("transpose", {{"perm", Ints{2, 0, 1}}}, {x});
    expect_equal("transpose", {{"perm", Ints{1, 0, 2}}}, {x});
    expect_equal("transpose", {}, {x});
    for (int64_t axis : {0, 1, 2}) {
      expect_equal("cat", {{"axis", axis}}, {x, y, x});
      expect_equal("stack", {{"axis", axis}}, {x, y});
    }
    expect_equal("pad", {{"fill_value", 3.0}}, {x});
    expect_equal("reshape", {{"shape", Ints{-1}}}, {x});
    expect_equal("erase", {{"anchor", Reals{1, 1}}, {"shape", Reals{3, 2}}, {"fill_value", Reals{1, 2, 300}}}, {x});
  }
  const Batch planes = random_batch(DType::float32, {{3, 40, 70}, {1, 9, 8}, {4, 100, 31}}, "CHW", 3);
  expect_equal("transpose", {{"perm", Ints{1, 2, 0}}}, {planes});
  const Batch rows = random_batch(DType::uint8, {{1000, 700}, {33, 1}, {1, 65}, {257, 259}}, "HW", 4);
  expect_equal("transpose", {}, {rows});
}

TEST(GpuWhole, Means) {
  for (DType t : kElements)
    for (const Ints& axes : {Ints{}, Ints{0}, Ints{2}, Ints{0, 1}, Ints{0, 2}, Ints{0, 1, 2}})
      expect_equal("reductions.mean", {{"axes", axes}},
                   {random_batch(t, {{7, 5, 3}, {480, 331, 3}, {1, 1, 3}, {64, 64, 4}}, "HWC", 5)});
  expect_equal("reductions.mean", {}, {random_batch(DType::uint8, {{1080, 1920, 3}, {333, 517, 3}}, "HWC", 6)});
  expect_equal("reductions.mean", {{"dtype", static_cast<int64_t>(DType::float64)}},
               {random_batch(DType::float32, {{1080, 1920, 3}, {333, 517, 3}}, "HWC", 7)});
}

// A copy of what a step of another kind has written, and then again such a step.
TEST(GpuWhole, StepsRunAfterAllStepsBeforeThen) {
  const Batch x = random_batch(DType::float32, {{7, 5}, {64, 3}}, "HW", 9), there = on_device(driver(), x);
  const auto room = [&](const Shape& shape) {
    return on_device(driver(), Batch::uniform(DType::float32, shape, {}, x.size()));
  };
  const Batch most = room({1}), copied = room({2}), least = room({1});
  Launches launches(driver(), 0, stream_of(driver()));
  DeviceWork work(launches);
  for (int i = 0; i < x.size(); ++i) {
    work.begin_sample(i);
    const std::vector<int> all{0, 1};
    work.reduce(there.view(i), ReductionPlan(x.shape(i), all), {Statistic::max, 0, {}}, most.view(i));
    work.then();
    View place = copied.view(i);
    place.shape = {1};
    work.fill(copied.view(i), SampleNumbers{{1000}, {}}, -1);
    work.then();
    work.copy(most.view(i), place);
    work.then();
    const std::vector<int> both{0};
    work.reduce(copied.view(i), ReductionPlan(Shape{2}, both), {Statistic::min, 0, {}}, least.view(i));
  }
  work.enqueue(launches);
  launches.run();
  for (int i = 0; i < x.size(); ++i) {
    float found[2];
    driver().copy(0, &found[0], least.view(i).data, sizeof(float), stream_of(driver()));
    driver().copy(0, &found[1], most.view(i).data, sizeof(float), stream_of(driver()));
    driver().synchronize(0, stream_of(driver()));
    const auto* first = x.view(i).as<float>();
    const float want = *std::max_element(first, first + x.shape(i).volume());
    EXPECT_EQ(found[0], want);
    EXPECT_EQ(found[1], want);
  }
}

TEST(GpuWhole, Normalize) {
  for (DType t : {DType::uint8, DType::float32}) {
    const Batch x = random_batch(t, {{7, 5, 3}, {480, 331, 3}, {1, 1, 3}}, "HWC", 8);
    expect_equal("normalize", {}, {x});
    expect_equal("normalize", {{"axes", Ints{0, 1}}, {"ddof", int64_t{1}}, {"epsilon", 0.25}}, {x});
    expect_equal("normalize", {{"axes", Ints{0, 1}}, {"batch", true}, {"dtype", static_cast<int64_t>(DType::float16)}},
                 {x});
    const Batch mean = random_batch(DType::float32, {{1, 1, 3}, {1, 1, 3}, {1, 1, 3}}, {}, 9);
    expect_equal("normalize", {}, {x}, 0, {{"mean", mean}});
    expect_equal("normalize", {}, {x}, 0, {{"mean", mean}, {"stddev", mean}});
  }
}

TEST(GpuWhole, ValuesOnTheDevice) {
  for (DType t : kElements) {
    const Batch x = random_batch(t, kImages, "HWC", 10);
    const std::vector<Shape> scalars(kImages.size(), Shape{1}), threes(kImages.size(), Shape{3});
    expect_equal("erase", {{"shape", Reals{5, 9}}}, {x}, 0,
                 {{"fill_value", random_batch(DType::float32, scalars, {}, 11)}});
    expect_equal("erase", {{"shape", Reals{5, 9}}}, {x}, 0, {{"fill_value", random_batch(t, threes, {}, 12)}});
  }
}

TEST(GpuWhole, RandomNumbers) {
  for (DType t : {DType::uint8, DType::int32, DType::float16, DType::float32, DType::float64}) {
    const Value type = static_cast<int64_t>(t);
    for (const Ints& shape : {Ints{}, Ints{1}, Ints{7, 33}, Ints{100003}}) {
      expect_equal("random.uniform", {{"dtype", type}, {"shape", shape}, {"range", Reals{-3, 250}}}, {}, 3);
      expect_equal("random.uniform", {{"dtype", type}, {"shape", shape}, {"values", Reals{1, 5, 7.5}}}, {}, 3);
      expect_equal("random.normal", {{"dtype", type}, {"shape", shape}, {"mean", 10.0}, {"stddev", 30.0}}, {}, 3);
      expect_equal("random.coin_flip", {{"dtype", type}, {"shape", shape}, {"probability", 0.3}}, {}, 3);
    }
  }
}

}  // namespace
}  // namespace penstock
