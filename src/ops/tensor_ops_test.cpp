// SPDX-License-Identifier: Apache-2.0
// Small facts about the operators that move elements; tests/test_tensor_ops.py compares them with NumPy at length.
#include <gtest/gtest.h>

#include "ops/ops_test.h"

namespace penstock {
namespace {

using test::arguments;
using test::call;
using test::Given;

using List = std::vector<int64_t>;

Batch ramp(std::vector<Shape> shapes, Layout layout = {}) {
  Batch b(DType::int32, shapes[0].size(), layout, static_cast<int>(shapes.size()));
  for (size_t i = 0; i < shapes.size(); ++i) b.sample(static_cast<int>(i)).shape = shapes[i];
  b.allocate();
  for (int i = 0; i < b.size(); ++i)
    for (int64_t k = 0; k < b.shape(i).volume(); ++k) b.view(i).as<int32_t>()[k] = static_cast<int32_t>(k + 100 * i);
  return b;
}

std::vector<int32_t> values(const Batch& b, int i) {
  const int32_t* p = b.view(i).as<int32_t>();
  return {p, p + b.shape(i).volume()};
}

TEST(TensorOps, TransposeReversesAndPermutesTheLayout) {
  const Batch out = call("transpose", {ramp({{2, 3}, {1, 2}}, "HW")});
  EXPECT_EQ(out.layout().str(), "WH");
  EXPECT_EQ(out.shape(0), (Shape{3, 2}));
  EXPECT_EQ(values(out, 0), (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values(out, 1), (std::vector<int32_t>{100, 101}));
}

TEST(TensorOps, TransposeOfLargePlanesIsExact) {
  for (const Shape& s : {Shape{130, 70, 3}, Shape{3, 1030, 5}, Shape{17, 3, 129}}) {
    const Batch in = ramp({s});
    for (const List& perm : {List{2, 0, 1}, List{1, 2, 0}, List{2, 1, 0}, List{0, 2, 1}, List{1, 0, 2}}) {
      const Batch out = call("transpose", {in}, {{"perm", perm}});
      const Shape o = out.shape(0);
      int64_t at[3];
      for (int64_t k = 0; k < o.volume(); ++k) {
        at[perm[0]] = k / (o[1] * o[2]), at[perm[1]] = k / o[2] % o[1], at[perm[2]] = k % o[2];
        ASSERT_EQ(out.view(0).as<int32_t>()[k], (at[0] * s[1] + at[1]) * s[2] + at[2]);
      }
    }
  }
}

TEST(TensorOps, CatAndStack) {
  const Batch a = ramp({{2, 2}}, "HW"), b = ramp({{2, 1}}, "HW");
  EXPECT_EQ(values(call("cat", {a, b}, {{"axis", int64_t{-1}}}), 0), (std::vector<int32_t>{0, 1, 0, 2, 3, 1}));
  const Batch named = call("cat", {a, b}, {{"axis_name", std::string("W")}});
  EXPECT_EQ(values(named, 0), (std::vector<int32_t>{0, 1, 0, 2, 3, 1}));
  EXPECT_THROW(call("cat", {a, b}), Error);
  const Batch s = call("stack", {a, a}, {{"axis", int64_t{-1}}, {"axis_name", std::string("C")}});
  EXPECT_EQ(s.layout().str(), "HWC");
  EXPECT_EQ(values(s, 0), (std::vector<int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(TensorOps, PadGrowsToTheLargestOfTheBatch) {
  const Batch out = call("pad", {ramp({{1, 2}, {2, 1}})}, {{"fill_value", int64_t{9}}});
  EXPECT_EQ(out.shape(0), (Shape{2, 2}));
  EXPECT_EQ(values(out, 0), (std::vector<int32_t>{0, 1, 9, 9}));
  EXPECT_EQ(values(out, 1), (std::vector<int32_t>{100, 9, 101, 9}));
}

TEST(TensorOps, SubscriptFollowsPython) {
  const Batch in = ramp({{3, 4}}, "HW");
  EXPECT_EQ(values(call("_subscript", {in}, {{"at_0", int64_t{-1}}}), 0), (std::vector<int32_t>{8, 9, 10, 11}));
  const Batch odd = call("_subscript", {in}, {{"at_0", int64_t{1}}, {"step_1", int64_t{-2}}});
  EXPECT_EQ(values(odd, 0), (std::vector<int32_t>{7, 5}));
  EXPECT_EQ(odd.layout().str(), "W");
  EXPECT_THROW(call("_subscript", {in}, {{"at_1", int64_t{4}}}), Error);
  EXPECT_EQ(call("_subscript", {in}, {{"lo_0", int64_t{2}}, {"hi_0", int64_t{-9}}}).shape(0), (Shape{0, 4}));
}

TEST(TensorOps, ReshapeInfersOneExtent) {
  EXPECT_EQ(call("reshape", {ramp({{2, 6}})}, {{"shape", List{3, -1}}}).shape(0), (Shape{3, 4}));
  EXPECT_THROW(call("reshape", {ramp({{2, 6}})}, {{"shape", List{5, -1}}}), Error);
  EXPECT_THROW(call("reshape", {ramp({{2, 6}}), ramp({{2}})}), Error);  // a second input is the shape: (0, 1)
}

// Drawn for a whole batch at once, or sample by sample.
TEST(RandomOps, ScalarsOfABatchAreThoseOfItsSamples) {
  const std::vector<std::pair<const char*, Given>> ops{{"random.uniform", {{"range", std::vector<double>{-3, 7}}}},
                                                       {"random.uniform", {{"values", std::vector<double>{1, 5, 2}}}},
                                                       {"random.normal", {{"mean", 3.0}, {"stddev", 2.0}}},
                                                       {"random.coin_flip", {{"probability", 0.3}}}};
  std::vector<SampleContext> contexts(150);
  for (int i = 0; i < 150; ++i) {
    SampleContext& c = contexts[i];
    c.index = i, c.sample = static_cast<uint64_t>(i) << (i % 40), c.draws.node = 5;
    c.epoch = i > 70 ? 2 : 1, c.seed = i % 50 == 49 ? 8 : 7;  // what their streams' keys differ in
  }
  for (const auto& [name, given] : ops)
    for (DType t : {DType::float32, DType::float64, DType::int32, DType::uint8, DType::float16}) {
      Given all = given;
      all.push_back({"dtype", int64_t(t)});
      const OpInfo& info = get_op(name);
      const auto op = bind_op(info, arguments(info, all));
      ValueType type;
      op->infer({}, {&type, 1});
      ASSERT_TRUE(op->draws_scalars()) << name;
      Batch together = Batch::uniform(t, {}, {}, 150), single = Batch::uniform(t, {}, {}, 150);
      op->draw_scalars(contexts, t, together.sample(0).data);
      for (int i = 0; i < 150; ++i) {
        const View to = single.view(i);
        op->run(contexts[i], {}, {&to, 1});
        ASSERT_EQ(element_as_double(together.view(i), 0), element_as_double(to, 0))
            << name << ", " << name_of(t) << ", sample " << i;
      }
    }
}

}  // namespace
}  // namespace penstock
