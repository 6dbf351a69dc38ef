// SPDX-License-Identifier: Apache-2.0
// Which operator of several that ran in one pass an error is about.
#pragma once
#include <utility>
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

// The error that operators that ran one after the other would have raised, among those of samples in one pass, in the
// order of the samples: of the first operator that fails, the first sample. A decoder with a window decodes first.
// Null: no error ends the batch.
template <class Errors, class Ends, class NodeOf>
auto* first_to_raise(Errors& errors, const Ends& ends, const NodeOf& node_of) {
  const auto place = [&](const Error& e) { return std::pair(node_of(e), e.kind() == ErrorKind::argument); };
  decltype(&*errors.begin()) first = nullptr;
  for (auto& bad : errors)
    if (ends(bad.error) && (!first || place(bad.error) < place(first->error))) first = &bad;
  return first;
}

}  // namespace penstock
