// SPDX-License-Identifier: Apache-2.0
#include "exec/node_source.h"

namespace penstock {

std::unique_ptr<Source> source_of(const Graph& g, const Node& node, int batch_size) {
  try {
    const OpInfo& info = get_op(node.op);
    const auto op = bind_op(info, g.arguments(node, [](ValueRef) -> const Batch* { return nullptr; }));
    SourceArguments arguments{*op, g.seed(), node.types};
    if (mixes(node))
      for (const MixedReader& reader : mixed_readers(g, node)) {
        const Node& n = g.node(reader.node);
        arguments.mixed.push_back({reader.node, fmt::format("'{}' ({})", n.name, n.user_line), &get_op(n.op),
                                   reader.outputs, source_of(g, n, batch_size)});
      }
    auto source = make_source(info, arguments);
    source->set_batch_size(batch_size);
    return source;
  } catch (Error& e) {
    if (e.op.empty()) e.op = node.op;
    e.user_line = node.user_line;
    throw;
  }
}

}  // namespace penstock
