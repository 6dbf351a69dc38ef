// SPDX-License-Identifier: Apache-2.0
// Base of Python's DataNode: which output of which node, and on which device if .cpu() or .gpu() was called.
#pragma once
#include "graph/graph.h"

namespace penstock::python {

struct NodeRef {
  int node = 0, output = 0;
  Place place = Place::made;
  ValueRef value() const { return {node, output, place}; }
};

}  // namespace penstock::python
