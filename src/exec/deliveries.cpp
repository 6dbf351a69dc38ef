// SPDX-License-Identifier: Apache-2.0
#include "exec/deliveries.h"

#include "base/json_text.h"

namespace penstock {

// 2: operators of one seed draw the same numbers; the position of pipelines without sources.
constexpr int kCheckpointVersion = 2;

Deliveries::Deliveries(PipelineSources& sources) : sources_(sources) { find_first_states(); }

// What has a state; a source that has none begins anew in a new pipeline, and says so once it has given a batch.
void Deliveries::find_first_states() {
  for (const auto& [node, source] : sources_.all())
    if (std::string state = source->state(); !state.empty()) states[node] = std::move(state);
  if (sources_.primary() < 0) states[kNoSource] = "0";
}

void Deliveries::begin_again(bool leave_epoch) {
  skip = resumed = 0;
  for (const auto& [id, s] : sources_.all()) {
    const auto delivered = states.find(id);
    const bool some = delivered != states.end();
    if (leave_epoch) s->begin_epoch(some ? delivered->second : std::string());
    else s->reset();
    s->next_number = -1;
    if (some && (leave_epoch || !s->meta())) delivered->second = s->state();
  }
}

std::string Deliveries::checkpoint(const Graph& graph) const {
  nlohmann::json sources = nlohmann::json::object();
  nlohmann::json text{{"penstock_checkpoint", kCheckpointVersion}, {"seed", graph.seed()}, {"skip", skip}};
  for (const auto& [node, state] : states) {
    if (node == kNoSource) {
      text["position"] = std::stoull(state);
      continue;
    }
    if (state.empty())
      bad_argument(
          "the source '{}' cannot be resumed: give external_source a callable that takes an index, or an object with "
          "state_dict()",
          graph.node(node).name);
    sources[graph.node(node).name] = state;
  }
  text["sources"] = std::move(sources);
  return text.dump();
}

void Deliveries::restore(const std::string& text, Graph& graph) {
  try {
    const auto j = parse_json(text);
    if (!j.is_object() || !j.contains("penstock_checkpoint") || !j.contains("sources") || !j["sources"].is_object())
      bad_argument("this is not a checkpoint of a pipeline");
    check_form("checkpoint", j["penstock_checkpoint"], kCheckpointVersion);
    graph.set_seed(whole_number(j.value("seed", nlohmann::json(0)), uint64_t{0}, UINT64_MAX, "the checkpoint's seed"));
    skip = resumed = whole_number(j.value("skip", nlohmann::json(0)), 0, INT32_MAX, "the checkpoint's skip");
    if (j.contains("position")) {
      if (sources_.primary() >= 0)
        bad_argument(
            "the checkpoint is from a pipeline without sources, but this pipeline has "
            "sources");
      sources_.first_position =
          whole_number(j["position"], uint64_t{0}, uint64_t{1} << 62, "the checkpoint's position");
      states[kNoSource] = std::to_string(sources_.first_position);
    }
    for (const auto& [name, state] : j["sources"].items()) {
      const int node = graph.find(name);
      if (node < 0 || !sources_.all().count(node))
        bad_argument("the checkpoint has a source '{}' that this pipeline lacks", name);
      sources_.at(node).restore(state.get<std::string>());
      states[node] = state.get<std::string>();
    }
  } catch (const nlohmann::json::exception& e) {
    bad_argument("the checkpoint cannot be read: {}", e.what());
  }
}

}  // namespace penstock
