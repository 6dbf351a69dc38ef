// SPDX-License-Identifier: Apache-2.0
// Steps that call functions of the program: their order, threads, errors and memory.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "exec/pipeline.h"

namespace penstock {
namespace {

constexpr int kSamples = 4;

class Numbers final : public ExternalFeed {
 public:
  std::vector<Batch> next(const BatchRequest& r) override {
    std::vector<Batch> out;
    out.push_back(Batch::uniform(DType::int64, Shape{300}, {}, r.batch_size));
    for (int i = 0; i < r.batch_size; ++i)
      for (int k = 0; k < 300; ++k)
        out[0].view(i).as<int64_t>()[k] = static_cast<int64_t>(r.iteration) * r.batch_size + i;
    return out;
  }
};

class Double final : public Callback {
 public:
  std::function<void(const CallRequest&)> before;
  std::atomic<int64_t> calls{0};
  std::vector<Batch> call(const CallRequest& r, std::vector<SampleError>&) override {
    if (before) before(r);
    std::vector<Batch> out;
    out.push_back(Batch::uniform(DType::int64, Shape{300}, {}, r.size));
    for (int i = 0; i < r.size; ++i)
      for (int k = 0; k < 300; ++k) out[0].view(i).as<int64_t>()[k] = 2 * r.inputs[0].view(i).as<int64_t>()[k];
    ++calls;
    return out;
  }
};

struct Calling {
  std::shared_ptr<Double> function = std::make_shared<Double>();
  std::unique_ptr<Pipeline> pipeline;

  // source -> pos -> the function -> pos, and what the function gives itself.
  Calling(int threads, int64_t workers, int prefetch) {
    const auto node = [](const std::string& op, std::vector<ValueRef> inputs) {
      Node n;
      n.op = op;
      n.inputs = std::move(inputs);
      return n;
    };
    Graph g;
    const int source = g.add(node("external_source", {}));
    const int first = g.add(node("_pos", {{source, 0}}));
    Node call = node("python_function", {{first, 0}});
    call.constants = {
        {"function", Value{std::string("double")}}, {"num_workers", Value{workers}}, {"batch_processing", Value{true}}};
    const int called = g.add(std::move(call));
    const int last = g.add(node("_pos", {{called, 0}}));
    g.set_outputs({{last, 0}, {called, 0}});
    PipelineOptions o;
    o.batch_size = kSamples;
    o.threads = threads;
    o.prefetch = prefetch;
    pipeline = std::make_unique<Pipeline>(std::move(g), o);
    pipeline->set_feed(source, std::make_shared<Numbers>());
    pipeline->set_callback(called, function);
  }

  void expect(int batch) {
    const PipelineOutput out = pipeline->run();
    for (const Batch& b : out.batches)
      for (int i = 0; i < kSamples; ++i)
        for (int k = 0; k < 300; k += 299) ASSERT_EQ(b.view(i).as<int64_t>()[k], 2 * (batch * kSamples + i));
  }
};

TEST(Calls, GiveTheirBatchesInOrder) {
  for (int threads : {1, 4})
    for (int workers : {1, 3}) {
      Calling c(threads, workers, 4);
      for (int k = 0; k < 40; ++k) c.expect(k);
    }
}

TEST(Calls, OneWorkerIsCalledInTheOrderOfTheBatches) {
  std::vector<uint64_t> positions;  // before the pipeline, which calls ahead of what was asked of it until it ends
  Calling c(4, 1, 4);
  c.function->before = [&](const CallRequest& r) { positions.push_back(r.origin[0].position); };
  for (int k = 0; k < 40; ++k) c.expect(k);
  c.pipeline.reset();
  for (size_t k = 0; k < 40; ++k) ASSERT_EQ(positions[k], k * kSamples);
}

TEST(Calls, ThreadsOfThePipelineGoOnWhileAFunctionWaits) {
  std::atomic<bool> waits{true};
  Calling c(1, 1, 3);
  c.function->before = [&](const CallRequest&) {
    while (waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  for (int k = 0; k < 3; ++k) c.pipeline->schedule();
  const auto samples = [&] { return c.pipeline->statistics().steps[1].samples; };  // of _pos before the function
  for (int k = 0; k < 60000 && samples() < 3 * kSamples; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(samples(), 3 * kSamples);
  EXPECT_EQ(c.function->calls, 0);
  waits = false;
  c.expect(0);
}

TEST(Calls, AnErrorEndsItsBatchAlone) {
  Calling c(2, 1, 2);
  c.function->before = [](const CallRequest& r) {
    if (r.origin[0].position == 2 * kSamples) bad_argument("no");
  };
  c.expect(0);
  c.expect(1);
  EXPECT_THROW(c.pipeline->run(), Error);
  c.expect(3);
}

TEST(Calls, APipelineEndsInTheMiddleOfCalls) {
  for (int k = 0; k < 20; ++k) {
    Calling c(2, 2, 4);
    c.function->before = [](const CallRequest&) { std::this_thread::sleep_for(std::chrono::microseconds(300)); };
    if (k % 2) c.expect(0);
    else c.pipeline->schedule();
  }
}

TEST(Calls, WithoutAFunctionIsAnErrorThatSaysSo) {
  Graph g;
  Node n;
  n.op = "python_function";
  n.constants = {{"function", Value{std::string("gone")}}};
  const int call = g.add(std::move(n));
  g.set_outputs({{call, 0}});
  Pipeline p(Graph::from_json(g.to_json()), {});
  try {
    p.run();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("which a saved pipeline does not contain"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace penstock
