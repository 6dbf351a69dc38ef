// SPDX-License-Identifier: Apache-2.0
// What a pipeline without threads shows of its steps.
#include <gtest/gtest.h>

#include <thread>

#include "exec/pipeline.h"

namespace penstock {
namespace {

// The numbers 0, 1, 2 ... as int32, four in a batch.
class SteppedNumbers final : public ExternalFeed {
 public:
  std::vector<Batch> next(const BatchRequest& r) override {
    Batch b = Batch::uniform(DType::int32, Shape{}, "", r.batch_size);
    for (int i = 0; i < r.batch_size; ++i)
      *b.view(i).as<int32_t>() = static_cast<int32_t>(r.iteration) * r.batch_size + i;
    std::vector<Batch> out;
    out.push_back(std::move(b));
    return out;
  }
};

Node stepped_node(const std::string& op, std::vector<ValueRef> inputs) {
  Node n;
  n.op = op, n.inputs = std::move(inputs);
  return n;
}

int added(Graph& g, const std::string& op, ValueRef v, double number) {
  Node n = stepped_node("constant", {});
  n.constants.emplace_back("fdata", Value(std::vector<double>{number}));
  n.constants.emplace_back("shape", Value(std::vector<int64_t>{}));
  n.constants.emplace_back("dtype", Value(static_cast<int64_t>(DType::int32)));
  Node sum = stepped_node(op, {v, {g.add(std::move(n)), 0}});
  sum.region = g.current_region();
  return g.add(std::move(sum));
}

struct Seen {
  std::string name;
  std::vector<int> samples;
  std::vector<int32_t> numbers;  // of the first output
};

class SteppedPipeline : public testing::Test {
 protected:
  // y = n > 1 ? n + 10 : n, and then the samples with n > 2 alone.
  void make(bool stepping) {
    Graph g;
    const int source = g.add(stepped_node("external_source", {}));
    const ValueRef n{source, 0};
    const int more = added(g, "_gt", n, 1);
    g.begin_region("then");
    const int then = added(g, "_add", n, 10);
    const int then_region = g.end_region();
    g.begin_region("else");
    const int else_region = g.end_region();
    const int branch = g.add_branch({more, 0}, then_region, else_region, {{then, 0}}, {n}, {"y"}, "");
    Node filter;
    filter.control = Control::filter;
    filter.inputs = {{added(g, "_gt", n, 2), 0}, {branch, 0}};
    g.set_outputs({{g.add_change(std::move(filter)), 0}});
    PipelineOptions o;
    o.batch_size = 4, o.threads = 2, o.stepping = stepping;
    pipeline = std::make_unique<Pipeline>(std::move(g), o);
    pipeline->set_feed(source, std::make_shared<SteppedNumbers>());
  }
  void look() {
    pipeline->watch_steps([this](const SteppedStep& s) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      Seen seen{s.node.op, s.samples, {}};
      if (!s.outputs.empty() && s.outputs[0].dtype() == DType::int32)
        for (int i = 0; i < s.outputs[0].size(); ++i) seen.numbers.push_back(*s.outputs[0].view(i).as<int32_t>());
      if (s.node.op != "constant") all.push_back(std::move(seen));
      if (fails) bad_argument("seen enough");
    });
  }

  const std::thread::id caller = std::this_thread::get_id();
  std::unique_ptr<Pipeline> pipeline;
  std::vector<Seen> all;
  bool fails = false;
};

TEST_F(SteppedPipeline, ShowsEachNodeItsOutputsAndItsSamples) {
  make(true);
  look();
  const PipelineOutput out = pipeline->run();
  ASSERT_EQ(out.batches[0].size(), 1);
  EXPECT_EQ(*out.batches[0].view(0).as<int32_t>(), 13);
  std::map<std::string, std::vector<Seen>> by_name;
  for (const Seen& s : all) by_name[s.name].push_back(s);
  EXPECT_EQ(by_name["external_source"][0].numbers, (std::vector<int32_t>{0, 1, 2, 3}));
  ASSERT_EQ(by_name["_add"].size(), 1u);
  EXPECT_EQ(by_name["_add"][0].samples, (std::vector<int>{2, 3}));
  EXPECT_EQ(by_name["_add"][0].numbers, (std::vector<int32_t>{12, 13}));
  const Seen& last = all.back();
  EXPECT_EQ(last.samples, (std::vector<int>{3}));
  EXPECT_EQ(last.numbers, (std::vector<int32_t>{13}));
}

TEST_F(SteppedPipeline, GoesOnAfterACallThatThrows) {
  make(true);
  look();
  fails = true;
  EXPECT_THROW(pipeline->run(), Error);
  EXPECT_EQ(all.size(), 1u);
  fails = false;
  const PipelineOutput out = pipeline->run();
  EXPECT_EQ(*out.batches[0].view(0).as<int32_t>(), 13);
}

TEST_F(SteppedPipeline, IsWatchedBeforeItRunsAndWithoutThreads) {
  make(false);
  EXPECT_THROW(look(), Error);
  make(true);
  pipeline->run();
  EXPECT_THROW(look(), Error);
}

}  // namespace
}  // namespace penstock
