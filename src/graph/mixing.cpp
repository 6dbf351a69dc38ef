// SPDX-License-Identifier: Apache-2.0
// A node that mixes readers: which ones, and whether their outputs match.
#include <algorithm>

#include "base/widening.h"
#include "graph/graph.h"

namespace penstock {
namespace {

std::string called(const Graph& g, int node) {
  const Node& n = g.node(node);
  return n.user_line.empty() ? fmt::format("'{}'", n.name) : fmt::format("'{}' ({})", n.name, n.user_line);
}

// One type for both; of two signed integers, the wider: labels of folders are int32, those of records int64. False if
// the types are incompatible.
bool join(ValueType& a, const ValueType& b) {
  if (a.dtype == DType::none || widens_to(a.dtype, b.dtype)) a.dtype = b.dtype;
  else if (b.dtype != DType::none && b.dtype != a.dtype && !widens_to(b.dtype, a.dtype)) return false;
  if (a.ndim < 0) a.ndim = b.ndim;
  else if (b.ndim >= 0 && b.ndim != a.ndim) return false;
  if (a.layout.empty()) a.layout = b.layout;
  else if (!b.layout.empty() && !(b.layout == a.layout)) return false;
  return true;
}

}  // namespace

std::vector<MixedReader> mixed_readers(const Graph& g, const Node& n) {
  const auto each = static_cast<size_t>(std::max<int64_t>(1, constant_of(n, "num_outputs", 1)));
  std::vector<MixedReader> readers;
  for (const ValueRef& v : n.inputs) {
    const Node& from = g.node(v.node);
    if (from.control != Control::none || info_of(from).family != Family::source || calls_back(from))
      bad_argument(
          "takes outputs of readers, but {} is an output of {}: mix the readers, and apply that operator to the result",
          called(g, v.node), from.op);
    if (readers.empty() || readers.back().outputs.size() == each) {
      if (std::any_of(readers.begin(), readers.end(), [&](const MixedReader& r) { return r.node == v.node; }))
        bad_argument("{} is in the list twice: give it a larger weight instead", called(g, v.node));
      readers.push_back({v.node, {}});
    } else if (readers.back().node != v.node) {
      bad_argument("{} contributes {} values of {}, and the next one belongs to {}", called(g, readers.back().node),
                   readers.back().outputs.size(), each, called(g, v.node));
    }
    readers.back().outputs.push_back(v.output);
  }
  if (readers.empty() || readers.back().outputs.size() != each)
    bad_argument("{} inputs are not a whole number of readers with {} values each", n.inputs.size(), each);
  return readers;
}

std::vector<ValueType> mixed_types(const Graph& g, const Node& n) {
  const std::vector<MixedReader> readers = mixed_readers(g, n);
  std::vector<ValueType> types;
  for (size_t k = 0; k < readers.front().outputs.size(); ++k) {
    ValueType type;
    type.ndim = -1;
    int from = readers.front().node;
    ValueType known = type;
    for (const MixedReader& r : readers) {
      const ValueType& own = g.type({r.node, r.outputs[k]});
      if (!join(type, own))
        bad_type("value {} is {} of {} and {} of {}: mixed values must have one type, or be signed integers", k,
                 to_text(known), called(g, from), to_text(own), called(g, r.node));
      if (own.dtype != DType::none) known = own, from = r.node;
    }
    types.push_back(type);
  }
  if (n.outputs > static_cast<int>(types.size())) types.push_back({DType::int32, 1, {}});
  return types;
}

std::map<int, int> owners_of_readers(const Graph& g) {
  std::map<int, int> owners;
  for (const Node& n : g.nodes())
    if (n.control == Control::none && mixes(n))
      for (const ValueRef& v : n.inputs) {
        const auto [at, first] = owners.emplace(v.node, n.id);
        if (first || at->second == n.id) continue;
        Error e(ErrorKind::argument,
                fmt::format("{} is already mixed by {}", called(g, v.node), called(g, at->second)));
        e.op = n.op, e.user_line = n.user_line;
        throw e;
      }
  return owners;
}

}  // namespace penstock
