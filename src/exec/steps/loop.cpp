// SPDX-License-Identifier: Apache-2.0
// Steps of a loop: its begin, its test, the next trip, its end.
#include <algorithm>
#include <numeric>
#include <utility>

#include "batch/memory_reuse.h"
#include "batch/sample_lists.h"
#include "exec/steps/frames.h"
#include "exec/steps/kinds.h"

namespace penstock {
namespace {

Batch same_numbers(uint64_t value, DType dtype, int size, const std::shared_ptr<MemoryResource>& memory) {
  Batch b = Batch::uniform(dtype, Shape{}, {}, size, memory);
  for (int i = 0; i < size; ++i) {
    if (dtype == DType::int32) *static_cast<int32_t*>(b.sample(i).data) = static_cast<int32_t>(value);
    else *static_cast<int64_t*>(b.sample(i).data) = static_cast<int64_t>(value);
  }
  return b;
}

class LoopStep : public StepRunner {
 public:
  LoopStep(StepContext& context, size_t index) : StepRunner(context, index), begin_(begin_of(context.plan, node.id)) {
    rules.runs_here = true;
  }

 protected:
  // Of samples that have another one; none: jumps to the end.
  void begin_trip(Iteration& it) const;
  // `stay`: of the samples in the loop, those that go on; what the others have is their result.
  void stay_in_loop(Iteration& it, const std::vector<int>& stay) const;

 private:
  static const Step& begin_of(const Plan& plan, int node) {
    return *std::find_if(plan.steps.begin(), plan.steps.end(),
                         [&](const Step& s) { return s.flow == Step::Flow::begin_loop && s.nodes[0] == node; });
  }
  bool counts_down(Iteration& it) const;  // false: no sample has another trip
  void check_trips(const Iteration& it) const;
  void keep_results(Iteration& it, size_t argument, const std::vector<int>& stay) const;

  const Step& begin_;
};

bool LoopStep::counts_down(Iteration& it) const {
  const Frame& f = it.frames.back();
  std::vector<int> stay;
  for (int i = 0; i < it.size; ++i)
    if (f.counts[f.inside[i]] > static_cast<int64_t>(f.trip)) stay.push_back(i);
  stay_in_loop(it, stay);
  return !stay.empty();
}

void LoopStep::check_trips(const Iteration& it) const {
  const Frame& f = it.frames.back();
  if (f.trip < static_cast<uint64_t>(node.most_trips)) return;
  const SampleOrigin& o = it.origin[0];
  Error e(ErrorKind::argument,
          fmt::format("the loop has made {} trips and has not ended, for sample {} of the batch (position {} of "
                      "epoch {}); Pipeline(max_trips=...) allows more",
                      node.most_trips, f.inside[0], o.position, o.epoch));
  e.source = o.path;
  throw e;
}

void LoopStep::begin_trip(Iteration& it) const {
  find_trips_key(it, context_.plan.graph);
  if (node.counted && !counts_down(it)) {
    it.jump = step.target;
    return;
  }
  check_trips(it);
  if (node.trips < 0) return;
  const DType type = context_.plan.graph.node(node.trips).types[0].dtype;
  it.values.at({node.trips, 0}) = same_numbers(it.frames.back().trip, type, it.size, context_.options.memory);
}

// Of those that leave.
void LoopStep::keep_results(Iteration& it, size_t argument, const std::vector<int>& stay) const {
  Frame& f = it.frames.back();
  Batch& value = it.values.at({node.arguments[argument], 0});
  Batch& kept = f.kept[argument];
  if (stay.empty() && f.all) {
    kept = std::move(value);
    return;
  }
  if (begin_.parts && value.ndim() > 0) part_samples(value);
  if (kept.size() == 0 || kept.dtype() == DType::none) kept = empty_like(value, f.size);
  else if (value.dtype() != DType::none)
    check_alike(node, argument, kept, "after an earlier trip", value, "after a later one");
  size_t next = 0;  // of stay, which is in order
  for (int i = 0; i < it.size; ++i) {
    if (next < stay.size() && stay[next] == i) ++next;
    else scatter(value, i, kept, f.inside[static_cast<size_t>(i)]);
  }
  value = gathered(value, stay);
}

void LoopStep::stay_in_loop(Iteration& it, const std::vector<int>& stay) const {
  if (static_cast<int>(stay.size()) == it.size) return;
  for (size_t k = 0; k < node.arguments.size(); ++k) keep_results(it, k, stay);
  if (stay.empty()) return;
  if (node.trips >= 0)
    if (Batch& trips = it.values.at({node.trips, 0}); trips.size() == it.size) trips = gathered(trips, stay);
  std::vector<int> inside;
  for (int i : stay) inside.push_back(it.frames.back().inside[static_cast<size_t>(i)]);
  enter_body(context_.plan, it, begin_, std::move(inside));
}

class BeginLoop final : public LoopStep {
 public:
  using LoopStep::LoopStep;
  void prepare(Iteration& it, Worker&) override {
    Frame f;
    f.node = node.id;
    f.domain = it.domain;
    f.size = it.size;
    f.inside.resize(static_cast<size_t>(it.size));
    std::iota(f.inside.begin(), f.inside.end(), 0);
    f.kept.resize(node.arguments.size());
    if (node.counted) {
      const Batch& count = it.values.at(node.inputs[0]);
      f.counts.reserve(f.inside.size());
      for (int i = 0; i < it.size; ++i) f.counts.push_back(scalar(count, i, "the number of a loop's trips"));
    }
    for (size_t k = 0; k < node.arguments.size(); ++k) {
      const ValueRef v = node.inputs[k + node.counted];
      const bool given = std::find(step.given.begin(), step.given.end(), v) != step.given.end();
      Batch first = given ? std::exchange(it.values.at(v), Batch()) : it.values.at(v);
      use_layout(first, node.types[k]);
      it.values.at({node.arguments[k], 0}) = std::move(first);
    }
    it.frames.push_back(std::move(f));
    begin_trip(it);
  }
};

class TestLoop final : public LoopStep {
 public:
  using LoopStep::LoopStep;
  void prepare(Iteration& it, Worker&) override {
    const Batch& test = it.values.at(node.test);
    std::vector<int> stay;
    for (int i = 0; i < it.size; ++i)
      if (scalar(test, i, "a condition")) stay.push_back(i);
    const int before = it.size;
    stay_in_loop(it, stay);
    if (stay.empty()) it.jump = step.target;
    else if (it.size != before)
      for (const ValueRef& v : step.captured) narrow(it, v, before, stay);
  }

 private:
  static void narrow(Iteration& it, ValueRef v, int before, const std::vector<int>& stay) {
    Batch& b = it.values.at(v);
    if (b.size() != before)
      fail(ErrorKind::internal, "%{}.{} (place {}) has {} samples of {} after a loop's test", v.node, v.output,
           static_cast<int>(v.place), b.size(), before);
    b = gathered(b, stay);
  }
};

class RepeatLoop final : public LoopStep {
 public:
  using LoopStep::LoopStep;
  void prepare(Iteration& it, Worker&) override {
    std::vector<Batch> next;
    for (const ValueRef& v : node.results) next.push_back(it.values.at(v));
    for (size_t k = 0; k < next.size(); ++k) {
      use_layout(next[k], node.types[k]);
      it.values.at({node.arguments[k], 0}) = std::move(next[k]);
    }
    ++it.frames.back().trip;
    it.jump = step.repeat;
    begin_trip(it);
  }
};

class EndLoop final : public StepRunner {
 public:
  EndLoop(StepContext& context, size_t index) : StepRunner(context, index) { rules.runs_here = true; }
  void prepare(Iteration& it, Worker&) override {
    Frame& f = it.frames.back();
    leave_body(it);
    for (size_t k = 0; k < f.kept.size() && f.size == 0; ++k) f.kept[k] = empty_of(node.types[k]);
    for (size_t k = 0; k < f.kept.size(); ++k) it.values.at({node.id, static_cast<int>(k)}) = std::move(f.kept[k]);
    for (int argument : node.arguments) it.values.at({argument, 0}) = Batch();
    if (node.trips >= 0) it.values.at({node.trips, 0}) = Batch();
    it.frames.pop_back();
    find_trips_key(it, context_.plan.graph);
  }
};

}  // namespace

std::unique_ptr<StepRunner> make_begin_loop(StepContext& context, size_t index) {
  return std::make_unique<BeginLoop>(context, index);
}
std::unique_ptr<StepRunner> make_test_loop(StepContext& context, size_t index) {
  return std::make_unique<TestLoop>(context, index);
}
std::unique_ptr<StepRunner> make_repeat_loop(StepContext& context, size_t index) {
  return std::make_unique<RepeatLoop>(context, index);
}
std::unique_ptr<StepRunner> make_end_loop(StepContext& context, size_t index) {
  return std::make_unique<EndLoop>(context, index);
}

}  // namespace penstock
