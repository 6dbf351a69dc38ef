// SPDX-License-Identifier: Apache-2.0
// Which operator of several that ran in one pass an error is about.
#pragma once
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace penstock {

// The last of these nodes whose operator the error names, else the last one. What is wrong with the data of a sample
// is known when it is read: by the first.
inline const Node& at_fault(const Graph& graph, const std::vector<int>& nodes, const Error& e) {
  if (e.kind() == ErrorKind::data || e.kind() == ErrorKind::file_missing) return graph.node(nodes.front());
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id)
    if (graph.node(*id).op == e.op) return graph.node(*id);
  return graph.node(nodes.back());
}

}  // namespace penstock
