// SPDX-License-Identifier: Apache-2.0
// Saved pipelines: any text is refused with an error that says why, or becomes a graph that can be shown, planned and,
// where it reads no files, made; and what is saved of that is read again as the same.
#include <algorithm>
#include <cstdlib>

#include "exec/pipeline.h"
#include "graph/passes.h"
#include "json_mutator.h"

using namespace penstock;

namespace {

const std::vector<std::string>& words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> w{
        "cpu",        "gpu",        "mixed",     "HWC",    "CHW",        "FHWC",    "k",       "flattened",
        "batch_size", "min_batch",  "too_few",   "skip",   "error",      "branch",  "loop",    "argument",
        "trip",       "unset",      "filter",    "expand", "flatten",    "rebatch", "control", "bodies",
        "arguments",  "variables",  "counted",   "trips",  "most_trips", "results", "test",    "region",
        "regions",    "per_sample", "constants", "inputs", "types",      "on_gpu",  "seed",    "device"};
    for (const OpInfo* op : all_ops()) {
      w.push_back(op->name);
      for (const auto& a : op->args) w.push_back(a.name);
    }
    return w;
  }();
  return all;
}

// What a user can be told of what he gave; anything else is a fault.
template <class F> void may_refuse(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::internal || e.kind() == ErrorKind::data) std::abort();
  }
}

bool reads_files(const Graph& g) {
  return std::any_of(g.nodes().begin(), g.nodes().end(), [](const Node& n) {
    return info_of(n).family == Family::source && n.op != "external_source" && !calls_back(n);
  });
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate_json(data, size, most, seed, words());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(data, data + size);
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  may_refuse([&] {
    const Graph g = Graph::from_json(parsed.is_object() && parsed.contains("graph") ? parsed["graph"].dump() : text);
    const std::string saved = g.to_json();
    if (Graph::from_json(saved).to_json() != saved || g.text().empty()) std::abort();
    std::vector<PassText> texts;
    make_plan(g, {}, &texts);
    PlanOptions with_gpu;
    with_gpu.gpu = true;
    make_plan(g, with_gpu, &texts);
    if (reads_files(g)) return;
    const auto pipeline = Pipeline::from_json(text, [](PipelineOptions& o) {
      o.threads = 1, o.batch_size = std::min(o.batch_size, 4), o.entropy_index = "off";
    });
    if (pipeline->plan_text().empty()) std::abort();
    const std::string again = pipeline->to_json();
    if (Pipeline::from_json(again)->to_json() != again) std::abort();
  });
  return 0;
}
