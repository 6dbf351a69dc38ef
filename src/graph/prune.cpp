// SPDX-License-Identifier: Apache-2.0
#include "graph/passes.h"

namespace penstock {

namespace {

// A user's function may have side effects: it is called, together with the branches and loops around it. Branches and
// loops that were traced without becoming part of the graph have no node.
void need_calls(Planning& p) {
  const auto& regions = p.graph.regions();
  for (const auto& n : p.graph.nodes()) {
    if (!calls_back(n)) continue;
    std::vector<int> around;
    bool reached = true;
    for (int region = n.region; region > 0 && reached; region = regions[region].parent) {
      reached = regions[region].owner >= 0;
      if (reached) around.push_back(regions[region].owner);
    }
    if (!reached) continue;
    p.needed[n.id] = 1;
    for (int owner : around) p.needed[owner] = 1;
  }
}

// Nobody reads what an operator gives that checks the inputs of another one, such as the parts of a Sample. It is
// needed where what it reads is made, and with the branches and loops around it.
void need_checks(Planning& p) {
  const auto& regions = p.graph.regions();
  for (const auto& n : p.graph.nodes()) {
    if (!info_of(n).arg("checked_for")) continue;
    bool made = true;
    for_each_read(n, [&](ValueRef v) { made &= p.needed[v.node] != 0; });
    for (int region = n.region; region > 0 && made; region = regions[region].parent)
      made = regions[region].owner >= 0 && p.needed[regions[region].owner];
    if (made) p.needed[n.id] = 1;
  }
}

// A mix reads from its readers itself, at its own rate.
[[noreturn]] void refuse_second_use(const Graph& g, int owner, const Node& reader) {
  Error e(ErrorKind::argument,
          fmt::format("'{}' ({}) is part of a mix and cannot also be read by itself: create another reader for that",
                      reader.name, reader.user_line));
  e.op = g.node(owner).op, e.user_line = g.node(owner).user_line;
  throw e;
}

}  // namespace

void prune(Planning& p) {
  const auto& nodes = p.graph.nodes();
  p.needed.assign(nodes.size(), 0);
  for (const auto& o : p.outputs) p.needed[o.node] = 1;
  need_calls(p);
  const auto owners = owners_of_readers(p.graph);
  for (size_t i = nodes.size(); i-- > 0;) {
    const auto owner = owners.find(nodes[i].id);
    if (owner == owners.end()) {
      const bool reads_data = info_of(nodes[i]).family == Family::source && !calls_back(nodes[i]);
      if (reads_data && info_of(nodes[i]).fed != Fed::batches) p.needed[i] = 1;
    } else if (p.needed[i]) {
      refuse_second_use(p.graph, owner->second, nodes[i]);
    }
    if (!p.needed[i]) continue;
    for_each_read(nodes[i], [&](ValueRef v) { p.needed[v.node] = 1; });
  }
  need_checks(p);
  find_readers(p);
}

void find_readers(Planning& p) {
  p.readers.clear();
  for (const auto& n : p.graph.nodes()) {
    if (!p.needed[n.id]) continue;
    for_each_read(n, [&](ValueRef v) { p.readers[v].push_back(n.id); });
  }
}

std::vector<char> read_outputs(const Graph& g, int node) {
  Planning p(g, {});
  prune(p);
  std::vector<char> read(static_cast<size_t>(p.graph.node(node).outputs));
  const auto mark = [&](ValueRef v) {
    if (v.node == node) read[static_cast<size_t>(v.output)] = 1;
  };
  for (const auto& o : p.outputs) mark(o);
  for (const auto& [value, readers] : p.readers) mark(value);
  return read;
}

std::string pruned_text(const Planning& p) {
  std::string s;
  for (const auto& n : p.graph.nodes())
    if (p.needed[n.id]) s += p.graph.node_text(n.id) + "\n";
  return s + p.graph.return_text();
}

}  // namespace penstock
