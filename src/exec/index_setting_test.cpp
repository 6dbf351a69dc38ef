// SPDX-License-Identifier: Apache-2.0
#include "readers/index_setting.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "codecs/test_images.h"
#include "data/test_folder.h"
#include "exec/pipeline.h"
#include "readers/file_tools.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

// Environment variables for one test.
class Environment {
 public:
  void set(const std::string& name, const char* value) {
    const char* old = std::getenv(name.c_str());
    old_.emplace_back(name, old ? std::optional<std::string>(old) : std::nullopt);
    value ? ::setenv(name.c_str(), value, 1) : ::unsetenv(name.c_str());
  }
  ~Environment() {
    for (size_t i = old_.size(); i-- > 0;)
      old_[i].second ? ::setenv(old_[i].first.c_str(), old_[i].second->c_str(), 1) : ::unsetenv(old_[i].first.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> old_;
};

TEST(IndexSetting, FindsTheUsersCacheFolder) {
  Environment e;
  e.set("PENSTOCK_CACHE", "/a/b/../c");
  EXPECT_EQ(cache_folder(), "/a/c");
  e.set("PENSTOCK_CACHE", "");
  e.set("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(cache_folder(), "/x/penstock");
  e.set("XDG_CACHE_HOME", "relative");  // the specification: to be ignored
  e.set("HOME", "/home");
  EXPECT_EQ(cache_folder(), "/home/.cache/penstock");
  e.set("HOME", nullptr);
  EXPECT_NE(cache_folder(), "/.cache/penstock");
}

TEST(IndexSetting, ADataSetHasAFileOfItsOwnOrThatOfAFolderAbove) {
  const TestFolder cache;
  const std::string set = index_path(cache.path(), "/data/some set!"),
                    part = index_path(cache.path(), "/data/some set!/train");
  EXPECT_NE(set, part);
  EXPECT_EQ(set.rfind(cache.path() + "/entropy_index/some_set_-", 0), 0u) << set;
  for (const char* same : {"/data/some set!/", "/data/./some set!", "/data//some set!/x/.."})
    EXPECT_EQ(index_path(cache.path(), same), set) << same;
  EXPECT_EQ(index_path(cache.path(), "."), index_path(cache.path(), fs::current_path()));
  EXPECT_NE(index_path(cache.path(), "/other/some set!"), set);
  EXPECT_NE(index_path(cache.path(), "/"), set);
  cache.write("entropy_index/" + fs::path(set).filename().string(), "");
  EXPECT_EQ(index_path(cache.path(), "/data/some set!/train/class"), set);
  cache.write("entropy_index/" + fs::path(part).filename().string(), "");
  EXPECT_EQ(index_path(cache.path(), "/data/some set!/train/class"), part);
  EXPECT_EQ(index_path(cache.path(), "/data/some set!"), set);
}

TEST(IndexSetting, ReadsItsLimit) {
  Environment e;
  auto limit = [&](const char* text) { return e.set("PENSTOCK_ENTROPY_INDEX_LIMIT", text), index_limit(); };
  EXPECT_EQ(limit(nullptr), kDefaultIndexLimit);
  EXPECT_EQ(limit(""), kDefaultIndexLimit);
  EXPECT_EQ(limit("0"), 0);
  EXPECT_EQ(limit("1000"), 1000);
  EXPECT_EQ(limit("1.5M"), 3 << 19);
  EXPECT_EQ(limit("4G"), int64_t{4} << 30);
  for (const char* wrong : {"G", "1 G", "-1", "nan", "1e300", "2GB"}) EXPECT_THROW(limit(wrong), Error) << wrong;
}

// Crops of some JPEG files, several batches in flight.
std::unique_ptr<Pipeline> crops(const std::vector<std::string>& files, const std::string& option, int threads) {
  Graph g;
  Node read;
  read.op = "readers.file", read.outputs = 2;
  read.constants.emplace_back("files", Value{files});
  const int source = g.add(std::move(read));
  Node crop;
  crop.op = "decoders.image_random_crop";
  crop.inputs = {{source, 0}};
  g.set_outputs({{g.add(std::move(crop)), 0}});
  g.set_seed(5);
  PipelineOptions o;
  o.batch_size = 6, o.threads = threads, o.prefetch = 3, o.entropy_index = option;
  return std::make_unique<Pipeline>(std::move(g), o);
}

std::string bytes_of(Pipeline& p, int batches) {
  std::string all;
  for (int i = 0; i < batches; ++i) {
    const Batch b = p.run().batches[0];
    for (int k = 0; k < b.size(); ++k)
      all.append(static_cast<const char*>(b.sample(k).data), static_cast<size_t>(b.shape(k).volume()));
  }
  return all;
}

TEST(IndexSetting, ThreadsMakeAndUseAnIndexAndNoPixelChanges) {
  const TestFolder folder;
  std::vector<std::string> files;
  for (int i = 0; i < 18; ++i) {
    test::JpegRecipe r;
    r.height = 150 + i, r.width = 170 - i, r.seed = i, r.v = 1 + i % 2;
    const auto file = test::make_jpeg(r);
    files.push_back(folder.write(fmt::format("set/{}.jpg", i), std::string(file.begin(), file.end())));
  }
  const std::string index = folder.path("x.index");
  const std::string plain = bytes_of(*crops(files, "off", 2), 9);
  for (int threads : {1, 2, 5})
    for (const std::string& option : {index, index, std::string("read")}) {
      auto p = crops(files, option, threads);
      EXPECT_EQ(bytes_of(*p, 9), plain) << option << " " << threads;
      EXPECT_EQ(p->statistics().index.stale, 0);
      EXPECT_GE(p->statistics().index.made + p->statistics().index.used, option == index ? 54 : 0);
    }
  auto again = crops(files, index, 2);
  bytes_of(*again, 3);
  EXPECT_EQ(again->statistics().index.made, 0);
  EXPECT_GE(again->statistics().index.used, 18);
}

TEST(IndexSetting, ABuilderMakesWhatAPipelineUses) {
  const TestFolder folder;
  std::vector<std::string> files;
  for (int i = 0; i < 7; ++i) {
    test::JpegRecipe r;
    r.height = 150, r.width = 170, r.seed = i, r.progressive = i == 3;
    const auto file = test::make_jpeg(r);
    files.push_back(folder.write(fmt::format("set/{}.jpg", i), std::string(file.begin(), file.end())));
  }
  files.push_back(folder.path("set/none.jpg"));
  for (int round = 0; round < 2; ++round) {
    IndexBuilder builder(folder.path("x.index"), folder.path("set"), 4, 3);
    const IndexReport r = builder.add(files);
    builder.finish();
    EXPECT_EQ(r.made, round ? 0 : 6);
    EXPECT_EQ(r.kept, round ? 6 : 0);
    EXPECT_EQ(r.left_out, 1);
    ASSERT_EQ(r.failed.size(), 1u);
    EXPECT_EQ(r.failed[0].first, files.back());
  }
  EXPECT_THROW(IndexBuilder("", folder.path("set"), 0, 1), Error);
  EXPECT_THROW(IndexBuilder("off", folder.path("set"), 8, 1), Error);
}

}  // namespace
}  // namespace penstock
