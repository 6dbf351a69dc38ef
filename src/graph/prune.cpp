// SPDX-License-Identifier: Apache-2.0
#include "graph/passes.h"

namespace penstock {

void prune(Planning& p) {
  const auto& nodes = p.graph.nodes();
  p.needed.assign(nodes.size(), 0);
  for (const auto& o : p.outputs) p.needed[o.node] = 1;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (info_of(nodes[i]).family == Family::source) p.needed[i] = 1;
    if (!p.needed[i]) continue;
    for_each_read(nodes[i], [&](ValueRef v) { p.needed[v.node] = 1; });
  }
  find_readers(p);
}

void find_readers(Planning& p) {
  p.readers.clear();
  for (const auto& n : p.graph.nodes()) {
    if (!p.needed[n.id]) continue;
    for_each_read(n, [&](ValueRef v) { p.readers[v].push_back(n.id); });
  }
}

std::string pruned_text(const Planning& p) {
  std::string s;
  for (const auto& n : p.graph.nodes())
    if (p.needed[n.id]) s += p.graph.node_text(n.id) + "\n";
  return s + p.graph.return_text();
}

}  // namespace penstock
