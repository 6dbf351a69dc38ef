// SPDX-License-Identifier: Apache-2.0
// readers.mix from C++: many threads load, samples are missing, and the graph is restored from its saved form.
#include <gtest/gtest.h>

#include <map>

#include "data/test_folder.h"
#include "exec/pipeline.h"

namespace penstock {
namespace {

constexpr int kFiles = 40;

std::unique_ptr<Pipeline> mixed(const TestFolder& folder, int threads, OnError on_error) {
  Graph g;
  std::vector<std::string> files;
  for (int k = 0; k < kFiles; ++k) files.push_back(folder.path(std::to_string(k)));
  std::vector<int> readers;
  for (const int half : {0, 1}) {
    Node n;
    n.op = "readers.file", n.name = half ? "second" : "first";
    n.constants.emplace_back("files", Value{std::vector<std::string>(files.begin() + half * kFiles / 2,
                                                                     files.begin() + (half + 1) * kFiles / 2)});
    n.constants.emplace_back("random_shuffle", Value{true});
    readers.push_back(g.add(std::move(n)));
  }
  Node mix;
  mix.op = "readers.mix", mix.name = "mix";
  for (const int r : readers) mix.inputs.insert(mix.inputs.end(), {{r, 0}, {r, 1}});
  mix.constants = {{"num_outputs", Value{int64_t{2}}}, {"source_ids", Value{true}}};
  const int last = g.add(std::move(mix));
  g.set_outputs({{last, 0}, {last, 1}, {last, 2}});
  PipelineOptions o;
  o.batch_size = 7, o.threads = threads, o.on_error = on_error, o.epoch_mode = EpochMode::partial;
  auto made = std::make_unique<Pipeline>(std::move(g), o);
  return Pipeline::from_json(made->to_json());
}

// How often each file occurred in the batches of an epoch; its content, label and source agree.
std::map<int, int> epoch(Pipeline& p) {
  std::map<int, int> seen;
  for (bool ends = false; !ends;) {
    const PipelineOutput out = p.run();
    ends = out.end_of_epoch;
    for (int i = 0; i < out.batches[0].size(); ++i) {
      const int file = out.batches[0].view(i).as<uint8_t>()[0];
      ++seen[file];
      EXPECT_EQ(out.batches[1].view(i).as<int32_t>()[0], file % (kFiles / 2));
      EXPECT_EQ(out.batches[2].view(i).as<int32_t>()[0], file / (kFiles / 2));
    }
  }
  return seen;
}

TEST(ReadersMix, GivesEachSampleOnceOnAnyNumberOfThreads) {
  const TestFolder folder;
  for (int k = 0; k < kFiles; ++k)
    folder.write(std::to_string(k), std::string(static_cast<size_t>(1 + k), static_cast<char>(k)));
  for (const int threads : {1, 4}) {
    auto p = mixed(folder, threads, OnError::raise);
    EXPECT_EQ(p->epoch_size("mix"), kFiles);
    EXPECT_EQ(p->epoch_size("second"), kFiles / 2);
    for (int e = 0; e < 3; ++e) {
      const auto seen = epoch(*p);
      EXPECT_EQ(seen.size(), static_cast<size_t>(kFiles));
      for (const auto& [file, times] : seen) EXPECT_EQ(times, 1) << file;
    }
  }
}

TEST(ReadersMix, LeavesOutOrReplacesWhatIsMissing) {
  const TestFolder folder;
  for (int k = 0; k < kFiles; ++k)
    if (k % 9 != 4) folder.write(std::to_string(k), std::string(5, static_cast<char>(k)));
  for (const OnError policy : {OnError::skip, OnError::replace}) {
    auto p = mixed(folder, 3, policy);
    for (int e = 0; e < 2; ++e) {
      int total = 0;
      for (const auto& [file, times] : epoch(*p)) {
        EXPECT_NE(file % 9, 4);
        total += times;
      }
      EXPECT_EQ(total, policy == OnError::skip ? kFiles - 4 : kFiles);
    }
  }
}

}  // namespace
}  // namespace penstock
