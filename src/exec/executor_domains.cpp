// SPDX-License-Identifier: Apache-2.0
// Batches that change: filter, expand, flatten and rebatch give other samples than they get, without a copy. While a
// step runs, its iteration looks as if it had only the samples of the step's domain.
#include <numeric>

#include "batch/sample_lists.h"
#include "batch/view_part.h"
#include "data/hash.h"
#include "exec/executor.h"

namespace penstock {
namespace {

constexpr int64_t kMostSamples = int64_t{1} << 24;  // of one iteration

// Samples of the entries of the first axis.
Batch flattened(const Batch& from, std::span<const int> parent, std::span<const int> child) {
  const int ndim = from.ndim() - 1;
  Batch b(from.dtype(), ndim, without_first(from.layout()), static_cast<int>(parent.size()));
  b.block = from.block;
  b.stream = from.stream, b.ready = from.ready;
  b.set_device(from.device());
  for (size_t i = 0; i < parent.size(); ++i) {
    const View v = entry(from.view(parent[i]), child[i]);
    Batch::Sample& s = b.sample(static_cast<int>(i));
    s = from.sample(parent[i]);
    s.data = v.data, s.shape = v.shape;
    s.strides = without_first(s.strides);
  }
  return b;
}

}  // namespace

void Executor::use_domain(Iteration& it, int domain) {
  if (it.domain == domain) return;
  SampleSet& left = it.sets[it.domain];
  left.size = it.size;
  left.origin = std::move(it.origin);
  SampleSet& now = it.sets[domain];
  it.size = now.size;
  it.origin = std::move(now.origin);
  it.domain = domain;
}

void Executor::change_samples(Iteration& it, const Step& s) {
  const Node& n = plan.graph.node(s.nodes[0]);
  fill_batch(it);
  const size_t deciding = deciding_inputs(n);
  for (const ValueRef& v : s.inputs)
    if (const int size = it.values.at(v).size(); size != it.size)
      fail(ErrorKind::internal, "a value of {} samples among {}", size, it.size);
  const auto count_children = [&](int i) -> int64_t {
    if (n.control == Control::expand) {
      if (deciding && !is_integer(it.values.at(s.inputs[0]).dtype()))
        bad_type("k must be an integer, got {}", name_of(it.values.at(s.inputs[0]).dtype()));
      const int64_t k = deciding ? scalar(it.values.at(s.inputs[0]), i, "k") : constant_of(n, "k", 1);
      if (k < 0) bad_argument("k must not be negative, got {} for sample {}", k, i);
      return k;
    }
    int64_t entries = -1;
    for (size_t k = 0; k < static_cast<size_t>(constant_of(n, "flattened", 1)); ++k) {
      const Shape& shape = it.values.at(s.inputs[k]).shape(i);
      if (shape.size() == 0)
        bad_argument("a sample without dimensions has no first axis whose entries could become samples");
      if (entries >= 0 && entries != shape[0])
        bad_argument("sample {} has {} entries in the first axis of one value and {} in another", i, entries, shape[0]);
      entries = shape[0];
    }
    return entries;
  };
  SampleSet set;
  std::vector<int> child;
  const bool many = n.control == Control::expand || n.control == Control::flatten;
  for (int i = 0; i < it.size; ++i) {
    const int64_t count =
        many ? count_children(i) : n.control == Control::rebatch || scalar(it.values.at(s.inputs[0]), i, "keep");
    if (count > kMostSamples - static_cast<int64_t>(set.from.size()))
      bad_argument("makes more than {} samples of a batch", kMostSamples);
    for (int64_t k = 0; k < (many ? count : count != 0); ++k)
      set.from.push_back(i), child.push_back(static_cast<int>(k));
  }
  set.size = static_cast<int>(set.from.size());
  if (n.control == Control::filter && it.frames.empty() && set.size < constant_of(n, "min_batch", 1)) {
    bool error = false;
    for (const auto& [name, value] : n.constants) error |= name == "too_few" && std::get<std::string>(value) == "error";
    if (error)
      bad_argument("{} of {} samples remain, fewer than min_batch={}", set.size, it.size,
                   constant_of(n, "min_batch", 1));
    it.skipped = true;
    return;
  }
  set.origin.reserve(set.from.size());
  for (size_t i = 0; i < set.from.size(); ++i) {
    set.origin.push_back(it.origin[static_cast<size_t>(set.from[i])]);
    if (many) set.origin.back().child = mix64(set.origin.back().child + 1 + static_cast<uint64_t>(child[i]));
  }
  const bool all = !many && set.size == it.size;
  for (size_t k = deciding; k < s.inputs.size(); ++k) {
    const Batch& from = it.values.at(s.inputs[k]);
    const bool parts = n.control == Control::flatten && k < static_cast<size_t>(constant_of(n, "flattened", 1));
    it.values[{n.id, static_cast<int>(k - deciding)}] = parts ? flattened(from, set.from, child)
                                                        : all ? from
                                                              : gathered(from, set.from);
  }
  it.sets[n.domain] = std::move(set);
}

}  // namespace penstock
