// SPDX-License-Identifier: Apache-2.0
// The executor with a GPU that is behind: run under a sanitizer of threads, it is here that one would find something.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/gpu_library.h"
#include "batch/transfer.h"
#include "codecs/test_images.h"
#include "readers/external_source.h"
#include "exec/pipeline.h"

namespace penstock {
namespace {

class GpuPipeline : public testing::Test {
 protected:
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("penstock_gpu_" + std::to_string(getpid()));
  std::vector<std::string> files;

  void SetUp() override {
    // Read when the library is loaded, by the first test that needs it.
    setenv("PENSTOCK_EMULATED_LATENCY", "500", 0);
    setenv("PENSTOCK_EMULATED_DECODER_FAILS", "7", 0);
    if (const std::string why = gpu_library().why_not(); !why.empty()) GTEST_SKIP() << "machine: " << why;
    std::filesystem::create_directories(root);
    for (uint32_t i = 0; i < 23; ++i) {
      test::JpegRecipe recipe;
      recipe.height = 20 + static_cast<int>(i), recipe.width = 50 - static_cast<int>(i), recipe.seed = i;
      recipe.progressive = i % 5 == 4;
      const test::File file = test::make_jpeg(recipe);
      files.push_back((root / (std::to_string(i) + ".jpg")).string());
      std::ofstream(files.back(), std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()),
                 static_cast<std::streamsize>(i == 11 ? file.size() / 2 : file.size()));
    }
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  std::unique_ptr<Pipeline> make(const char* device, int threads, int prefetch, OnError policy) {
    Graph g;
    g.set_seed(5);
    const auto add = [&](const char* op, std::vector<ValueRef> inputs,
                         std::vector<std::pair<std::string, Value>> constants, const char* where = "") {
      Node n;
      n.op = op, n.inputs = std::move(inputs), n.constants = std::move(constants), n.device = where;
      return g.add(std::move(n));
    };
    const int reader = add("readers.file", {}, {{"files", Value(files)}, {"random_shuffle", Value(true)}});
    const int image = add("decoders.image", {{reader, 0}}, {}, device);
    const int small = add("resize", {{image, 0}}, {{"size", Value(std::vector<double>{16, 16})}});
    const int back = add("flip", {{small, 0, Place::cpu}}, {});
    const int last = add("contrast", {{back, 0, *device == 'c' ? Place::cpu : Place::gpu}}, {{"contrast", Value(1.5)}});
    g.set_outputs({{small, 0}, {back, 0}, {last, 0}, {reader, 1}});
    PipelineOptions o;
    o.batch_size = 5, o.threads = threads, o.prefetch = prefetch, o.on_error = policy;
    return std::make_unique<Pipeline>(std::move(g), o);
  }
};

TEST_F(GpuPipeline, GivesTheBytesOfTheCpuWhateverWaitsForWhat) {
  struct Case {
    int threads, prefetch;
    OnError policy;
  };
  for (const Case c : {Case{1, 1, OnError::replace}, Case{3, 2, OnError::skip}, Case{4, 5, OnError::replace}}) {
    auto cpu = make("cpu", c.threads, c.prefetch, c.policy), gpu = make("mixed", c.threads, c.prefetch, c.policy);
    EXPECT_EQ(cpu->plan_text().find("GPU"), std::string::npos);
    EXPECT_NE(gpu->plan_text().find("decode on the GPU"), std::string::npos) << gpu->plan_text();
    for (int round = 0; round < 15; ++round) {
      const PipelineOutput want = cpu->run(), got = gpu->run();
      EXPECT_EQ(got.batches[0].device().kind, DeviceKind::gpu);
      EXPECT_EQ(got.batches[1].device().kind, DeviceKind::cpu);
      for (size_t k = 0; k < want.batches.size(); ++k) {
        const Batch there = on_host(got.batches[k]);
        ASSERT_EQ(there.size(), want.batches[k].size());
        for (int i = 0; i < there.size(); ++i) {
          const View a = want.batches[k].view(i), b = there.view(i);
          ASSERT_EQ(a.shape, b.shape);
          ASSERT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.volume()) * size_of(a.dtype)), 0)
              << "output " << k << ", sample " << i;
        }
      }
    }
  }
}

TEST_F(GpuPipeline, EndsInTheMiddleAndItsBatchesStay) {
  std::vector<Batch> kept;
  std::vector<PipelineOutput> want;
  auto cpu = make("cpu", 2, 2, OnError::replace);
  for (int k = 0; k < 4; ++k) {
    auto gpu = make("mixed", 3, 4, OnError::replace);
    kept.push_back(gpu->run().batches[0]);
  }
  const Batch first = cpu->run().batches[0];
  for (const Batch& b : kept) {
    const Batch there = on_host(b);
    for (int i = 0; i < there.size(); ++i)
      ASSERT_EQ(std::memcmp(there.view(i).data, first.view(i).data, 16 * 16 * 3), 0);
  }
}

class OneNumber final : public ExternalFeed {
 public:
  std::vector<Batch> next(const BatchRequest& r) override {
    std::vector<Batch> out;
    out.push_back(Batch::uniform(DType::uint8, Shape{2, 2, 3}, "HWC", r.batch_size));
    for (int i = 0; i < r.batch_size; ++i)
      std::memset(out[0].view(i).data, static_cast<int>(r.iteration % 100), size_t{2} * 2 * 3);
    return out;
  }
};

// What a program brings, twice as bright on the GPU; the source's number.
int add_brighter(Graph& g) {
  Node source, brighter;
  source.op = "external_source";
  const int fed = g.add(std::move(source));
  brighter.op = "brightness", brighter.constants = {{"brightness", Value(2.0)}};
  brighter.inputs = {{fed, 0, Place::gpu}};
  g.set_outputs({{g.add(std::move(brighter)), 0}});
  return fed;
}

// Fed and asked for at once: the consumer's thread does what is not cut into items.
TEST_F(GpuPipeline, IsRunByTheThreadThatAsksWhereItIsFed) {
  Graph g;
  const int fed = add_brighter(g);
  PipelineOptions o;
  o.batch_size = 3, o.threads = 2, o.prefetch = 2;
  Pipeline pipeline(std::move(g), o);
  pipeline.start_trace();
  OneNumber numbers;
  // A thread that is awake, or woken because the device has room again, may be faster: on a loaded machine many times.
  const auto by_consumer = [&] {
    const auto trace = nlohmann::json::parse(pipeline.trace_json());
    return std::ranges::any_of(trace["traceEvents"],
                               [&](const auto& e) { return e["name"] == "brightness" && e["tid"] == o.threads; });
  };
  for (int k = 0; k < 20 || (k < 1000 && !by_consumer()); ++k) {
    BatchRequest r{};
    r.iteration = static_cast<uint64_t>(k), r.batch_size = 3;
    pipeline.feed(fed, numbers.next(r));
    pipeline.schedule(k % 2 == 0);
    const Batch there = on_host(pipeline.outputs().batches[0]);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(there.view(i).as<uint8_t>()[11], 2 * (k % 100)) << "batch " << k;
  }
  EXPECT_TRUE(by_consumer());
}

// Without a decoder the device is asked for a call only when all of its places are taken.
TEST_F(GpuPipeline, GoesOnWhenADeviceThatIsBehindHasRoom) {
  for (int threads : {1, 3})
    for (int prefetch : {1, 2, 4}) {
      Graph g;
      const int fed = add_brighter(g);
      PipelineOptions o;
      o.batch_size = 3, o.threads = threads, o.prefetch = prefetch;
      Pipeline pipeline(std::move(g), o);
      pipeline.set_feed(fed, std::make_shared<OneNumber>());
      for (int k = 0; k < 60; ++k) {
        const Batch there = on_host(pipeline.run().batches[0]);
        for (int i = 0; i < 3; ++i) ASSERT_EQ(there.view(i).as<uint8_t>()[11], 2 * k) << "batch " << k;
      }
    }
}

}  // namespace
}  // namespace penstock
