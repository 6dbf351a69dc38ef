// SPDX-License-Identifier: Apache-2.0
#include "exec/deliveries.h"

#include "base/json_text.h"

namespace penstock {

// 2: operators of one seed draw the same numbers; the position of pipelines without sources.
// 3: samples of several batches are delivered, of others they are not; former versions would give them again.
constexpr int kCheckpointVersion = 2, kLateVersion = 3;

Deliveries::Deliveries(PipelineSources& sources, const PipelineOptions& options)
    : sources_(sources), options_(options) {
  find_first_states();
}

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

void Deliveries::deliver(const Iteration& it) {
  if (auto passed = late->deliver(it.late->members)) states = std::move(*passed);
}

// What the batches depend on whose samples were delivered in part.
nlohmann::json Deliveries::late_form() const {
  nlohmann::json form{{"batch_size", options_.batch_size}, {"epoch_mode", static_cast<int>(options_.epoch_mode)}};
  const auto meta = sources_.primary() < 0 ? std::nullopt : sources_.at(sources_.primary()).meta();
  form["shards"] = meta ? meta->number_of_shards : 1, form["shard"] = meta ? meta->shard_id : 0;
  return form;
}

void Deliveries::add_late(nlohmann::json& text) const {
  const auto delivered = late->list();
  if (delivered.empty()) return;
  text["penstock_checkpoint"] = kLateVersion;
  text["late"] = late_form();
  text["late"]["delivered"] = delivered;
}

void Deliveries::restore_late(const nlohmann::json& saved) const {
  if (!late)
    bad_argument(
        "the checkpoint is from a pipeline with late=\"swap\", some of whose samples are still out: resume it with "
        "late=\"swap\", or take a checkpoint at the end of an epoch");
  const nlohmann::json form = late_form();
  for (const auto& [name, own] : form.items())
    if (const int there = whole_number(saved.at(name), 0, INT32_MAX, name.c_str()); there != own.get<int>())
      bad_argument(
          "the checkpoint is from a pipeline with late=\"swap\" and {} {}, some of whose samples are still out, but "
          "this "
          "one has {}: resume it with the same, or take a checkpoint at the end of an epoch",
          name, there, own.get<int>());
  std::vector<std::vector<DeliveredSamples::Range>> delivered;
  for (const auto& ranges : saved.at("delivered")) {
    auto& last = delivered.emplace_back();
    for (const auto& r : ranges) {
      const auto number = [&](size_t k) { return whole_number(r.at(k), 0, INT32_MAX, "a delivered sample"); };
      last.emplace_back(number(0), number(1));
    }
  }
  late->resume(std::move(delivered));
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
  if (late) add_late(text);
  return text.dump();
}

void Deliveries::restore(const std::string& text, Graph& graph) {
  try {
    const auto j = parse_json(text);
    if (!j.is_object() || !j.contains("penstock_checkpoint") || !j.contains("sources") || !j["sources"].is_object())
      bad_argument("this is not a checkpoint of a pipeline");
    const bool is_late = j.contains("late");
    check_form("checkpoint", j["penstock_checkpoint"], is_late ? kLateVersion : kCheckpointVersion);
    if (is_late) restore_late(j["late"]);
    graph.set_seed(whole_number(j.value("seed", nlohmann::json(0)), uint64_t{0}, UINT64_MAX, "the checkpoint's seed"));
    skip = resumed = whole_number(j.value("skip", nlohmann::json(0)), 0, INT32_MAX, "the checkpoint's skip");
    if (late && skip > 0)
      bad_argument(
          "the checkpoint is from a pipeline that divides its samples into new batches, in the middle of one: it "
          "cannot "
          "go on with late=\"swap\"");
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
