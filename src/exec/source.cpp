// SPDX-License-Identifier: Apache-2.0
#include "exec/source.h"

namespace penstock {

static std::map<std::string, MakeSource>& makers() {
  static auto* m = new std::map<std::string, MakeSource>;
  return *m;
}

bool register_source(const std::string& op, MakeSource make) {
  makers()[op] = make;
  return true;
}

std::unique_ptr<Source> make_source(const Graph& g, const Node& node) {
  try {
    auto it = makers().find(node.op);
    if (it == makers().end()) fail(ErrorKind::internal, "no source for {}", node.op);
    return it->second(g, node);
  } catch (Error& e) {
    if (e.op.empty()) e.op = node.op;
    e.user_line = node.user_line;
    throw;
  }
}

}  // namespace penstock
