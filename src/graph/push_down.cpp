// SPDX-License-Identifier: Apache-2.0
#include "graph/stage_growth.h"

namespace penstock {

void push_down(Planning& p) {
  p.decoder.assign(p.graph.nodes().size(), -1);
  if (!p.options.fuse || !p.options.push_down) return;
  for (const auto& n : p.graph.nodes()) {
    if (!p.needed[n.id] || info_of(n).family != Family::stage) continue;
    const StageTraits traits = stage_traits(p.graph, n);
    if (!traits.decodes || p.runs_on_gpu(n.id)) continue;
    StageGrowth growth(p, n, traits);
    ValueRef end{n.id, 0};
    // A window passes through what is between it and the decoder; `growth` knows what allows that.
    for (auto next = p.readers.find(end); next != p.readers.end(); next = p.readers.find(end)) {
      const Node& follower = p.graph.node(next->second[0]);
      if (info_of(follower).family != Family::stage || follower.inputs.at(0) != end) break;
      const StageTraits t = stage_traits(p.graph, follower);
      if (!growth.may_take(p, follower, t, true)) break;
      growth.take(p, follower, t);
      if (t.maps) p.decoder[follower.id] = n.id;
      end = {follower.id, 0};
    }
  }
}

std::string pushed_down_text(const Planning& p) {
  std::string s;
  for (const auto& n : p.graph.nodes()) {
    if (!p.needed[n.id]) continue;
    s += p.graph.node_text(n.id);
    if (p.decoder[n.id] >= 0) s += fmt::format("  -> %{}", p.decoder[n.id]);
    s += "\n";
  }
  return s + p.graph.return_text();
}

}  // namespace penstock
