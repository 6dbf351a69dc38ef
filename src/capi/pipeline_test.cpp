// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "base/json.h"
#include "capi/capi_test.h"

using namespace capi_test;

namespace {

// external_source "images" -> flip, and the images as they came.
const char* kFed = R"({"penstock_pipeline": 1, "batch_size": 2, "threads": 2, "prefetch": 1,
  "graph": {"penstock_graph": 2, "seed": 5, "outputs": [[1, 0], [0, 0]], "nodes": [
    {"op": "external_source", "name": "images", "outputs": 1, "constants": {"num_outputs": 1, "layout": ["HWC"]}},
    {"op": "flip", "name": "flipped", "outputs": 1, "inputs": [[0, 0]], "constants": {"vertical": 1}}]}})";

// Waits for what another thread may feed.
const char* kWaits = R"({"penstock_pipeline": 1, "batch_size": 2, "threads": 2, "prefetch": 1,
  "graph": {"penstock_graph": 2, "seed": 5, "outputs": [[0, 0]], "nodes": [
    {"op": "experimental.inputs.video", "name": "v", "outputs": 1, "constants": {"sequence_length": 2}}]}})";

std::string reading(const std::vector<std::string>& files) {
  nlohmann::json j{{"penstock_pipeline", 1}, {"batch_size", 2}, {"threads", 2}, {"prefetch", 2}};
  j["graph"] = {{"penstock_graph", 2},
                {"seed", 3},
                {"outputs", {{0, 0}, {0, 1}}},
                {"nodes",
                 {{{"op", "readers.file"},
                   {"name", "reader"},
                   {"outputs", 2},
                   {"constants", {{"files", files}, {"random_shuffle", true}}}}}}};
  return j.dump();
}

std::string text(penstock_status (*get)(const penstock_pipeline*, char**), const penstock_pipeline* p) {
  char* s = nullptr;
  EXPECT_OK(get(p, &s));
  const std::string copy = s ? s : "";
  penstock_free_text(s);
  return copy;
}

class CapiReader : public testing::Test {
 protected:
  std::vector<std::string> files;
  penstock_pipeline* p = nullptr;
  void SetUp() override {
    for (int i = 0; i < 5; ++i) {
      files.push_back(testing::TempDir() + "capi_" + std::to_string(getpid()) + "_" + std::to_string(i) + ".jpg");
      std::ofstream(files.back()) << "file " << i;
    }
  }
  void TearDown() override {
    penstock_pipeline_destroy(p);
    for (const auto& f : files) std::remove(f.c_str());
  }
  std::vector<std::string> run(penstock_pipeline* from) {
    penstock_batch* out[2] = {};
    EXPECT_OK(penstock_pipeline_run(from, nullptr, out, 2));
    std::vector<std::string> contents;
    for (int i = 0; out[0] && i < 2; ++i) {
      const auto s = sample(out[0], i);
      contents.emplace_back(static_cast<char*>(s.data), s.bytes);
      EXPECT_EQ(contents.back(), "file " + std::to_string(*static_cast<int32_t*>(sample(out[1], i).data)));
      EXPECT_EQ(s.source, files.at(static_cast<size_t>(contents.back()[5] - '0')));
    }
    for (auto* b : out) penstock_batch_destroy(b);
    return contents;
  }
};

TEST(CapiPipeline, RunsWhatItIsFed) {
  penstock_pipeline* p = nullptr;
  ASSERT_EQ(penstock_pipeline_load(kFed, nullptr, &p), PENSTOCK_OK) << penstock_last_error();
  auto info = zeroed<penstock_pipeline_info>();
  EXPECT_OK(penstock_pipeline_get_info(p, &info));
  EXPECT_EQ(info.batch_size, 2);
  EXPECT_EQ(info.num_outputs, 2);
  EXPECT_EQ(info.batches_per_epoch, -1);
  Images images({{2, 3}, {4, 1}}, 1);
  penstock_batch* in = images.batch();
  for (int i = 0; i < 3; ++i) EXPECT_OK(penstock_pipeline_feed(p, "images", &in, 1));
  penstock_batch_destroy(in);
  penstock_batch* out[2] = {};
  ASSERT_EQ(penstock_pipeline_run(p, nullptr, out, 2), PENSTOCK_OK) << penstock_last_error();
  const auto& b = images.bytes[0];
  EXPECT_EQ(bytes_of(out[0], 0), (std::vector<uint8_t>{b[5], b[4], b[3], b[2], b[1], b[0]}));
  EXPECT_EQ(bytes_of(out[1], 1), images.bytes[1]);
  const auto statistics = nlohmann::json::parse(text(penstock_pipeline_statistics, p));
  EXPECT_EQ(statistics["iterations"], 1);
  EXPECT_EQ(statistics["samples"], 2);
  EXPECT_NE(text(penstock_pipeline_plan, p).find("flip"), std::string::npos);
  penstock_pipeline_destroy(p);  // the outputs outlive it
  EXPECT_EQ(bytes_of(out[1], 1), images.bytes[1]);
  for (auto* o : out) penstock_batch_destroy(o);
}

TEST(CapiPipeline, AWaitCanBeEnded) {
  penstock_pipeline* p = nullptr;
  ASSERT_EQ(penstock_pipeline_load(kWaits, nullptr, &p), PENSTOCK_OK) << penstock_last_error();
  int polls = 0;
  auto o = zeroed<penstock_run_options>();
  o.poll = [](void* n) { return static_cast<int>(++*static_cast<int*>(n) >= 2); };
  o.poll_user = &polls;
  penstock_batch* out = nullptr;
  EXPECT_STATUS(PENSTOCK_ERROR_CANCELLED, penstock_pipeline_run(p, &o, &out, 1));  // nothing was fed
  EXPECT_EQ(polls, 2);
  EXPECT_EQ(out, nullptr);
  penstock_pipeline_destroy(p);
}

TEST_F(CapiReader, CheckpointsGoOnWhereTheyWereTaken) {
  const std::string json = reading(files);
  ASSERT_EQ(penstock_pipeline_load(json.c_str(), nullptr, &p), PENSTOCK_OK) << penstock_last_error();
  auto meta = zeroed<penstock_reader_meta>();
  EXPECT_OK(penstock_pipeline_get_reader_meta(p, nullptr, &meta));
  EXPECT_EQ(meta.epoch_size, 5);
  auto spec = zeroed<penstock_output_spec>();
  EXPECT_OK(penstock_pipeline_get_output_spec(p, 1, &spec));
  EXPECT_EQ(spec.dtype, PENSTOCK_INT32);
  EXPECT_EQ(spec.ndim, 1);
  EXPECT_EQ(spec.shape[0], 1);
  EXPECT_OK(penstock_pipeline_get_output_spec(p, 0, &spec));
  EXPECT_EQ(spec.shape[0], -1);
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "output 2 of a pipeline of 2", penstock_pipeline_get_output_spec(p, 2, &spec));
  EXPECT_OK(penstock_pipeline_get_reader_meta(p, "reader", &meta));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "no reader 'x'", penstock_pipeline_get_reader_meta(p, "x", &meta));
  run(p);
  const std::string state = text(penstock_pipeline_checkpoint, p), saved = text(penstock_pipeline_save, p);
  const auto second = run(p), third = run(p);
  penstock_pipeline* other = nullptr;
  auto options = zeroed<penstock_pipeline_options>();
  options.threads = 1, options.prefetch = 1;
  ASSERT_EQ(penstock_pipeline_load(saved.c_str(), &options, &other), PENSTOCK_OK) << penstock_last_error();
  EXPECT_OK(penstock_pipeline_restore(other, state.c_str()));
  EXPECT_EQ(run(other), second);
  EXPECT_EQ(run(other), third);
  penstock_pipeline_destroy(other);
}

TEST_F(CapiReader, BatchesHaveNumbers) {
  ASSERT_EQ(penstock_pipeline_load(reading(files).c_str(), nullptr, &p), PENSTOCK_OK) << penstock_last_error();
  std::vector<decltype(run(p))> batches;
  for (int i = 0; i < 6; ++i) batches.push_back(run(p));
  for (const int i : {4, 0, 3}) {
    EXPECT_OK(penstock_pipeline_seek(p, 0, i, 0));
    EXPECT_EQ(run(p), batches[static_cast<size_t>(i)]);
    EXPECT_EQ(run(p), batches[static_cast<size_t>(i) + 1]);
  }
  const int64_t listed[] = {5, 1};
  EXPECT_OK(penstock_pipeline_schedule(p, 0, listed, 2));
  EXPECT_EQ(run(p), batches[5]);
  EXPECT_EQ(run(p), batches[1]);
  penstock_batch* out[2] = {};
  EXPECT_STATUS(PENSTOCK_ERROR_STOPPED, penstock_pipeline_run(p, nullptr, out, 2));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "batch must be between", penstock_pipeline_seek(p, 0, -1, 0));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "batches is NULL", penstock_pipeline_schedule(p, 0, nullptr, 1));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "pipeline is NULL", penstock_pipeline_seek(nullptr, 0, 0, 0));
}

TEST_F(CapiReader, AnEpochIsLeftInItsMiddle) {
  ASSERT_EQ(penstock_pipeline_load(reading(files).c_str(), nullptr, &p), PENSTOCK_OK) << penstock_last_error();
  std::vector<std::string> whole, begun;
  for (int i = 0; i < 5; ++i)
    for (const auto& content : run(p)) whole.push_back(content);  // two epochs of 5 files
  EXPECT_OK(penstock_pipeline_begin_epoch(p));
  run(p);
  EXPECT_OK(penstock_pipeline_begin_epoch(p));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "pipeline is NULL", penstock_pipeline_begin_epoch(nullptr));
  penstock_pipeline* other = nullptr;
  ASSERT_EQ(penstock_pipeline_load(reading(files).c_str(), nullptr, &other), PENSTOCK_OK);
  run(other);
  EXPECT_OK(penstock_pipeline_begin_epoch(other));
  for (int i = 0; i < 2; ++i)
    for (const auto& content : run(other)) begun.push_back(content);
  EXPECT_EQ(begun, (std::vector<std::string>(whole.begin() + 5, whole.begin() + 9)));
  penstock_pipeline_destroy(other);
}

TEST_F(CapiReader, AMissingFileNamesItselfAndTheNextBatchStillComes) {
  const std::string json = reading(files);
  std::remove(files[2].c_str());
  ASSERT_EQ(penstock_pipeline_load(json.c_str(), nullptr, &p), PENSTOCK_OK) << penstock_last_error();
  int failures = 0;
  for (int i = 0; i < 10; ++i) {
    penstock_batch* out[2] = {};
    const penstock_status s = penstock_pipeline_run(p, nullptr, out, 2);
    if (s != PENSTOCK_OK) {
      ++failures;
      EXPECT_EQ(s, PENSTOCK_ERROR_FILE_MISSING);
      EXPECT_NE(std::string(penstock_last_error()).find(files[2]), std::string::npos) << penstock_last_error();
      EXPECT_EQ(out[0], nullptr);
    }
    for (auto* b : out) penstock_batch_destroy(b);
  }
  EXPECT_GE(failures, 3);
  EXPECT_LE(failures, 5);
}

TEST_F(CapiReader, TakesTheOptionOfEntropyIndexes) {
  const std::string json = reading(files);
  auto options = zeroed<penstock_pipeline_options>();
  options.entropy_index = "atuo";
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "did you mean 'auto'?", penstock_pipeline_load(json.c_str(), &options, &p));
  options.entropy_index = "off";
  ASSERT_EQ(penstock_pipeline_load(json.c_str(), &options, &p), PENSTOCK_OK) << penstock_last_error();
  EXPECT_NE(text(penstock_pipeline_save, p).find("\"entropy_index\": \"off\""), std::string::npos);
  run(p);
  EXPECT_NE(text(penstock_pipeline_statistics, p).find("\"made\": 0"), std::string::npos);
}

TEST_F(CapiReader, ASavedPathOfAnEntropyIndexIsNotUsed) {
  auto saved = nlohmann::json::parse(reading(files));
  saved["entropy_index"] = testing::TempDir() + "stranger.index";
  ASSERT_EQ(penstock_pipeline_load(saved.dump().c_str(), nullptr, &p), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(text(penstock_pipeline_save, p).find("stranger.index"), std::string::npos);
  penstock_pipeline_destroy(p);
  p = nullptr;
  saved["memory_limt"] = 5;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "unknown key 'memory_limt', did you mean 'memory_limit'",
               penstock_pipeline_load(saved.dump().c_str(), nullptr, &p));
}

TEST_F(CapiReader, LimitsOfPixelsComeFromTheOptions) {
  for (const auto& f : files) std::ofstream(f) << "P5 100 100 255\n";
  auto saved = nlohmann::json::parse(reading(files));
  saved["graph"]["nodes"].push_back(
      {{"op", "peek_image_shape"}, {"name", "peek"}, {"outputs", 1}, {"inputs", {{0, 0}}}});
  saved["graph"]["outputs"] = {{1, 0}};
  auto options = zeroed<penstock_pipeline_options>();
  options.prefetch = 1;
  for (const int64_t limit : {int64_t{0}, int64_t{10000}, int64_t{9999}}) {
    options.max_pixels = limit;
    ASSERT_EQ(penstock_pipeline_load(saved.dump().c_str(), &options, &p), PENSTOCK_OK) << penstock_last_error();
    penstock_batch* out = nullptr;
    if (limit != 9999) EXPECT_OK(penstock_pipeline_run(p, nullptr, &out, 1));
    else EXPECT_FAILS(PENSTOCK_ERROR_DATA, "limit of 9999", penstock_pipeline_run(p, nullptr, &out, 1));
    penstock_batch_destroy(out);
    penstock_pipeline_destroy(p);
    p = nullptr;
  }
  options.max_pixels = -1;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "max_pixels must be at least 1",
               penstock_pipeline_load(saved.dump().c_str(), &options, &p));
}

TEST_F(CapiReader, TheErrorPolicyLeavesOutOrReplaces) {
  const std::string json = reading(files);
  std::remove(files[2].c_str());
  auto options = zeroed<penstock_pipeline_options>();
  options.on_error = "skp";
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "did you mean 'skip'?", penstock_pipeline_load(json.c_str(), &options, &p));
  options.on_error = "replace", options.error_budget = -2;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "error_budget", penstock_pipeline_load(json.c_str(), &options, &p));
  options.error_budget = -1, options.late = "swop";
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "late cannot be 'swop', did you mean 'swap'?",
               penstock_pipeline_load(json.c_str(), &options, &p));
  options.late = nullptr;
  ASSERT_EQ(penstock_pipeline_load(json.c_str(), &options, &p), PENSTOCK_OK) << penstock_last_error();
  for (int i = 0; i < 6; ++i) run(p);
  EXPECT_NE(text(penstock_pipeline_statistics, p).find(files[2]), std::string::npos);
  penstock_pipeline_destroy(p);
  options.prefetch = 1, options.on_error = "skip";
  ASSERT_EQ(penstock_pipeline_load(json.c_str(), &options, &p), PENSTOCK_OK) << penstock_last_error();
  auto lost = zeroed<penstock_left_out>();
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "sample 0 does not exist: the last batch lost 0",
               penstock_pipeline_get_left_out(p, 0, &lost));
  int found = 0;
  for (int i = 0; i < 5; ++i) {  // ten samples, of which file 2 is two
    penstock_batch* out[2] = {};
    ASSERT_EQ(penstock_pipeline_run(p, nullptr, out, 2), PENSTOCK_OK) << penstock_last_error();
    auto batch = zeroed<penstock_batch_info>();
    auto info = zeroed<penstock_pipeline_info>();
    EXPECT_OK(penstock_batch_get_info(out[0], &batch));
    EXPECT_OK(penstock_pipeline_get_info(p, &info));
    EXPECT_EQ(info.num_left_out, 2 - batch.num_samples);
    for (int k = 0; k < info.num_left_out; ++k, ++found) {
      lost = zeroed<penstock_left_out>();
      EXPECT_OK(penstock_pipeline_get_left_out(p, static_cast<size_t>(k), &lost));
      EXPECT_EQ(lost.batch, i);
      EXPECT_EQ(lost.source, files[2]);
      EXPECT_NE(std::string(lost.message).find("No such file"), std::string::npos) << lost.message;
      EXPECT_EQ((5 * static_cast<int64_t>(lost.epoch) + lost.position) % 2, lost.number);
    }
    for (auto* b : out) penstock_batch_destroy(b);
  }
  EXPECT_EQ(found, 2);
  penstock_pipeline_destroy(p);
  options.prefetch = 0, options.on_error = "replace";
  p = nullptr;
  options.error_budget = 1;
  ASSERT_EQ(penstock_pipeline_load(json.c_str(), &options, &p), PENSTOCK_OK) << penstock_last_error();
  run(p);
}

TEST_F(CapiReader, TraceHoldsWhatRanSinceTheFirstCall) {
  ASSERT_EQ(penstock_pipeline_load(reading(files).c_str(), nullptr, &p), PENSTOCK_OK) << penstock_last_error();
  const auto boxes = [&] {  // without the names of threads
    char* json = nullptr;
    EXPECT_OK(penstock_pipeline_trace(p, &json));
    const std::string s = json;
    penstock_free_text(json);
    const auto events = nlohmann::json::parse(s)["traceEvents"];
    return std::count_if(events.begin(), events.end(), [](const auto& e) { return e["ph"] != "M"; });
  };
  EXPECT_EQ(boxes(), 0);
  run(p), run(p);
  EXPECT_GT(boxes(), 0);
}

TEST(CapiPipeline, RefusesWhatIsNoSavedPipeline) {
  penstock_pipeline* p = nullptr;
  const std::string fed = kFed;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string s = fed;
    return s.replace(s.find(from), from.size(), to);
  };
  for (const std::string& json :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("{}"),
        std::string("{\"penstock_pipeline\": \"1\"}"), std::string("{\"penstock_pipeline\": 1, \"graph\": 3}"),
        std::string(100000, '['), changed("\"batch_size\": 2", "\"batch_size\": \"two\""),
        changed("\"batch_size\": 2", "\"batch_size\": -2"), changed("\"batch_size\": 2", "\"batch_size\": 0"),
        changed("[[0, 0]]", "[[7, 0]]"), changed("[[0, 0]]", "[[0, 3]]"), changed("[[0, 0]]", "[[1, 0]]"),
        changed("[[0, 0]]", "[[-1, 0]]"), changed("[[1, 0], [0, 0]]", "[[9, 0]]"),
        changed("[[1, 0], [0, 0]]", "[[1, -1]]"), changed("\"threads\": 2", "\"threads\": 2000000000"),
        changed("{\"vertical\": 1}", "{}, \"per_sample\": {\"vertical\": [0, -1]}")}) {
    const penstock_status s = penstock_pipeline_load(json.c_str(), nullptr, &p);
    EXPECT_NE(s, PENSTOCK_OK) << json;
    EXPECT_NE(s, PENSTOCK_ERROR_INTERNAL) << json << penstock_last_error();
    penstock_pipeline_destroy(p);
    p = nullptr;
  }
  EXPECT_FAILS(PENSTOCK_ERROR_KEY, "did you mean 'flip'",
               penstock_pipeline_load(changed("\"flip\"", "\"flop\"").c_str(), nullptr, &p));
  EXPECT_FAILS(PENSTOCK_ERROR_KEY, "did you mean 'vertical'",
               penstock_pipeline_load(changed("\"vertical\"", "\"verical\"").c_str(), nullptr, &p));

  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "json is NULL", penstock_pipeline_load(nullptr, nullptr, &p));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "pipeline is NULL", penstock_pipeline_load(kFed, nullptr, nullptr));
  penstock_batch* out[2] = {};
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "pipeline is NULL", penstock_pipeline_run(nullptr, nullptr, out, 2));
  penstock_pipeline_destroy(nullptr);
  ASSERT_EQ(penstock_pipeline_load(kFed, nullptr, &p), PENSTOCK_OK);
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "has 2 outputs", penstock_pipeline_run(p, nullptr, out, 1));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "outputs is NULL", penstock_pipeline_run(p, nullptr, nullptr, 2));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "no operator 'other'", penstock_pipeline_feed(p, "other", nullptr, 0));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "is not an external source", penstock_pipeline_feed(p, "flipped", nullptr, 0));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "json is NULL", penstock_pipeline_restore(p, nullptr));
  for (const char* state : {"", "{", "[]", "{}", "{\"penstock_checkpoint\": []}"}) {
    const penstock_status s = penstock_pipeline_restore(p, state);
    EXPECT_NE(s, PENSTOCK_ERROR_INTERNAL) << state << penstock_last_error();
    EXPECT_NE(s, PENSTOCK_OK) << state;
  }
  auto meta = zeroed<penstock_reader_meta>();
  EXPECT_STATUS(PENSTOCK_ERROR_ARGUMENT, penstock_pipeline_get_reader_meta(p, nullptr, &meta));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "text is NULL", penstock_pipeline_save(p, nullptr));
  penstock_pipeline_destroy(p);
}

TEST(CapiPipeline, OneThreadAtATimeUsesIt) {
  penstock_pipeline* p = nullptr;
  EXPECT_OK(penstock_pipeline_load(kWaits, nullptr, &p));
  struct Inside {
    penstock_pipeline* p;
    int asked = 0;
  } inside{p};
  auto options = zeroed<penstock_run_options>();
  options.poll_user = &inside;
  options.poll = [](void* user) {  // while the other thread waits in run()
    auto& i = *static_cast<Inside*>(user);
    std::thread([&i] {
      penstock_batch* out = nullptr;
      const char* said = "another thread is using this pipeline";
      EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, said, penstock_pipeline_run(i.p, nullptr, &out, 1));
      EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, said, penstock_pipeline_reset(i.p));
    }).join();
    ++i.asked;
    return 1;
  };
  penstock_batch* out = nullptr;
  for (int k = 1; k < 3; ++k) {
    EXPECT_STATUS(PENSTOCK_ERROR_CANCELLED, penstock_pipeline_run(p, &options, &out, 1));
    EXPECT_EQ(inside.asked, k);
  }
  penstock_pipeline_destroy(p);
}

TEST(CapiPipeline, WithoutAFeedThereIsAnErrorAndNoWait) {
  penstock_pipeline* p = nullptr;
  EXPECT_OK(penstock_pipeline_load(kFed, nullptr, &p));
  penstock_batch* out[2] = {};
  for (int k = 0; k < 2; ++k)
    EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "nothing was fed to 'images'", penstock_pipeline_run(p, nullptr, out, 2));
  Images images({{8, 8}, {8, 8}});
  penstock_batch* b = images.batch();
  for (int k = 0; k < 3; ++k) {  // as if nothing had been
    EXPECT_OK(penstock_pipeline_feed(p, "images", &b, 1));
    EXPECT_OK(penstock_pipeline_run(p, nullptr, out, 2));
    EXPECT_EQ(bytes_of(out[1], 1), images.bytes[1]);
    for (auto*& o : out) penstock_batch_destroy(o), o = nullptr;
  }
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "penstock_pipeline_feed() in C", penstock_pipeline_run(p, nullptr, out, 2));
  penstock_batch_destroy(b);
  penstock_pipeline_destroy(p);
}

}  // namespace
