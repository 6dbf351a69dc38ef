// SPDX-License-Identifier: Apache-2.0
// Branches and loops: a function that has them computes one sample after the other, so that a branch has one side and a
// loop is a loop.
#include <algorithm>
#include <utility>

#include "batch/sample_lists.h"
#include "data/hash.h"
#include "function/function_run.h"

namespace penstock {
namespace {

// The layout that the graph promises.
void use_layout(Batch& b, const ValueType& t) {
  if (t.ndim == b.ndim() && t.layout.size() == t.ndim) b.set_layout(t.layout);
}

Batch number(uint64_t value, DType dtype) {
  Batch b = Batch::uniform(dtype, Shape{}, {}, 1);
  if (dtype == DType::int32) *static_cast<int32_t*>(b.sample(0).data) = static_cast<int32_t>(value);
  else *static_cast<int64_t*>(b.sample(0).data) = static_cast<int64_t>(value);
  return b;
}

}  // namespace

void FunctionRun::run_each() {
  frame_.given.resize(call_.inputs.size());
  for (size_t k = 0; k < call_.inputs.size(); ++k)
    if (const int slot = f_.compiled_.inputs[k]; slot >= 0) frame_.given[k] = std::move(value(slot));
  frame_.parts.assign(results_.size(), std::vector<Batch>(static_cast<size_t>(samples_)));
  for (int i = 0; i < samples_; ++i) run_sample(i);
  for (size_t k = 0; k < results_.size(); ++k)
    if (!into(static_cast<int>(k))) results_[k] = joined(k);
  frame_.given.clear(), frame_.parts.clear();
  leave_gpu();
}

void FunctionRun::run_sample(int sample) {
  size_ = 1;
  frame_.numbers.assign(1, sample);
  frame_.written.assign(results_.size(), 0);
  frame_.bodies.clear();
  trips_key_ = 0;
  for (size_t k = 0; k < frame_.given.size(); ++k)
    if (const int slot = f_.compiled_.inputs[k]; slot >= 0) value(slot) = gathered(frame_.given[k], frame_.numbers);
  for (size_t i = 0; i < f_.compiled_.steps.size() && !has_failed(0);) {
    if (f_.compiled_.steps[i].step->kind == Step::Kind::control) {
      i = next_step(i);
    } else {
      run_step(i++);
    }
  }
  if (!has_failed(0)) keep_parts();
}

size_t FunctionRun::next_step(size_t i) {
  const Step& s = *f_.compiled_.steps[i].step;
  const Node& n = graph().node(s.nodes[0]);
  const auto slot = [&](ValueRef v) { return f_.compiled_.slot(v); };
  switch (s.flow) {
    case Step::Flow::begin_branch: {
      const bool then = scalar(value(slot(s.inputs[0])), 0, "a condition") != 0;
      frame_.bodies.push_back({n.id, then, 0, -1});
      return then ? i + 1 : static_cast<size_t>(s.target);
    }
    case Step::Flow::begin_else: return frame_.bodies.back().then ? static_cast<size_t>(s.target) : i + 1;
    case Step::Flow::end_branch: end_branch(n); return i + 1;
    case Step::Flow::begin_loop: {
      BodyState loop{n.id, false, 0, -1};
      if (n.counted) loop.count = scalar(value(slot(n.inputs[0])), 0, "the number of a loop's trips");
      for (size_t k = 0; k < n.arguments.size(); ++k) {
        Batch first = value(slot(n.inputs[k + n.counted]));
        use_layout(first, n.types[k]);
        value(slot({n.arguments[k], 0})) = std::move(first);
      }
      frame_.bodies.push_back(loop);
      return begin_trip(i + 1, s.target);
    }
    case Step::Flow::test_loop:
      return scalar(value(slot(n.test)), 0, "a condition") ? i + 1 : static_cast<size_t>(s.target);
    case Step::Flow::repeat_loop: repeat_loop(n); return begin_trip(static_cast<size_t>(s.repeat), s.target);
    case Step::Flow::end_loop:
      for (size_t k = 0; k < n.arguments.size(); ++k)
        value(slot({n.id, static_cast<int>(k)})) = value(slot({n.arguments[k], 0}));
      frame_.bodies.pop_back();
      find_trips_key();
      return i + 1;
    case Step::Flow::unset: value(slot({n.id, 0})) = Batch(DType::none, 0, {}, 1); return i + 1;
    case Step::Flow::change: break;  // refused before
  }
  penstock::fail(ErrorKind::internal, "a step that a function does not have");
}

size_t FunctionRun::begin_trip(size_t next, int end) {
  const BodyState& loop = frame_.bodies.back();
  const Node& n = graph().node(loop.node);
  find_trips_key();
  if (n.counted && loop.count <= static_cast<int64_t>(loop.trip)) return static_cast<size_t>(end);
  if (loop.trip >= static_cast<uint64_t>(n.most_trips))
    bad_argument("the loop has made {} trips and has not ended, for sample {}; Pipeline(max_trips=...) allows more",
                 n.most_trips, frame_.numbers[0]);
  if (n.trips >= 0) {
    const ValueRef trips{n.trips, 0};
    value(f_.compiled_.slot(trips)) = number(loop.trip, graph().type(trips).dtype);
  }
  return next;
}

void FunctionRun::end_branch(const Node& n) {
  const size_t count = n.results.size() / 2;
  const bool then = frame_.bodies.back().then;
  for (size_t k = 0; k < count; ++k) {
    const ValueRef from = n.results[then ? k : count + k];
    Batch out = from.node < 0 ? Batch(DType::none, 0, {}, 1) : value(f_.compiled_.slot(from));
    use_layout(out, n.types[k]);
    value(f_.compiled_.slot({n.id, static_cast<int>(k)})) = std::move(out);
  }
  frame_.bodies.pop_back();
}

void FunctionRun::repeat_loop(const Node& n) {
  std::vector<Batch> next;
  for (const ValueRef& v : n.results) next.push_back(value(f_.compiled_.slot(v)));
  for (size_t k = 0; k < next.size(); ++k) {
    use_layout(next[k], n.types[k]);
    value(f_.compiled_.slot({n.arguments[k], 0})) = std::move(next[k]);
  }
  ++frame_.bodies.back().trip;
}

void FunctionRun::find_trips_key() {
  trips_key_ = 0;
  for (const BodyState& b : frame_.bodies)
    if (graph().node(b.node).control == Control::loop) trips_key_ = mix64(trips_key_ ^ mix64(b.trip));
}

// The results of this sample: written to where they belong, or kept until all samples have theirs.
void FunctionRun::keep_parts() {
  const auto number = static_cast<size_t>(frame_.numbers[0]);
  for (size_t k = 0; k < results_.size(); ++k) {
    Batch& from = value(f_.compiled_.outputs[k]);
    if (from.dtype() == DType::none)
      bad_argument("output {} is not set for sample {}: set it on both sides of the `if`", k, number);
    if (into(static_cast<int>(k))) {
      give_into(k);
    } else {
      const bool owned = from.block || from.sample(0).owner;
      Batch& kept = frame_.parts[k][number];
      kept = from;
      if (owned) continue;  // else it is an input
      kept.allocate(memory());
      copy_strided(from.view(0), kept.view(0));
    }
  }
}

Batch FunctionRun::joined(size_t k) {
  const Batch* first = nullptr;
  Batch out;
  for (int i = 0; i < samples_; ++i) {
    const Batch& part = frame_.parts[k][static_cast<size_t>(i)];
    if (part.size() == 0) continue;  // it has failed
    if (!first) {
      first = &part;
      out = Batch(part.dtype(), part.ndim(), part.layout(), samples_);
      out.set_device(part.device());
      for (int j = 0; j < samples_; ++j) out.sample(j).shape = Shape::filled(part.ndim(), 0);
    }
    if (part.dtype() != first->dtype() || part.ndim() != first->ndim())
      bad_type("output {} is {} with {} dimensions for one sample and {} with {} for sample {}", k,
               name_of(first->dtype()), first->ndim(), name_of(part.dtype()), part.ndim(), i);
    out.sample(i) = part.sample(0);
    if (!out.sample(i).owner) out.sample(i).owner = part.block;
  }
  if (first) return out;
  const ValueType& t = f_.outputs_[k].type;
  out = Batch(t.dtype, std::max(0, t.ndim), {}, samples_);
  for (int j = 0; j < samples_; ++j) out.sample(j).shape = Shape::filled(out.ndim(), 0);
  return out;
}

}  // namespace penstock
