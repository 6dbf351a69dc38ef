// SPDX-License-Identifier: Apache-2.0
#include "exec/drop_samples.h"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

// gone: places, in order.
template <class T> void remove_at(std::vector<T>& list, const std::vector<int>& gone) {
  for (size_t k = gone.size(); k-- > 0;) list.erase(list.begin() + gone[k]);
}

void remove_at(Batch& b, const std::vector<int>& gone) {
  Batch kept(b.dtype(), b.ndim(), b.layout(), b.size() - static_cast<int>(gone.size()));
  kept.block = b.block;
  kept.stream = b.stream, kept.ready = b.ready;
  kept.set_device(b.device());
  int to = 0;
  for (int i = 0; i < b.size(); ++i)
    if (!std::binary_search(gone.begin(), gone.end(), i)) kept.sample(to++) = b.sample(i);
  b = std::move(kept);
}

// In a batch of so many samples.
void remove_at(SourceBatch& b, size_t size, const std::vector<int>& gone) {
  if (b.indices.size() == size) remove_at(b.indices, gone);
  for (Batch& output : b.outputs)
    if (static_cast<size_t>(output.size()) == size) remove_at(output, gone);
  for (SourceBatch& part : b.parts) remove_at(part, size, gone);
}

// What is left of a list of places when those in `gone` are no more.
void renumber(std::vector<int>& places, const std::vector<int>& gone) {
  std::erase_if(places, [&](int p) { return std::binary_search(gone.begin(), gone.end(), p); });
  for (int& p : places) p -= static_cast<int>(std::lower_bound(gone.begin(), gone.end(), p) - gone.begin());
}

}  // namespace

// Those that were made of samples of a domain, in the body that `depth` nodes of control flow lie around.
static void drop_children(const Plan& plan, Iteration& it, int domain, size_t depth, const std::vector<int>& gone) {
  const auto& regions = plan.graph.regions();
  const int here = plan.region_of(plan.steps[it.step]);
  for (auto& [id, set] : it.sets) {
    const Domain& d = plan.graph.domains()[static_cast<size_t>(id)];
    if (id == domain || d.parent != domain || !plan.graph.within(here, d.region)) continue;
    size_t around = 0;
    for (int r = d.region, last = -1; r > 0; r = regions[static_cast<size_t>(r)].parent)
      if (const int owner = regions[static_cast<size_t>(r)].owner; owner != last) last = owner, ++around;
    if (around != depth) continue;
    std::vector<int> children;
    for (size_t i = 0; i < set.from.size(); ++i)
      if (std::binary_search(gone.begin(), gone.end(), set.from[i])) children.push_back(static_cast<int>(i));
    for (auto& [ref, b] : it.values)
      if (!children.empty() && b.size() == set.size && plan.graph.domain_of(ref) == id) remove_at(b, children);
    remove_at(set.origin, children);
    renumber(set.from, gone);
    set.size -= static_cast<int>(children.size());
    drop_children(plan, it, id, depth, children);
  }
}

void drop_samples(const Plan& plan, Iteration& it, std::vector<int> gone) {
  const auto drop_values = [&](int domain, int size, const std::vector<int>& places) {
    for (auto& [ref, b] : it.values)
      if (b.size() == size && plan.graph.domain_of(ref) == domain) remove_at(b, places);
  };
  const auto read = static_cast<size_t>(it.frames.empty() ? it.size : it.frames.front().size);
  drop_values(it.domain, it.size, gone);
  remove_at(it.origin, gone);
  it.size -= static_cast<int>(gone.size());
  size_t k = it.frames.size();
  for (; k > 0 && it.frames[k - 1].domain == it.domain; --k) {
    Frame& f = it.frames[k - 1];
    drop_children(plan, it, it.domain, k, gone);  // that this body has made
    std::vector<int> outside;
    for (int i : gone) outside.push_back(f.inside[static_cast<size_t>(i)]);
    if (!f.all) {
      drop_values(it.domain, f.size, outside);  // those that the body does not read
      remove_at(f.origin, outside);
      for (auto& [ref, b] : f.outside) remove_at(b, outside);
    }
    for (Batch& b : f.kept)  // of a loop; a branch keeps those of the other side
      if (plan.graph.node(f.node).control == Control::loop && b.size() == f.size) remove_at(b, outside);
    if (!f.counts.empty()) remove_at(f.counts, outside);
    renumber(f.inside, outside);
    renumber(f.others, outside);
    f.size -= static_cast<int>(outside.size());
    gone = std::move(outside);
  }
  if (it.domain == 0)
    for (auto& [node, batch] : it.sources) remove_at(batch, read, gone);
  if (const auto set = it.sets.find(it.domain); set != it.sets.end() && !set->second.from.empty())
    remove_at(set->second.from, gone);
  drop_children(plan, it, it.domain, k, gone);
}

}  // namespace penstock
