// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a pipeline with two readers and a feed of the program's: any text is refused with an error that says
// why, or the pipeline goes on from it, and what it then saves is taken too.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "exec/pipeline.h"
#include "json_mutator.h"

using namespace penstock;

namespace {

class Counting final : public ExternalFeed {
 public:
  std::vector<Batch> next(const BatchRequest& r) override {
    std::vector<Batch> out;
    out.push_back(Batch::uniform(DType::uint8, Shape{1}, {}, r.batch_size));
    for (int i = 0; i < r.batch_size; ++i) *out[0].view(i).as<uint8_t>() = static_cast<uint8_t>(r.iteration);
    return out;
  }
  bool resumable() const override { return true; }
};

// Seven files, as long as this process lives.
struct Files {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("penstock_checkpoint_fuzzer_" + std::to_string(getpid()));
  std::vector<std::string> paths;
  Files() {
    std::filesystem::create_directories(folder);
    for (int i = 0; i < 7; ++i) {
      paths.push_back((folder / std::to_string(i)).string());
      std::ofstream(paths.back()) << "file " << i;
    }
  }
  ~Files() { std::filesystem::remove_all(folder); }
};

std::unique_ptr<Pipeline> make_pipeline() {
  static const Files files;
  Graph g;
  g.set_seed(5);
  const auto reader = [&](const char* name, const char* order, int64_t shards) {
    Node n;
    n.op = "readers.file", n.name = name;
    n.constants.emplace_back("files", Value{files.paths});
    n.constants.emplace_back(order, Value{true});
    n.constants.emplace_back("num_shards", Value{shards});
    return g.add(std::move(n));
  };
  const int dealt = reader("Reader", "random_shuffle", 1), sharded = reader("sharded", "stick_to_shard", 2);
  Node feed;
  feed.op = "external_source", feed.name = "feed";
  const int fed = g.add(std::move(feed));
  g.set_outputs({{dealt, 0}, {sharded, 0}, {fed, 0}});
  PipelineOptions o;
  o.batch_size = 3, o.threads = 1, o.prefetch = 1, o.entropy_index = "off";
  auto p = std::make_unique<Pipeline>(std::move(g), o);
  p->set_feed(fed, std::make_shared<Counting>());
  return p;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  static const std::vector<std::string> words{"Reader",      "sharded", "feed",    "none", "once",
                                              "every_epoch", "skip",    "sources", "seed", "legs"};
  // The sources' states are texts inside the text.
  const auto flip = [](const fuzz::Json& j) {
    fuzz::Json out = j;
    if (out.is_object() && out.contains("sources") && out["sources"].is_object())
      for (auto& s : out["sources"]) {
        const fuzz::Json inside =
            s.is_string() ? fuzz::Json::parse(s.get<std::string>(), nullptr, false) : fuzz::Json();
        if (inside.is_structured()) s = inside;
        else if (s.is_structured()) s = s.dump(-1, ' ', false, fuzz::Json::error_handler_t::replace);
      }
    return out;
  };
  const auto rewrite = [&](size_t bytes) {
    const auto j = fuzz::Json::parse(data, data + bytes, nullptr, false);
    if (j.is_discarded()) return bytes;
    const std::string text = flip(j).dump(-1, ' ', false, fuzz::Json::error_handler_t::replace);
    if (text.size() > most) return bytes;
    std::memcpy(data, text.data(), text.size());
    return text.size();
  };
  return rewrite(fuzz::mutate_json(data, rewrite(size), most, seed, words));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The hash of this process' files, which no seed can know.
  static const std::string hash = [] {
    const auto p = make_pipeline();
    p->run();
    const auto sources = nlohmann::json::parse(p->checkpoint())["sources"];
    return nlohmann::json::parse(sources["Reader"].get<std::string>())["list_hash"].dump();
  }();
  std::string text(data, data + size);
  const std::string stands_for = "90909090909";
  for (size_t at = 0; (at = text.find(stands_for, at)) != std::string::npos; at += hash.size())
    text.replace(at, stands_for.size(), hash);
  try {
    const auto p = make_pipeline();
    p->restore(text);
    for (int i = 0; i < 3; ++i)
      if (p->run().batches.size() != 3) std::abort();
    make_pipeline()->restore(p->checkpoint());
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::argument && e.kind() != ErrorKind::stopped) std::abort();
  }
  return 0;
}
