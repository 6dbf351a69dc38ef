// SPDX-License-Identifier: Apache-2.0
#include "exec/error_policy.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/error_of.h"
#include "exec/drop_samples.h"
#include "exec/steps/frames.h"
#include "graph/at_fault.h"

namespace penstock {

namespace {

LeftOut left_out_of(const SampleOrigin& o, const Error& error) {
  return {o.epoch, static_cast<int64_t>(o.position), error.source, error.what(), o.number};
}

// Those that are not of data, out of `errors`.
std::vector<SampleError> take_others(std::vector<SampleError>& errors) {
  const auto others = std::stable_partition(errors.begin(), errors.end(), [](auto& e) { return is_of_data(e.error); });
  std::vector<SampleError> taken{std::make_move_iterator(others), std::make_move_iterator(errors.end())};
  errors.erase(others, errors.end());
  return taken;
}

// One that ends the batch. all: also those of data do.
void raise_first(const StepRunner& step, std::span<const SampleError> errors, bool all) {
  const auto ends = [&](const Error& e) { return all || !is_of_data(e); };
  const auto node_of = [&](const Error& e) { return step.blamed(e).id; };
  if (const auto* bad = first_to_raise(errors, ends, node_of)) throw bad->error;
}

// What the sample reads is gone, or a part of the batch is in a body.
bool begins_again(const Iteration& it, const StepRunner& step) {
  return !it.frames.empty() || it.domain != 0 || step.rules.repeats_iteration;
}

}  // namespace

ErrorPolicy::ErrorPolicy(StepContext& context, std::span<const std::unique_ptr<StepRunner>> steps) : context_(context) {
  const auto computes = [](const auto& step) { return step->rules.computes; };
  first_computed_ = static_cast<size_t>(std::find_if(steps.begin(), steps.end(), computes) - steps.begin());
}

void ErrorPolicy::settle(Iteration& it, StepRunner& step, const RunSample& run) {
  try {
    step.begin_settling(it);
    settle_or_throw(it, step, run);
  } catch (Error& e) {
    fail_iteration(it, e, nullptr);
  }
}

void ErrorPolicy::settle_or_throw(Iteration& it, StepRunner& step, const RunSample& run) {
  const OnError policy = context_.options.on_error;
  auto errors = std::move(it.errors);
  it.errors.clear();
  std::stable_sort(errors.begin(), errors.end(), [](const auto& a, const auto& b) { return a.sample < b.sample; });
  const bool all = policy == OnError::raise || context_.sources.primary() < 0;
  // Other errors wait until the bad files are replaced: the samples that stand in may come before theirs.
  std::vector<SampleError> last;
  if (policy == OnError::replace && !all && !begins_again(it, step)) last = take_others(errors);
  raise_first(step, errors, all);
  if (errors.empty()) return raise_first(step, last, true);
  if (policy == OnError::replace && it.late && it.late->kind == LatePart::Kind::batch) throw errors.front().error;
  if (policy == OnError::replace) return replace(it, step, errors, last, run);
  std::vector<int> gone;
  for (auto& bad : errors) {
    it.left_out.push_back(left_out_of(it.origin[bad.sample], bad.error));
    gone.push_back(bad.sample);
  }
  step.drop(it, gone);
  drop_samples(context_.plan, it, gone);
}

void ErrorPolicy::bring_back_given(Iteration& it) const {
  for (const auto& [ref, b] : it.given)
    if (Batch& value = it.values.at(ref); ref.node == context_.sources.primary() && value.size() == 0) value = b;
}

// Whether steps before this one have used the sample that is no more.
bool ErrorPolicy::computed_before(const Iteration& it, const StepRunner& step) const {
  return !step.rules.brings_samples && first_computed_ < it.step;
}

// Out of all bodies, to the samples that the sources gave.
void ErrorPolicy::unwind(Iteration& it) const {
  while (!it.frames.empty() || it.domain != 0) {
    if (it.frames.empty() || it.frames.back().domain != it.domain) {
      use_domain(it, context_.plan.graph.domains()[static_cast<size_t>(it.domain)].parent);
      continue;
    }
    if (Frame& f = it.frames.back(); !f.all) it.size = f.size, it.origin = std::move(f.origin);
    it.frames.pop_back();
  }
  it.trips_key = 0;
  it.sets.clear();
  it.skipped = false;
  for (const auto& [ref, b] : it.given)
    if (ref.node == context_.sources.primary()) it.values.at(ref) = b;
}

// The iteration goes through all steps once more, with what its sources gave and with the samples that were put in.
void ErrorPolicy::begin_again(Iteration& it) const {
  for (auto& [ref, b] : it.given)
    if (ref.node == context_.sources.primary()) b = it.values.at(ref);
  for (auto& [ref, b] : it.values) {
    const auto given = it.given.find(ref);
    b = given == it.given.end() ? Batch() : given->second;
  }
  it.step_state = nullptr;
  it.log = nullptr;
  it.jump = 0;
}

bool ErrorPolicy::loads_again(Iteration& it, int sample) {
  const int primary = context_.sources.primary();
  const auto error = error_of([&] { context_.sources.load(it, primary, sample); });
  if (error && !is_of_data(*error)) throw *error;
  return !error;
}

// Samples that cannot be read themselves are passed over.
void ErrorPolicy::find_replacement(Iteration& it, StepRunner& step, int sample, const Error& error,
                                   const RunSample& run) {
  constexpr uint32_t kMostAttempts = 64;
  const bool loads = !step.rules.brings_samples && context_.sources.loads_samples(context_.sources.primary());
  for (uint32_t& attempt = it.attempts[sample];; ++attempt) {
    if (!step.rules.replaceable || attempt == kMostAttempts || !context_.sources.find_other(it, sample, attempt))
      throw error;
    if (loads && !loads_again(it, sample)) continue;
    if (!run) break;
    run(sample);
    if (std::ranges::all_of(it.errors, [](const SampleError& e) { return !is_of_data(e.error); })) break;
    it.errors.clear();
  }
  ++it.attempts[sample];
}

// Where steps have used a sample that is no more, or decided for it, the iteration begins again with the other one.
// `last`: errors that end the batch after that.
void ErrorPolicy::replace(Iteration& it, StepRunner& step, std::vector<SampleError>& errors,
                          std::vector<SampleError>& last, const RunSample& run) {
  const bool parted = !it.frames.empty() || it.domain != 0;
  const bool again = begins_again(it, step);
  std::set<int> done;  // children of one sample may be bad together
  std::vector<int> given;
  for (const auto& bad : errors) given.push_back(given_sample(context_.plan, it, bad.sample));
  if (parted) unwind(it);
  for (size_t k = 0; k < errors.size(); ++k) {
    const int i = given[k];
    if (!done.insert(i).second) continue;
    const SampleOrigin& o = it.origin[static_cast<size_t>(i)];
    const uint64_t position = o.position;
    if (!it.attempts.count(i)) it.left_out.push_back(left_out_of(o, errors[k].error));
    bring_back_given(it);
    find_replacement(it, step, i, errors[k].error, again ? RunSample() : run);
    it.origin[static_cast<size_t>(i)].position = position;  // random numbers stay those of the position
    last.insert(last.end(), it.errors.begin(), it.errors.end());
    it.errors.clear();
  }
  std::ranges::stable_sort(last, {}, &SampleError::sample);
  raise_first(step, last, true);
  if (again || computed_before(it, step)) begin_again(it);
}

}  // namespace penstock
