// SPDX-License-Identifier: Apache-2.0
// Small facts about arithmetic, colors, statistics and random numbers, for runs under sanitizers;
// tests/test_arithmetic.py, test_pixel.py, test_normalize.py and test_random.py compare them with references at length.
#include <gtest/gtest.h>

#include "cpu/stage.h"
#include "ops/ops_test.h"

namespace penstock {
namespace {

using test::arguments;
using test::call;
using test::Given;

template <class T> Batch values(std::vector<T> v, Shape shape = {}, Layout layout = {}) {
  Batch b = Batch::uniform(dtype_of<T>, shape.empty() ? Shape{static_cast<int64_t>(v.size())} : shape, layout, 1);
  std::copy(v.begin(), v.end(), b.view(0).as<T>());
  return b;
}
template <class T> std::vector<T> list(const Batch& b) {
  EXPECT_EQ(b.dtype(), dtype_of<T>);
  const T* p = b.view(0).as<T>();
  return {p, p + b.view(0).volume()};
}
Value type(DType t) { return int64_t(t); }

TEST(PixelOps, IntegersWrapAndDivideTowardZero) {
  const Batch a = values<int32_t>({INT32_MAX, INT32_MIN, -7, 7}), b = values<int32_t>({1, -1, 2, -2});
  EXPECT_EQ(list<int32_t>(call("_add", {a, b})), (std::vector<int32_t>{INT32_MIN, INT32_MAX, -5, 5}));
  EXPECT_EQ(list<int32_t>(call("_fdiv", {a, b})), (std::vector<int32_t>{INT32_MAX, INT32_MIN, -3, -3}));
  EXPECT_EQ(list<int32_t>(call("_mod", {a, b})), (std::vector<int32_t>{0, 0, -1, 1}));
  EXPECT_EQ(list<uint8_t>(call("_mul", {values<uint8_t>({200, 16}), values<uint8_t>({200, 16})})),
            (std::vector<uint8_t>{64, 0}));
  EXPECT_EQ(list<int64_t>(call("_pow", {values<int64_t>({3, -2}), values<int64_t>({39, 63})})),
            (std::vector<int64_t>{4052555153018976267, INT64_MIN}));
  EXPECT_THROW(call("_fdiv", {a}, {{"right", 0.0}, {"right_type", type(DType::int32)}}), Error);
  EXPECT_THROW(call("_mod", {a, values<int32_t>({1, 0, 1, 1})}), Error);
}

TEST(PixelOps, SignsAreComparedByValue) {
  const Batch s = values<int64_t>({-1, 5}), u = values<uint64_t>({UINT64_MAX, 5});
  const Batch lt = call("_lt", {s, u}), ge = call("_ge", {u, s}), eq = call("_eq", {s, u});
  EXPECT_TRUE(lt.view(0).as<bool>()[0] && !lt.view(0).as<bool>()[1]);
  EXPECT_TRUE(ge.view(0).as<bool>()[0] && ge.view(0).as<bool>()[1]);
  EXPECT_TRUE(!eq.view(0).as<bool>()[0] && eq.view(0).as<bool>()[1]);
}

// A chain as one stage gives the bytes of its operators one by one, on every target.
TEST(PixelOps, ChainsAreTheirOperatorsOneByOne) {
  std::vector<float> numbers(5003);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) * 0.37f - 900;
  const Batch in = values(numbers);
  const std::vector<std::pair<const char*, Given>> chain = {
      {"_mul", {{"right", 1.01}, {"right_type", type(DType::float32)}}},
      {"_add", {{"right", 0.25}, {"right_type", type(DType::float32)}}},
      {"_sub", {{"left", 3.0}, {"left_type", type(DType::float32)}}},
      {"brightness_contrast", {{"brightness", 0.7}, {"contrast", 1.3}}},
      {"cast", {{"dtype", type(DType::int32)}}},
      {"_mul", {{"right", 3.5}, {"right_type", type(DType::float64)}}},
      {"cast", {{"dtype", type(DType::float32)}}},
      {"brightness", {{"brightness", 1.1}}},
      {"contrast", {{"contrast", 1.7}}}};
  Batch apart = in;
  for (const auto& [name, given] : chain) apart = call(name, {apart}, given);
  for (Target target : {Target::scalar, Target::avx2, Target::avx512}) {
    if (target > best_target()) continue;
    StageProgram program;
    program.inputs.push_back({DType::float32, 1, {}});
    int value = 0;
    for (const auto& [name, given] : chain)
      value = append_node(program, bind_op(get_op(name), arguments(get_op(name), given)), {value}, {});
    program.outputs = {value};
    const CpuStage stage(std::move(program), target);
    Batch out = Batch::uniform(DType::float32, in.shape(0), {}, 1);
    CpuScratch scratch;
    const StageInput input{in.view(0), {}};
    stage.run({}, std::span(&input, 1), [&](int, DType, const Shape&, const Layout&) { return out.view(0); }, scratch);
    EXPECT_EQ(list<float>(out), list<float>(apart)) << static_cast<int>(target);
  }
}

TEST(PixelOps, MeansAndNormalization) {
  const Batch in = values<uint8_t>({1, 2, 3, 5, 6, 7}, {2, 3}, "HC");
  EXPECT_EQ(list<float>(call("reductions.mean", {in}, {{"axes", std::vector<int64_t>{0}}})),
            (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(list<float>(call("normalize", {in}, {{"axes", std::vector<int64_t>{0}}})),
            (std::vector<float>{-1, -1, -1, 1, 1, 1}));
  EXPECT_EQ(list<float>(call("normalize", {in}, {{"axes", std::vector<int64_t>{0}}, {"batch", true}})),
            (std::vector<float>{-1, -1, -1, 1, 1, 1}));
}

TEST(PixelOps, GrayAndBack) {
  const Batch in = values<uint8_t>({255, 255, 255, 0, 0, 0}, {1, 2, 3}, "HWC");
  const Batch gray = call("color_space_conversion", {in}, {{"image_type", int64_t{0}}, {"output_type", int64_t{2}}});
  EXPECT_EQ(list<uint8_t>(gray), (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ(
      list<uint8_t>(call("color_space_conversion", {gray}, {{"image_type", int64_t{2}}, {"output_type", int64_t{0}}})),
      list<uint8_t>(in));
}

}  // namespace
}  // namespace penstock
