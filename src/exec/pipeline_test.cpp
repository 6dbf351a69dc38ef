// SPDX-License-Identifier: Apache-2.0
#include "exec/pipeline.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace penstock {
namespace {

// Numbers 0, 1, 2 ... as images of one value; ends after `batches`.
class Counting final : public ExternalFeed {
 public:
  explicit Counting(int batches) : batches_(batches) {}
  std::vector<Batch> next(const BatchRequest& r) override {
    if (static_cast<int>(r.in_epoch) == batches_) fail(ErrorKind::stopped, "end");
    Batch b = Batch::uniform(DType::uint8, Shape{4, 6, 3}, "HWC", r.batch_size);
    for (int i = 0; i < r.batch_size; ++i)
      for (int k = 0; k < 72; ++k)
        b.view(i).as<uint8_t>()[k] = static_cast<uint8_t>(r.iteration * r.batch_size + i + k);
    std::vector<Batch> out;
    out.push_back(std::move(b));
    return out;
  }
  bool resumable() const override { return true; }

 private:
  int batches_;
};

Node make(const std::string& op, std::vector<ValueRef> inputs = {}) {
  Node n;
  n.op = op;
  n.inputs = std::move(inputs);
  return n;
}

std::unique_ptr<Pipeline> counting_pipeline(int threads, int batches) {
  Graph g;
  const int source = g.add(make("external_source"));
  const int flip = g.add(make("flip", {{source, 0}}));
  Node bright = make("brightness_contrast", {{flip, 0}});
  bright.constants.emplace_back("brightness", Value{2.0});
  const int last = g.add(std::move(bright));
  g.set_outputs({{last, 0}, {source, 0}});
  PipelineOptions o;
  o.batch_size = 5;
  o.threads = threads;
  auto p = std::make_unique<Pipeline>(std::move(g), o);
  p->set_feed(source, std::make_shared<Counting>(batches));
  return p;
}

TEST(Pipeline, RunsAStageOverBatchesInOrder) {
  for (int threads : {1, 2, 7}) {
    auto p = counting_pipeline(threads, 9);
    for (int b = 0; b < 9; ++b) {
      const auto out = p->run();
      ASSERT_EQ(out.batches[0].size(), 5);
      for (int i = 0; i < 5; ++i)
        for (int x = 0; x < 6; ++x) {
          const int in = static_cast<uint8_t>(b * 5 + i + (5 - x) * 3);
          ASSERT_EQ(out.batches[0].view(i).as<uint8_t>()[x * 3], std::min(255, 2 * in));
        }
    }
    EXPECT_THROW(p->run(), Error);
    p->reset();
    EXPECT_EQ(p->run().batches[0].size(), 5);
  }
}

TEST(Pipeline, PlanFusesAndTheSlowTwinDoesNot) {
  auto p = counting_pipeline(1, 1);
  EXPECT_EQ(p->plan_text(), "source: %0 external_source\nstage: %1 flip %2 brightness_contrast\n");
  setenv("PENSTOCK_EXEC", "simple", 1);
  auto q = counting_pipeline(1, 1);
  unsetenv("PENSTOCK_EXEC");
  EXPECT_EQ(q->plan_text(), "source: %0 external_source\nstage: %1 flip\nstage: %2 brightness_contrast\n");
  const auto a = p->run(), b = q->run();
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < 72; ++k)
      ASSERT_EQ(a.batches[0].view(i).as<uint8_t>()[k], b.batches[0].view(i).as<uint8_t>()[k]);
}

class Folder : public testing::Test {
 protected:
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("penstock_exec_" + std::to_string(getpid()));
  void SetUp() override {
    for (int i = 0; i < 23; ++i) {
      std::filesystem::create_directories(root / ("class" + std::to_string(i % 2)));
      std::ofstream(root / ("class" + std::to_string(i % 2)) / (std::to_string(100 + i) + ".jpg")) << "file " << i;
    }
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  std::unique_ptr<Pipeline> reader(PipelineOptions o) {
    Graph g;
    Node n = make("readers.file");
    n.name = "Reader";
    n.constants.emplace_back("file_root", Value{root.string()});
    n.constants.emplace_back("random_shuffle", Value{true});
    g.set_seed(5);
    const int r = g.add(std::move(n));
    g.set_outputs({{r, 0}, {r, 1}});
    return std::make_unique<Pipeline>(std::move(g), o);
  }
};

TEST_F(Folder, EachFileOnceAnEpochWithItsLabel) {
  PipelineOptions o;
  o.batch_size = 5;
  o.threads = 2;
  o.epoch_mode = EpochMode::partial;
  auto p = reader(o);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<std::string> seen;
    for (int b = 0; b < 5; ++b) {
      const auto out = p->run();
      ASSERT_EQ(out.batches[0].size(), b < 4 ? 5 : 3);
      for (int i = 0; i < out.batches[0].size(); ++i) {
        const View v = out.batches[0].view(i);
        const std::string text(v.as<char>(), v.volume());
        seen.insert(text);
        EXPECT_EQ(out.batches[1].view(i).as<int32_t>()[0], std::stoi(text.substr(5)) % 2);
      }
    }
    EXPECT_EQ(seen.size(), 23u);
  }
}

TEST_F(Folder, CheckpointGoesOnInTheMiddleOfAnEpochWithAnotherBatchSize) {
  PipelineOptions o;
  o.batch_size = 5;
  o.threads = 2;
  o.epoch_mode = EpochMode::partial;
  auto texts = [](Pipeline& p, int n) {
    std::vector<std::string> all;
    while (static_cast<int>(all.size()) < n) {
      const auto out = p.run();
      for (int i = 0; i < out.batches[0].size(); ++i)
        all.emplace_back(out.batches[0].view(i).as<char>(), out.batches[0].view(i).volume());
    }
    return all;
  };
  auto p = reader(o);
  texts(*p, 10);
  const std::string state = p->checkpoint();
  const auto rest = texts(*p, 13 + 23);
  o.batch_size = 4;
  o.threads = 1;
  auto q = reader(o);
  q->restore(state);
  EXPECT_EQ(texts(*q, 13 + 23), rest);
}

TEST_F(Folder, AnEpochThatIsLeftIsFollowedByTheNextWholeOne) {
  PipelineOptions o;
  o.batch_size = 5;
  o.threads = 2;
  o.prefetch = 4;
  o.epoch_mode = EpochMode::even;
  auto epoch_of = [](Pipeline& p, int batches) {
    std::vector<int64_t> all;
    for (int b = 0; b < batches; ++b)
      for (const SampleOrigin& origin : p.run().origin) all.push_back(origin.index);
    return all;
  };
  auto p = reader(o), whole = reader(o);
  std::vector<std::vector<int64_t>> want;
  for (int epoch = 0; epoch < 5; ++epoch) want.push_back(epoch_of(*whole, 5));
  EXPECT_EQ(epoch_of(*p, 2), std::vector<int64_t>(want[0].begin(), want[0].begin() + 10));
  p->begin_epoch();
  const std::string begun = p->checkpoint();
  EXPECT_EQ(epoch_of(*p, 5), want[1]);
  EXPECT_TRUE(p->at_end_of_epoch());
  p->begin_epoch();  // at the end of one it is that epoch
  EXPECT_EQ(epoch_of(*p, 1), std::vector<int64_t>(want[2].begin(), want[2].begin() + 5));
  p->begin_epoch();
  p->begin_epoch();
  EXPECT_EQ(epoch_of(*p, 5), want[3]);
  auto q = reader(o);
  q->begin_epoch();
  EXPECT_EQ(epoch_of(*q, 5), want[0]);
  auto r = reader(o);
  r->restore(begun);
  EXPECT_EQ(epoch_of(*r, 5), want[1]);
}

TEST_F(Folder, MissingFileIsRaisedSkippedOrReplaced) {
  PipelineOptions o;
  o.batch_size = 23;
  o.threads = 2;
  o.epoch_mode = EpochMode::partial;
  for (const OnError policy : {OnError::raise, OnError::skip, OnError::replace}) {
    SetUp();
    o.on_error = policy;
    auto p = reader(o);
    std::filesystem::remove(root / "class1" / "103.jpg");
    if (policy == OnError::raise) {
      try {
        p->run();
        FAIL();
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::file_missing);
        EXPECT_NE(e.source.find("103.jpg"), std::string::npos);
        EXPECT_EQ(e.op, "readers.file");
      }
      continue;
    }
    const auto out = p->run();
    EXPECT_EQ(out.batches[0].size(), policy == OnError::skip ? 22 : 23);
    ASSERT_EQ(p->left_out().size(), 1u);  // the next epoch is read ahead, but not delivered
    EXPECT_NE(p->left_out()[0].source.find("103.jpg"), std::string::npos);
    for (int i = 0; i < out.batches[0].size(); ++i) {
      const View v = out.batches[0].view(i);
      const std::string text(v.as<char>(), v.volume());
      EXPECT_EQ(out.batches[1].view(i).as<int32_t>()[0], std::stoi(text.substr(5)) % 2);
    }
  }
}

TEST(Graph, SavesAndLoads) {
  auto p = counting_pipeline(1, 1);
  const Graph g = Graph::from_json(p->graph().to_json());
  EXPECT_EQ(g.text(), p->graph().text());
  EXPECT_THROW(Graph::from_json("{}"), Error);
  EXPECT_THROW(Graph::from_json("not json"), Error);
}

TEST(Graph, SaysWhatIsWrong) {
  Graph g;
  const int s = g.add(make("external_source"));
  Node n = make("flip", {{s, 0}});
  n.user_line = "train.py:3";
  n.constants.emplace_back("horizontl", Value{int64_t{1}});
  try {
    g.add(n);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.full_message(), "[flip] there is no argument 'horizontl', did you mean 'horizontal'?\n  at train.py:3");
  }
}

}  // namespace
}  // namespace penstock
