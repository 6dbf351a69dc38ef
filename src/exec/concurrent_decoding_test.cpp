// SPDX-License-Identifier: Apache-2.0
// Groups, pipelines and calls decode at the same time with the real jpeg/cuda, on an emulated GPU with latency. This
// exposes races in the host's part of decoding to a thread sanitizer; tests/gpu/test_concurrent_decoding.py
// is for real GPUs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <thread>

#include "base/gpu_library.h"
#include "batch/transfer.h"
#include "codecs/test_images.h"
#include "exec/call.h"
#include "exec/decode_engine.h"
#include "exec/group_decoder.h"
#include "exec/pipeline.h"

namespace penstock {
namespace {

class ConcurrentDecoding : public testing::Test {
 protected:
  struct Known {
    test::File file;
    ImageInfo info;
    std::vector<uint8_t> pixels;  // the CPU's; none: it is damaged
  };
  std::vector<Known> known;

  void SetUp() override {
    setenv("PENSTOCK_EMULATED_LATENCY", "500", 0);  // read at the first use
    if (const std::string why = gpu_library().why_not(); !why.empty()) GTEST_SKIP() << "machine: " << why;
    if (gpu_library().runtime().device_name(0).find("emulated") == std::string::npos)
      GTEST_SKIP() << "machine: a real GPU";
    setenv("PENSTOCK_EMULATED_DECODER", "own", 1);
    for (int i = 0; i < 20; ++i) {
      test::JpegRecipe r;
      r.height = 33 + 5 * i, r.width = 120 - 4 * i, r.seed = static_cast<uint32_t>(i);
      r.h = 1 + i % 2, r.v = 1 + i / 2 % 2, r.components = i % 7 == 6 ? 1 : 3;
      r.restart_mcus = i % 5 == 3 ? 4 : 0, r.optimized = i % 3 == 0;
      Known k{test::make_jpeg(r), {}, {}};
      k.info = probe_image(k.file, {});
      const int64_t row = k.info.width * 3;
      if (i % 6 == 5) {  // in the middle of its data, bytes that end them
        k.file[k.file.size() * 3 / 4] = 0xFF, k.file[k.file.size() * 3 / 4 + 1] = 0xD9;
      } else {
        k.pixels.resize(static_cast<size_t>(row * k.info.height));
        decode_image(k.file, k.info, {}, {0, 0, k.info.height, k.info.width}, {k.pixels.data(), row});
      }
      known.push_back(std::move(k));
    }
  }
  void TearDown() override { unsetenv("PENSTOCK_EMULATED_DECODER"); }
};

// What a job keeps alive.
struct JobFiles {
  std::vector<std::shared_ptr<void>> staged;
  std::vector<int> of;
};

TEST_F(ConcurrentDecoding, JobsOfSeveralThreadsAndDecodersGetTheirOwnPixels) {
  constexpr int kThreads = 3, kJobs = 8;
  GpuWork gpus[2] = {GpuWork(0, kThreads), GpuWork(1, kThreads)};
  std::unique_ptr<GroupDecoder> decoders[2];
  for (int g = 0; g < 2; ++g)
    decoders[g] =
        std::make_unique<GroupDecoder>(gpus[g], make_batch_decoder(g, DecodeEngine::cuda), DecodeParams{}, 64);
  std::atomic<int> damaged{0}, whole{0};
  const auto feed = [&](int g, int thread) {
    GpuWork& gpu = gpus[g];
    DeviceRuntime& runtime = gpu.runtime();
    const StreamHandle stream = gpu.stream(static_cast<uint64_t>(thread));
    std::mt19937 random(static_cast<unsigned>(10 * g + thread));
    for (int j = 0; j < kJobs; ++j) {
      auto files = std::make_shared<JobFiles>();
      DecodeJob job;
      std::vector<std::shared_ptr<void>> pixels;
      for (size_t n = 1 + random() % 6; n > 0; --n) {
        const int i = static_cast<int>(random() % known.size());
        const Known& k = known[i];
        auto staged = allocate_shared(gpu.staging(), k.file.size());
        std::memcpy(staged.get(), k.file.data(), k.file.size());
        const Bytes bytes{static_cast<const uint8_t*>(staged.get()), k.file.size()};
        pixels.push_back(allocate_shared(gpu.memory(), static_cast<size_t>(k.info.height * k.info.width * 3), stream));
        job.images.push_back({bytes, &k.info, pixels.back().get(), std::nullopt, {}, {}});
        EXPECT_EQ(decoders[g]->decoder().declines(bytes, k.info, {}, {}, &job.images.back().header), "");
        files->staged.push_back(std::move(staged)), files->of.push_back(i);
      }
      const std::vector<int> of = files->of;
      job.files = std::move(files);
      job.stream = stream;
      job.taken = runtime.record(gpu.device(), stream);
      std::promise<std::vector<bool>> done;
      job.done = [&](DecodeJob& finished, std::optional<Error> failure, int64_t, int64_t) {
        EXPECT_FALSE(failure);
        std::vector<bool> bad;
        for (const DeviceDecode& image : finished.images) bad.push_back(image.error.has_value());
        done.set_value(std::move(bad));
      };
      decoders[g]->add(std::move(job));
      const std::vector<bool> bad = done.get_future().get();
      ASSERT_EQ(bad.size(), of.size());
      for (size_t n = 0; n < of.size(); ++n) {
        const std::vector<uint8_t>& want = known[of[n]].pixels;
        EXPECT_EQ(bad[n], want.empty()) << of[n];
        ++(bad[n] ? damaged : whole);
        if (bad[n] || want.empty()) continue;
        std::vector<uint8_t> got(want.size());
        runtime.copy(gpu.device(), got.data(), pixels[n].get(), got.size(), stream);
        runtime.synchronize(gpu.device(), stream);
        EXPECT_EQ(got, want) << of[n];
      }
    }
  };
  std::vector<std::thread> threads;
  for (int g = 0; g < 2; ++g)
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(feed, g, t);
  for (auto& t : threads) t.join();
  EXPECT_GT(damaged, 10);
  EXPECT_GT(whole, 80);
  for (auto& decoder : decoders) {
    decoder = nullptr;  // waits for its slots
  }
  for (GpuWork& gpu : gpus) EXPECT_EQ(gpu.bytes_in_use(), 0u);
}

// Its own memory counts while it is in use; pending jobs are dropped with it.
TEST_F(ConcurrentDecoding, ADecoderThatEndsDropsWhatWaitsAndCountsItsMemory) {
  GpuWork gpu(0, 1);
  size_t most = 0;
  for (int round = 0; round < 20; ++round) {
    GroupDecoder decoder(gpu, make_batch_decoder(0, DecodeEngine::cuda), {}, 8);
    std::atomic<int> told{0};
    for (int j = 0; j < 6; ++j) {
      const Known& k = known[(round + j) % 5];
      DecodeJob job;
      auto pixels = allocate_shared(gpu.memory(), k.pixels.size(), gpu.stream(0));
      job.images.push_back({k.file, &k.info, pixels.get(), std::nullopt, {}, {}});
      job.files = pixels;
      job.stream = gpu.stream(0);
      job.taken = gpu.runtime().record(0, job.stream);
      job.done = [&](DecodeJob&, std::optional<Error>, int64_t, int64_t) { ++told; };
      decoder.add(std::move(job));
      most = std::max(most, decoder.bytes_in_use());
    }
    while (round % 2 && told < 6) {
      most = std::max(most, decoder.bytes_in_use());
      std::this_thread::yield();
    }
    if (round % 2) {
      EXPECT_EQ(told, 6);
      EXPECT_EQ(decoder.bytes_in_use(), 0u);
    }
  }
  EXPECT_GT(most, known[0].pixels.size());
}

TEST_F(ConcurrentDecoding, PipelinesAndCallsGiveTheBytesThatTheyGiveAlone) {
  const auto root = std::filesystem::temp_directory_path() / ("penstock_concurrent_" + std::to_string(getpid()));
  std::filesystem::create_directories(root);
  std::vector<std::string> files;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].pixels.empty()) continue;
    files.push_back((root / (std::to_string(i) + ".jpg")).string());
    std::ofstream(files.back(), std::ios::binary)
        .write(reinterpret_cast<const char*>(known[i].file.data()), static_cast<std::streamsize>(known[i].file.size()));
  }
  const auto make = [&](const char* device, int batch, int gpu) {
    Graph g;
    Node reader, image;
    reader.op = "readers.file", reader.constants = {{"files", Value(files)}, {"random_shuffle", Value(true)}};
    const int read = g.add(std::move(reader));
    image.op = "decoders.image", image.inputs = {{read, 0}}, image.device = device;
    g.set_outputs({{g.add(std::move(image)), 0}});
    PipelineOptions o;
    o.batch_size = batch, o.threads = 2, o.prefetch = 3, o.device = gpu;
    return std::make_unique<Pipeline>(std::move(g), o);
  };
  const auto same = [](const Batch& got, const Batch& want) {
    ASSERT_EQ(got.size(), want.size());
    for (int i = 0; i < got.size(); ++i) {
      const View a = got.view(i), b = want.view(i);
      ASSERT_EQ(a.shape, b.shape);
      ASSERT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.volume())), 0) << i;
    }
  };
  const auto run = [&](int batch, int gpu) {
    auto cpu = make("cpu", batch, kDefaultGpu), there = make("mixed", batch, gpu);
    for (int k = 0; k < 6; ++k) {
      const PipelineOutput want = cpu->run();
      same(on_host(there->run().batches[0]), want.batches[0]);
    }
  };
  const auto call = [&](unsigned seed, int gpu) {
    std::mt19937 random(seed);
    const OpInfo& info = get_op("decoders.image");
    const std::vector<Argument> args(info.args.size());
    for (int k = 0; k < 8; ++k) {
      std::vector<int> of;
      Batch encoded(DType::uint8, 1, {}, static_cast<int>(1 + random() % 5));
      for (int i = 0; i < encoded.size(); ++i) {
        int n = 0;
        do n = static_cast<int>(random() % known.size());
        while (known[n].pixels.empty());
        of.push_back(n);
        encoded.sample(i).shape = Shape{static_cast<int64_t>(known[of.back()].file.size())};
      }
      encoded.allocate(default_memory());
      for (int i = 0; i < encoded.size(); ++i)
        std::memcpy(encoded.sample(i).data, known[of[i]].file.data(), known[of[i]].file.size());
      CallPlace place;
      place.gpu = gpu;
      const Batch got =
          on_host(call_op(info, std::span(&encoded, 1), args, {}, default_memory(), encoded.size(), {}, &place)[0]);
      for (int i = 0; i < got.size(); ++i)
        ASSERT_EQ(std::memcmp(got.view(i).data, known[of[i]].pixels.data(), known[of[i]].pixels.size()), 0);
    }
  };
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) threads.emplace_back(run, 3 + 2 * k, k % 2);
  for (unsigned k = 0; k < 3; ++k) threads.emplace_back(call, k, static_cast<int>(k % 2));
  for (auto& t : threads) t.join();
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace penstock
