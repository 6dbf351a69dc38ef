// SPDX-License-Identifier: Apache-2.0
// What is known of the shapes of values before data flow.
#pragma once
#include <map>
#include <optional>

#include "graph/graph.h"

namespace penstock {

// By value; -1 where an extent is not known. A value without an entry has an unknown number of dimensions.
using KnownShapes = std::map<std::pair<int, int>, Shape>;

// `shapes` has what is known of the outputs of sources.
KnownShapes known_shapes(const Graph& g, KnownShapes shapes);

}  // namespace penstock
