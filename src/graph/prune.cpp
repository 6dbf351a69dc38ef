// SPDX-License-Identifier: Apache-2.0
#include "graph/passes.h"

namespace penstock {

void prune(Planning& p) {
  const auto& nodes = p.graph.nodes();
  p.needed.assign(nodes.size(), 0);
  for (const auto& o : p.outputs) p.needed[o.node] = 1;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (get_op(nodes[i].op).family == Family::source) p.needed[i] = 1;
    if (!p.needed[i]) continue;
    for (const auto& in : nodes[i].inputs) p.needed[in.node] = 1;
    for (const auto& [name, in] : nodes[i].per_sample) p.needed[in.node] = 1;
  }
  find_readers(p);
}

void find_readers(Planning& p) {
  p.readers.clear();
  for (const auto& n : p.graph.nodes()) {
    if (!p.needed[n.id]) continue;
    for (const auto& in : n.inputs) p.readers[in].push_back(n.id);
    for (const auto& [name, in] : n.per_sample) p.readers[in].push_back(n.id);
  }
}

std::string pruned_text(const Planning& p) {
  std::string s;
  for (const auto& n : p.graph.nodes())
    if (p.needed[n.id]) s += p.graph.node_text(n.id) + "\n";
  return s + p.graph.return_text();
}

}  // namespace penstock
