// SPDX-License-Identifier: Apache-2.0
// Steps of nodes that change batches: filter, expand, flatten and rebatch give other samples than they get, without a
// copy. And the step that begins a variable without a value.
#include <numeric>
#include <utility>

#include "batch/sample_lists.h"
#include "batch/view_part.h"
#include "data/hash.h"
#include "exec/steps/kinds.h"
#include "graph/arrangement.h"

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

class Unset final : public StepRunner {
 public:
  Unset(StepContext& context, size_t index) : StepRunner(context, index) { rules.runs_here = true; }
  void prepare(Iteration& it, Worker&) override { it.values[{node.id, 0}] = Batch(DType::none, 0, {}, it.size); }
};

class ChangeSamples final : public StepRunner {
 public:
  ChangeSamples(StepContext& context, size_t index)
      : StepRunner(context, index),
        deciding_(deciding_inputs(node)),
        many_(node.control == Control::expand || node.control == Control::flatten) {
    rules.runs_here = true;
  }
  void prepare(Iteration& it, Worker&) override;

 private:
  int64_t children(const Iteration& it, int i) const;  // that sample i becomes
  int64_t copies(const Iteration& it, int i) const;
  int64_t entries(const Iteration& it, int i) const;
  bool leaves_too_few(const Iteration& it, int size) const;
  size_t flattened_inputs() const { return static_cast<size_t>(constant_of(node, "flattened", 1)); }
  void add_origins(const Iteration& it, SampleSet& set, std::span<const int> child) const;
  void make_outputs(Iteration& it, const SampleSet& set, std::span<const int> child) const;

  const size_t deciding_;  // inputs that decide which samples there are; they come first
  const bool many_;        // a sample may become several
};

// Of expand.
int64_t ChangeSamples::copies(const Iteration& it, int i) const {
  if (deciding_ && !is_integer(it.values.at(step.inputs[0]).dtype()))
    bad_type("k must be an integer, got {}", name_of(it.values.at(step.inputs[0]).dtype()));
  const int64_t k = deciding_ ? scalar(it.values.at(step.inputs[0]), i, "k") : constant_of(node, "k", 1);
  if (k < 0) bad_argument("k must not be negative, got {} for sample {}", k, i);
  return k;
}

// Of flatten.
int64_t ChangeSamples::entries(const Iteration& it, int i) const {
  int64_t entries = -1;
  for (size_t k = 0; k < flattened_inputs(); ++k) {
    const Shape& shape = it.values.at(step.inputs[k]).shape(i);
    if (shape.size() == 0)
      bad_argument("a sample without dimensions has no first axis whose entries could become samples");
    if (entries >= 0 && entries != shape[0])
      bad_argument("sample {} has {} entries in the first axis of one value and {} in another", i, entries, shape[0]);
    entries = shape[0];
  }
  return entries;
}

int64_t ChangeSamples::children(const Iteration& it, int i) const {
  if (node.control == Control::expand) return copies(it, i);
  if (node.control == Control::flatten) return entries(it, i);
  return node.control == Control::rebatch || scalar(it.values.at(step.inputs[0]), i, "keep") ? 1 : 0;
}

bool ChangeSamples::leaves_too_few(const Iteration& it, int size) const {
  const int64_t least = constant_of(node, "min_batch", 1);
  if (node.control != Control::filter || !it.frames.empty() || size >= least) return false;
  bool error = false;
  for (const auto& [name, value] : node.constants)
    error |= name == "too_few" && std::get<std::string>(value) == "error";
  if (error) bad_argument("{} of {} samples remain, fewer than min_batch={}", size, it.size, least);
  return true;
}

void ChangeSamples::add_origins(const Iteration& it, SampleSet& set, std::span<const int> child) const {
  set.origin.reserve(set.from.size());
  for (size_t i = 0; i < set.from.size(); ++i) {
    set.origin.push_back(it.origin[static_cast<size_t>(set.from[i])]);
    if (many_) set.origin.back().child = mix64(set.origin.back().child + 1 + static_cast<uint64_t>(child[i]));
  }
}

void ChangeSamples::make_outputs(Iteration& it, const SampleSet& set, std::span<const int> child) const {
  const bool all = !many_ && set.size == it.size;
  for (size_t k = deciding_; k < step.inputs.size(); ++k) {
    const Batch& from = it.values.at(step.inputs[k]);
    const bool parts = node.control == Control::flatten && k < flattened_inputs();
    it.values[{node.id, static_cast<int>(k - deciding_)}] = parts ? flattened(from, set.from, child)
                                                            : all ? from
                                                                  : gathered(from, set.from);
  }
}

void ChangeSamples::prepare(Iteration& it, Worker&) {
  context_.fill_batch(it);
  for (const ValueRef& v : step.inputs)
    if (const int size = it.values.at(v).size(); size != it.size)
      fail(ErrorKind::internal, "a value of {} samples among {}", size, it.size);
  SampleSet set;
  std::vector<int> child;
  for (int i = 0; i < it.size; ++i) {
    const int64_t count = children(it, i);
    if (count > kMostSamples - static_cast<int64_t>(set.from.size()))
      bad_argument("makes more than {} samples of a batch", kMostSamples);
    for (int64_t k = 0; k < count; ++k) set.from.push_back(i), child.push_back(static_cast<int>(k));
  }
  set.size = static_cast<int>(set.from.size());
  if (leaves_too_few(it, set.size)) {
    it.skipped = true;
    return;
  }
  add_origins(it, set, child);
  make_outputs(it, set, child);
  it.sets[node.domain] = std::move(set);
}

}  // namespace

std::unique_ptr<StepRunner> make_unset(StepContext& context, size_t index) {
  return std::make_unique<Unset>(context, index);
}
std::unique_ptr<StepRunner> make_change(StepContext& context, size_t index) {
  return std::make_unique<ChangeSamples>(context, index);
}

}  // namespace penstock
