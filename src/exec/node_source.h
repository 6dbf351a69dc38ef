// SPDX-License-Identifier: Apache-2.0
// The source that a node of a graph stands for.
#pragma once
#include "graph/graph.h"
#include "readers/source.h"

namespace penstock {

// Errors have the node's operator and line. batch_size: the most samples of a batch.
std::unique_ptr<Source> source_of(const Graph& g, const Node& node, int batch_size);

}  // namespace penstock
