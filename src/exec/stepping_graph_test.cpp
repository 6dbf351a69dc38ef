// SPDX-License-Identifier: Apache-2.0
// Nodes that run when they are added: the values of a pipeline of the same graph.
#include "exec/stepping_graph.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

Node grown_node(const std::string& op, std::vector<ValueRef> inputs = {}) {
  Node n;
  n.op = op, n.inputs = std::move(inputs);
  return n;
}

std::vector<SampleOrigin> first_samples(int count) {
  std::vector<SampleOrigin> origin(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) origin[static_cast<size_t>(i)].position = static_cast<uint64_t>(i);
  return origin;
}

Batch reals(std::vector<float> numbers) {
  Batch b = Batch::uniform(DType::float32, Shape{}, "", static_cast<int>(numbers.size()));
  for (size_t i = 0; i < numbers.size(); ++i) *b.view(static_cast<int>(i)).as<float>() = numbers[i];
  return b;
}

float real(const Batch& b, int i) { return *b.view(i).as<float>(); }

PipelineOptions four_samples() {
  PipelineOptions o;
  o.batch_size = 4, o.threads = 1;
  return o;
}

TEST(SteppingGraph, ANodeDrawsByItsNumberAndItsSamples) {
  Graph g;
  g.set_seed(5);
  g.add(grown_node("random.uniform"));
  const int second = g.add(grown_node("random.uniform"));
  const int sum = g.add(grown_node("_add", {{0, 0}, {second, 0}}));
  g.set_outputs({{0, 0}, {second, 0}, {sum, 0}});
  Pipeline whole(g, four_samples());
  const PipelineOutput expected = whole.run();

  SteppingGraph stepping(four_samples());
  const Batch drawn = stepping.run(g, second, {{}, first_samples(4), {0, 1, 2, 3}}).batches[0];
  for (int i = 0; i < 4; ++i) EXPECT_EQ(real(drawn, i), real(expected.batches[1], i));

  std::vector<SampleOrigin> some = first_samples(4);
  some.erase(some.begin() + 1);
  const Batch fewer = stepping.run(g, second, {{}, some, {0, 2, 3}}).batches[0];
  ASSERT_EQ(fewer.size(), 3);
  EXPECT_EQ(real(fewer, 1), real(expected.batches[1], 2));

  SteppedInputs in{{{{0, 0}, expected.batches[0]}, {{second, 0}, drawn}}, first_samples(4), {0, 1, 2, 3}};
  const Batch added = stepping.run(g, sum, std::move(in)).batches[0];
  for (int i = 0; i < 4; ++i) EXPECT_EQ(real(added, i), real(expected.batches[2], i));
}

TEST(SteppingGraph, AFilterSaysWhichSamplesStayOrThatTooFewDo) {
  Graph g;
  const int keep = g.add(grown_node("random.uniform"));
  Node filter;
  filter.control = Control::filter;
  filter.inputs = {{keep, 0}, {keep, 0}};
  filter.constants.emplace_back("min_batch", Value(int64_t{2}));
  const int filtered = g.add_change(std::move(filter));
  SteppingGraph stepping(four_samples());
  const auto run = [&](std::vector<float> kept, bool in_body) {
    SteppedInputs in{{{{keep, 0}, reals(std::move(kept))}}, first_samples(4), {0, 1, 2, 3}};
    in.in_body = in_body;
    return stepping.run(g, filtered, std::move(in));
  };
  const SteppedOutputs some = run({0, 2, 0, 3}, false);
  EXPECT_EQ(some.from, (std::vector<int>{1, 3}));
  EXPECT_EQ(some.origin[1].position, 3u);
  EXPECT_EQ(real(some.batches[0], 0), 2);
  EXPECT_TRUE(run({0, 0, 0, 3}, false).left_out);
  EXPECT_EQ(run({0, 0, 0, 3}, true).from, (std::vector<int>{3}));  // a body has only a part of the batch
}

TEST(SteppingGraph, AnErrorNamesTheOperatorTheSampleAndTheLine) {
  Graph g;
  const int source = g.add(grown_node("external_source"));  // whose dimensions nobody knows yet
  Node blur = grown_node("gaussian_blur", {{source, 0}});
  blur.constants.emplace_back("sigma", Value(1.0));
  blur.user_line = "train.py:3";
  const int blurred = g.add(std::move(blur));
  SteppingGraph stepping(four_samples());
  SteppedInputs in{{{{source, 0}, reals({1, 2, 3, 4})}}, first_samples(4), {0, 1, 2, 3}};
  try {
    stepping.run(g, blurred, std::move(in));
    FAIL() << "a number was blurred";
  } catch (const Error& e) {
    EXPECT_EQ(e.op, "gaussian_blur");
    EXPECT_EQ(e.user_line, "train.py:3");
  }
}

}  // namespace
}  // namespace penstock
