// SPDX-License-Identifier: Apache-2.0
// The text form of a graph: one line per node; bodies of control flow are indented before their node.
#include "graph/graph.h"

namespace penstock {
namespace {

std::string list_of(const Graph& g, std::span<const ValueRef> values) {
  std::string s;
  for (const auto& v : values) s += (s.empty() ? "" : ", ") + (v.node < 0 ? std::string("unset") : g.value_text(v));
  return s;
}

std::string control_text(const Graph& g, const Node& n) {
  const std::span<const ValueRef> results = n.results;
  switch (n.control) {
    case Control::branch:
      return fmt::format("if({}) then({}) else({})", g.value_text(n.inputs[0]),
                         list_of(g, results.first(results.size() / 2)),
                         list_of(g, results.subspan(results.size() / 2)));
    case Control::loop: {
      const std::span<const ValueRef> inputs = n.inputs;
      std::string s = n.counted ? fmt::format("for({} trips", g.value_text(n.inputs[0])) : "while(";
      if (n.test.node >= 0) s += (n.counted ? ", while " : "") + g.value_text(n.test);
      return s + fmt::format(") from({}) next({})", list_of(g, inputs.subspan(n.counted)), list_of(g, results));
    }
    case Control::argument: return "value of the loop";
    case Control::trip: return "number of the trip";
    case Control::filter:
    case Control::expand:
    case Control::flatten:
    case Control::rebatch: return fmt::format("{}({})", n.op, list_of(g, n.inputs));
    default: return "unset";
  }
}

}  // namespace

std::string Graph::node_text(int id, bool with_types) const {
  const Node& n = node(id);
  std::string types;
  for (const auto& t : n.types) types += (types.empty() ? "" : ", ") + penstock::to_text(t);
  std::string s;
  for (int r = n.region; r > 0; r = regions_.at(r).parent) s += "  ";
  s += fmt::format("%{}{} = ", id, with_types && !types.empty() ? ": " + types : "");
  if (n.control != Control::none) {
    s += control_text(*this, n);
  } else {
    s += n.op + "(";
    for (size_t i = 0; i < n.inputs.size(); ++i) s += (i ? ", " : "") + value_text(n.inputs[i]);
    s += ")";
  }
  if (!n.device.empty()) s += fmt::format(" device='{}'", n.device);
  for (const auto& [name, value] : n.constants) s += fmt::format(" {}={}", name, penstock::to_text(value));
  for (const auto& [name, ref] : n.per_sample) s += fmt::format(" {}={}", name, value_text(ref));
  return s;
}

std::string Graph::text() const {
  std::string s;
  for (const auto& n : nodes_) s += node_text(n.id) + (n.user_line.empty() ? "" : "  # " + n.user_line) + "\n";
  return s + return_text();
}

}  // namespace penstock
