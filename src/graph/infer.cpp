// SPDX-License-Identifier: Apache-2.0
#include "graph/passes.h"
#include "stage/program.h"

namespace penstock {

void infer(const Graph& g, Node& node) {
  const OpInfo& info = info_of(node);
  node.types.resize(node.outputs);
  // Per-sample arguments are not known yet: bind the constants, infer from the rest.
  auto args = g.arguments(node, [](ValueRef) -> const Batch* { return nullptr; });
  static const Batch later(DType::float32, 0, {}, 0);
  for (size_t i = 0; i < args.size(); ++i)
    for (const auto& [name, ref] : node.per_sample)
      if (info.args[i].name == name) args[i].batch = &later;
  std::vector<ValueType> in;
  for (const auto& v : node.inputs) in.push_back(g.type(v));
  bind_op(info, args)->infer(in, node.types);
  if (gives_size(node)) node.types[info.outputs] = kSizeType;
}

void Graph::give_sizes() {
  for (Node& n : nodes_) {
    const OpInfo& info = info_of(n);
    const bool moves = n.control == Control::none && info.random && find_op("points." + n.op);
    if (!moves || info.family != Family::stage || n.outputs != info.outputs) continue;
    ++n.outputs;
    n.types.push_back(kSizeType);
  }
}

std::string traced_text(const Graph& g) {
  std::string s;
  for (const auto& n : g.nodes()) s += g.node_text(n.id, false) + "\n";
  return s + g.return_text();
}

std::string inferred_text(const Graph& g) {
  std::string s;
  for (const auto& n : g.nodes()) s += g.node_text(n.id) + "\n";
  return s + g.return_text();
}

}  // namespace penstock
