// SPDX-License-Identifier: Apache-2.0
#include "exec/gathered_samples.h"

#include <utility>

#include "batch/sample_lists.h"
#include "batch/transfer.h"
#include "exec/steps/gpu_copies.h"

namespace penstock {
namespace {

constexpr size_t kParallelBytes = size_t{256} << 10;  // less is copied by one thread

struct GatherState final : StepState {
  std::vector<std::pair<Batch, ValueRef>> copied;  // and where the samples come from
};

const Batch& made(const ReadySample& s, ValueRef v) { return s.of->values.at(v); }

// Samples of one type, without memory of their own.
Batch joined(const std::vector<ReadySample>& ready, ValueRef v) {
  const Batch* first = nullptr;  // with values: an `if` may set a variable for some samples only
  for (const ReadySample& s : ready)
    if (const Batch& b = made(s, v); !first || (first->dtype() == DType::none && b.dtype() != DType::none)) first = &b;
  Batch out = empty_like(*first, static_cast<int>(ready.size()));
  for (size_t i = 0; i < ready.size(); ++i) {
    const Batch& b = made(ready[i], v);
    if (b.dtype() != DType::none && (b.dtype() != out.dtype() || b.ndim() != out.ndim()))
      bad_type("the samples of a batch differ: {} with {} dimensions and {} with {}", name_of(out.dtype()), out.ndim(),
               name_of(b.dtype()), b.ndim());
    scatter(b, ready[i].index, out, static_cast<int>(i));
  }
  return out;
}

}  // namespace

bool GatheredSamples::place(Iteration& it, ValueRef v, Batch& out) const {
  const bool pinned = plan_.pinned.count(v) > 0;
  if (!every_sample_has_a_value(out) || (!pinned && !out.has_uniform_shapes())) return false;
  Batch own = of_same_shapes(out);
  context_.outputs.check(out.bytes());
  own.allocate(pinned ? context_.pinned_memory(it, false)
                      : with_token(context_.options.memory, context_.outputs.token(it)),
               pinned ? it.stream : nullptr);
  out = std::move(own);
  return true;
}

void GatheredSamples::prepare(Iteration& it) const {
  const auto& ready = it.late->ready;
  if (ready.empty()) return;
  auto state = std::make_shared<GatherState>();
  size_t bytes = 0;
  for (const ValueRef& v : plan_.crossing) {
    const auto at = it.values.find(v);
    if (at == it.values.end() || made(ready[0], v).size() == 0) continue;
    Batch out = joined(ready, v);
    if (place(it, v, out)) bytes += out.bytes(), state->copied.emplace_back(out, v);
    at->second = std::move(out);
  }
  if (state->copied.empty()) return;
  it.step_state = std::move(state);
  if (bytes >= kParallelBytes) it.items = it.size;
  else run(it, 0, it.size);
}

void GatheredSamples::run(Iteration& it, int first, int count) {
  const auto& state = static_cast<const GatherState&>(*it.step_state);
  for (const auto& [to, v] : state.copied)
    for (int i = first; i < first + count; ++i) {
      const ReadySample& s = it.late->ready[static_cast<size_t>(i)];
      copy_strided(made(s, v).view(s.index), to.view(i)), clear_gap_after(to, i);
    }
}

void GatheredSamples::finish(Iteration& it) {
  it.step_state = nullptr;
  it.late->ready.clear();
}

}  // namespace penstock
