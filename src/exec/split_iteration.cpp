// SPDX-License-Identifier: Apache-2.0
#include "exec/split_iteration.h"

#include <utility>

#include "batch/sample_lists.h"

namespace penstock {
namespace {

// `size`: samples of the batch. An output whose samples are not placed yet has none.
Batch some(const Batch& b, int size, std::span<const int> places) { return b.size() == size ? gathered(b, places) : b; }

SourceBatch some(const SourceBatch& from, int size, std::span<const int> places) {
  SourceBatch to;
  to.primary = from.primary, to.stream = from.stream, to.work = from.work;
  if (static_cast<int>(from.indices.size()) == size)
    for (int i : places) to.indices.push_back(from.indices[static_cast<size_t>(i)]);
  for (const Batch& b : from.outputs) to.outputs.push_back(some(b, size, places));
  for (const SourceBatch& part : from.parts) to.parts.push_back(some(part, size, places));
  return to;
}

}  // namespace

void split_iteration(const StepContext& context, const Iteration& from, std::span<const int> places, Iteration& into) {
  into.size = static_cast<int>(places.size());
  for (int i : places) into.origin.push_back(from.origin[static_cast<size_t>(i)]);
  for (const auto& [node, source] : context.sources.all()) {
    for (int k = 0; k < context.graph.node(node).outputs; ++k) {
      const ValueRef v{node, k};
      into.values.at(v) = some(from.values.at(v), from.size, places);
      if (context.options.on_error == OnError::replace && !context.sources.loads_samples(node))
        into.given[v] = into.values.at(v);
    }
    if (const auto at = from.sources.find(node); at != from.sources.end())
      into.sources.emplace(node, some(at->second, from.size, places));
  }
}

}  // namespace penstock
