// SPDX-License-Identifier: Apache-2.0
// The saved form of a graph. It contains no code, and loading it needs no Python.
#include <algorithm>

#include "base/json_text.h"
#include "graph/graph.h"

namespace penstock {
namespace {

using nlohmann::json;
// 2: nodes with one seed draw the same numbers.
constexpr int kVersion = 2;
constexpr int kMostNodes = 1 << 20;
constexpr const char* kControls[] = {"none",  "branch", "loop",   "argument", "trip",
                                     "unset", "filter", "expand", "flatten",  "rebatch"};

json to_json(const Value& v) {
  return std::visit(
      [](const auto& x) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>) return nullptr;
        else return x;
      },
      v);
}

Value value_from(const json& j) {
  if (j.is_null()) return {};
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return whole_number(j, INT64_MIN, INT64_MAX, "a saved pipeline's number");
  if (j.is_number()) return j.get<double>();
  if (j.is_string()) return j.get<std::string>();
  if (j.is_array()) {
    bool texts = false, reals = false;
    for (const auto& e : j) texts |= e.is_string(), reals |= e.is_number_float();
    if (texts) return j.get<std::vector<std::string>>();
    if (reals) return j.get<std::vector<double>>();
    return j.get<std::vector<int64_t>>();
  }
  bad_argument("a saved pipeline has a value of an unknown kind");
}

json to_json(ValueRef v) {
  json j = json::array({v.node, v.output});
  if (v.place != Place::made) j.push_back(v.place == Place::gpu ? "gpu" : "cpu");
  return j;
}
ValueRef ref_from(const json& j) {
  ValueRef v{whole_number(j.at(0), -1, kMostNodes, "a saved pipeline's node"),
             whole_number(j.at(1), 0, kMostOutputs, "an output")};
  if (j.size() > 2) {
    const auto place = j.at(2).get<std::string>();
    if (place != "gpu" && place != "cpu") bad_argument("a saved pipeline has a value on the device '{}'", place);
    v.place = place == "gpu" ? Place::gpu : Place::cpu;
  }
  return v;
}

ValueType type_from(const json& j) {
  ValueType t;
  const int number = whole_number(j.at(0), -1, kTypes - 1, "an element type");
  if (number >= 0 && !is_type(number)) bad_argument("a saved pipeline has the number {} as an element type", number);
  t.dtype = static_cast<DType>(number);
  t.ndim = whole_number(j.at(1), -1, Shape::kMaxDims, "a number of dimensions");
  t.layout = j.at(2).get<std::string>();
  if (!t.layout.empty() && t.ndim >= 0 && t.layout.size() != t.ndim)
    bad_argument("a saved pipeline has {} dimensions with the layout {}", t.ndim, t.layout.str());
  return t;
}

void control_from(const json& e, Node& n) {
  const auto kind = e.at("control").get<std::string>();
  const auto found = std::find(std::begin(kControls), std::end(kControls), kind);
  if (found == std::end(kControls)) bad_argument("a saved pipeline has control flow of the unknown kind '{}'", kind);
  n.control = static_cast<Control>(found - std::begin(kControls));
  for (const auto& b : e.at("bodies")) n.bodies.push_back(whole_number(b, 0, kMostNodes, "a body"));
  for (const auto& a : e.at("arguments")) n.arguments.push_back(whole_number(a, 0, kMostNodes, "a loop's value"));
  n.variables = e.at("variables").get<std::vector<std::string>>();
  n.counted = e.at("counted").get<bool>(), n.trips = whole_number(e.at("trips"), -1, kMostNodes, "trips");
  n.most_trips = whole_number(e.at("most_trips"), int64_t{1}, INT64_MAX, "most_trips");
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
    if (n.draws_of >= 0) j["draws_of"] = n.draws_of;
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
    for (const auto& t : n.types) j["types"].push_back({static_cast<int>(t.dtype), t.ndim, t.layout.str()});
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
    const json j = parse_json(text);
    if (!j.is_object() || !j.contains("penstock_graph")) bad_argument("this is not a saved pipeline");
    check_form("pipeline", j["penstock_graph"], kVersion);
    g.seed_ = whole_number(j.at("seed"), uint64_t{0}, UINT64_MAX, "a saved pipeline's seed");
    if (j.contains("regions"))
      for (const auto& e : j["regions"]) {
        Body b;
        b.parent = whole_number(e.at(0), 0, static_cast<int>(g.regions_.size()) - 1, "a saved pipeline's body");
        b.kind = e.at(1).get<std::string>();
        g.regions_.push_back(std::move(b));
      }
    for (const auto& e : j.at("nodes")) {
      Node n;
      n.region = whole_number(e.value("region", json(0)), 0, static_cast<int>(g.regions_.size()) - 1,
                              "a saved pipeline's body");
      if (e.contains("control")) control_from(e, n);
      n.op = e.at("op").get<std::string>();
      n.name = e.at("name").get<std::string>();
      n.outputs = whole_number(e.at("outputs"), 0, kMostOutputs, "the number of a node's outputs");
      n.device = e.value("device", "");
      n.seed = whole_number(e.value("seed", json(-1)), int64_t{-1}, INT64_MAX, "a node's seed");
      n.draws_of = whole_number(e.value("draws_of", json(-1)), -1, static_cast<int>(g.nodes_.size()) - 1,
                                "the node whose random numbers a node draws");
      n.user_line = e.value("line", "");
      if (e.contains("inputs"))
        for (const auto& i : e["inputs"]) n.inputs.push_back(ref_from(i));
      if (e.contains("constants"))
        for (const auto& [k, v] : e["constants"].items()) n.constants.emplace_back(k, value_from(v));
      if (e.contains("per_sample"))
        for (const auto& [k, v] : e["per_sample"].items()) n.per_sample.emplace_back(k, ref_from(v));
      if (e.contains("types") && n.control != Control::none)  // operators determine their own outputs
        for (const auto& t : e["types"]) n.types.push_back(type_from(t));
      g.add(std::move(n));
    }
    std::vector<ValueRef> outputs;
    for (const auto& o : j.at("outputs")) outputs.push_back(ref_from(o));
    g.set_outputs(std::move(outputs));
  } catch (const json::exception& e) {
    bad_argument("the saved pipeline cannot be read: {}", e.what());
  }
  return g;
}

}  // namespace penstock
