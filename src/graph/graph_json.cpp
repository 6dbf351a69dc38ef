// SPDX-License-Identifier: Apache-2.0
// The saved form of a graph. Loading it needs no Python; it holds no code.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "graph/graph.h"

namespace penstock {
namespace {

using nlohmann::json;
constexpr int kVersion = 1;
constexpr const char* kControls[] = {"none", "branch", "loop", "argument", "trip", "unset",
                                    "filter", "expand", "flatten", "rebatch"};

json to_json(const Value& v) {
  return std::visit([](const auto& x) -> json {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>) return nullptr;
    else return x;
  }, v);
}

Value value_from(const json& j) {
  if (j.is_null()) return {};
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_string()) return j.get<std::string>();
  if (j.is_array()) {
    bool texts = false, reals = false;
    for (const auto& e : j) texts |= e.is_string(), reals |= e.is_number_float();
    if (texts) return j.get<std::vector<std::string>>();
    if (reals) return j.get<std::vector<double>>();
    return j.get<std::vector<int64_t>>();
  }
  bad_argument("a saved pipeline holds a value of an unknown kind");
}

json to_json(ValueRef v) {
  json j = json::array({v.node, v.output});
  if (v.place != Place::made) j.push_back(v.place == Place::gpu ? "gpu" : "cpu");
  return j;
}
ValueRef ref_from(const json& j) {
  ValueRef v{j.at(0).get<int>(), j.at(1).get<int>()};
  if (j.size() > 2) {
    const auto place = j.at(2).get<std::string>();
    if (place != "gpu" && place != "cpu") bad_argument("a saved pipeline with a value on the device '{}'", place);
    v.place = place == "gpu" ? Place::gpu : Place::cpu;
  }
  return v;
}

void control_from(const json& e, Node& n) {
  const auto kind = e.at("control").get<std::string>();
  const auto found = std::find(std::begin(kControls), std::end(kControls), kind);
  if (found == std::end(kControls)) bad_argument("a saved pipeline with control flow of the kind '{}'", kind);
  n.control = static_cast<Control>(found - std::begin(kControls));
  n.bodies = e.at("bodies").get<std::vector<int>>(), n.arguments = e.at("arguments").get<std::vector<int>>();
  n.variables = e.at("variables").get<std::vector<std::string>>();
  n.counted = e.at("counted").get<bool>(), n.trips = e.at("trips").get<int>(), n.most_trips = e.at("most_trips").get<int64_t>();
  n.on_gpu = e.value("on_gpu", false);
  n.test = ref_from(e.at("test"));
  for (const auto& v : e.at("results")) n.results.push_back(ref_from(v));
}

}  // namespace

std::string Graph::to_json() const {
  json nodes = json::array();
  for (const auto& n : nodes_) {
    json j{{"op", n.op}, {"name", n.name}, {"outputs", n.outputs}};
    if (!n.device.empty()) j["device"] = n.device;
    if (n.seed >= 0) j["seed"] = n.seed;
    if (!n.user_line.empty()) j["line"] = n.user_line;
    if (n.region > 0) j["region"] = n.region;
    if (n.control != Control::none) {
      j["control"] = kControls[static_cast<int>(n.control)];
      j["bodies"] = n.bodies, j["arguments"] = n.arguments, j["variables"] = n.variables;
      j["counted"] = n.counted, j["trips"] = n.trips, j["most_trips"] = n.most_trips;
      if (n.control == Control::argument && n.on_gpu) j["on_gpu"] = true;
      j["test"] = penstock::to_json(n.test), j["results"] = json::array();
      for (const auto& v : n.results) j["results"].push_back(penstock::to_json(v));
    }
    for (const auto& in : n.inputs) j["inputs"].push_back(penstock::to_json(in));
    for (const auto& [name, value] : n.constants) j["constants"][name] = penstock::to_json(value);
    for (const auto& [name, ref] : n.per_sample) j["per_sample"][name] = penstock::to_json(ref);
    for (const auto& t : n.types)
      j["types"].push_back({static_cast<int>(t.dtype), t.ndim, t.layout.str()});
    nodes.push_back(std::move(j));
  }
  json out = json::array();
  for (const auto& o : outputs_) out.push_back(penstock::to_json(o));
  json graph{{"penstock_graph", kVersion}, {"seed", seed_}, {"nodes", nodes}, {"outputs", out}};
  for (size_t r = 1; r < regions_.size(); ++r) graph["regions"].push_back({regions_[r].parent, regions_[r].kind});
  return graph.dump(1);
}

Graph Graph::from_json(const std::string& text) {
  Graph g;
  try {
    const json j = json::parse(text);
    if (!j.is_object() || j.value("penstock_graph", 0) != kVersion)
      bad_argument("this is not a pipeline saved by this version of Penstock");
    g.seed_ = j.at("seed").get<uint64_t>();
    if (j.contains("regions"))
      for (const auto& e : j["regions"]) {
        Body b;
        b.parent = e.at(0).get<int>(), b.kind = e.at(1).get<std::string>();
        if (b.parent < 0 || b.parent >= static_cast<int>(g.regions_.size())) bad_argument("a saved pipeline with a body of nothing");
        g.regions_.push_back(std::move(b));
      }
    for (const auto& e : j.at("nodes")) {
      Node n;
      n.region = e.value("region", 0);
      if (n.region < 0 || n.region >= static_cast<int>(g.regions_.size())) bad_argument("a saved pipeline without the body {}", n.region);
      if (e.contains("control")) control_from(e, n);
      n.op = e.at("op").get<std::string>();
      n.name = e.at("name").get<std::string>();
      n.outputs = e.at("outputs").get<int>();
      n.device = e.value("device", "");
      n.seed = e.value("seed", int64_t{-1});
      n.user_line = e.value("line", "");
      if (n.outputs < 0 || n.outputs > 1024) bad_argument("a saved pipeline with a node of {} outputs", n.outputs);
      if (e.contains("inputs")) for (const auto& i : e["inputs"]) n.inputs.push_back(ref_from(i));
      if (e.contains("constants"))
        for (const auto& [k, v] : e["constants"].items()) n.constants.emplace_back(k, value_from(v));
      if (e.contains("per_sample"))
        for (const auto& [k, v] : e["per_sample"].items()) n.per_sample.emplace_back(k, ref_from(v));
      if (e.contains("types"))
        for (const auto& t : e["types"]) {
          const int dtype = t.at(0).get<int>();
          if (dtype < -1 || dtype > 11) bad_argument("a saved pipeline with the element type {}", dtype);
          n.types.push_back({static_cast<DType>(dtype), t.at(1).get<int>(), Layout(t.at(2).get<std::string>())});
        }
      if (static_cast<int>(n.types.size()) != n.outputs) n.types.clear();
      g.add(std::move(n));
    }
    std::vector<ValueRef> outputs;
    for (const auto& o : j.at("outputs")) outputs.push_back(ref_from(o));
    g.set_outputs(std::move(outputs));
  } catch (const json::exception& e) {
    bad_argument("a saved pipeline that cannot be read: {}", e.what());
  }
  return g;
}

}  // namespace penstock
