// SPDX-License-Identifier: Apache-2.0
// Branches and loops: which samples a body runs on. A split is an index list; samples share their memory with the batch
// that they come from. Inside of a body an iteration looks as if it had no other samples.
#include <algorithm>
#include <numeric>
#include <utility>

#include "batch/memory_reuse.h"
#include "batch/sample_lists.h"
#include "data/hash.h"
#include "exec/executor.h"

namespace penstock {

namespace {

// Of a type that is known before data flow, as far as it is.
Batch empty_of(const ValueType& t) {
  const int ndim = std::max(0, t.ndim);
  return Batch(t.dtype, ndim, t.layout.size() == ndim ? t.layout : Layout{}, 0);
}

std::string shown(const Batch& b) {
  return fmt::format("{} with {} dimension{}", name_of(b.dtype()), b.ndim(), b.ndim() == 1 ? "" : "s");
}

void check_alike(const Node& n, size_t k, const Batch& a, const char* where_a, const Batch& b, const char* where_b) {
  if (a.dtype() != b.dtype() || a.ndim() != b.ndim())
    bad_type("{} is {} {} and {} {}; both must have one type and number of dimensions", variable_of(n, k), shown(a),
             where_a, shown(b), where_b);
}

// The layout that the graph promises.
void use_layout(Batch& b, const ValueType& t) {
  if (t.ndim == b.ndim() && t.layout.size() == t.ndim && !(t.layout == b.layout())) b.set_layout(t.layout);
}

void find_trips_key(Iteration& it, const Graph& g) {
  it.trips_key = 0;
  for (const Frame& f : it.frames)
    if (g.node(f.node).control == Control::loop) it.trips_key = mix64(it.trips_key ^ mix64(f.trip));
}

Batch numbers(uint64_t value, DType dtype, int size, const std::shared_ptr<MemoryResource>& memory) {
  Batch b = Batch::uniform(dtype, Shape{}, {}, size, memory);
  for (int i = 0; i < size; ++i) {
    if (dtype == DType::int32) *static_cast<int32_t*>(b.sample(i).data) = static_cast<int32_t>(value);
    else *static_cast<int64_t*>(b.sample(i).data) = static_cast<int64_t>(value);
  }
  return b;
}

}  // namespace

void Executor::prepare_control(Iteration& it, const Step& s) {
  switch (s.flow) {
    case Step::Flow::begin_branch: begin_branch(it, s); break;
    case Step::Flow::begin_else: begin_else(it, s); break;
    case Step::Flow::end_branch: end_branch(it, s); break;
    case Step::Flow::begin_loop: begin_loop(it, s); break;
    case Step::Flow::test_loop: test_loop(it, s); break;
    case Step::Flow::repeat_loop: repeat_loop(it, s); break;
    case Step::Flow::end_loop: end_loop(it); break;
    case Step::Flow::unset: it.values[{s.nodes[0], 0}] = Batch(DType::none, 0, {}, it.size); break;
    case Step::Flow::change: change_samples(it, s); break;
  }
}

// The body sees only the chosen samples, of which there are some.
void Executor::enter(Iteration& it, const Step& s, std::vector<int> chosen) {
  Frame& f = it.frames.back();
  const bool all = static_cast<int>(chosen.size()) == f.size;
  f.inside = std::move(chosen);
  if (all) return;
  if (f.all) f.origin = std::move(it.origin);
  f.all = false;
  it.size = static_cast<int>(f.inside.size());
  const bool branch = plan.graph.node(f.node).control == Control::branch;
  it.origin.clear();
  it.origin.reserve(f.inside.size());
  for (int i : f.inside) it.origin.push_back(f.origin[i]);
  for (const ValueRef& v : s.captured) {
    const auto [kept, is_new] = f.outside.try_emplace(v);
    Batch& b = it.values.at(v);
    if (is_new) kept->second = std::move(b);
    if (kept->second.size() != f.size)
      fail(ErrorKind::internal, "%{}.{} (place {}) has {} samples of {} before a body", v.node, v.output,
           static_cast<int>(v.place), kept->second.size(), f.size);
    const bool given = branch && std::find(s.given.begin(), s.given.end(), v) != s.given.end();
    if (given) part_samples(kept->second);
    b = gathered(kept->second, f.inside);
    if (given)  // nobody reads those behind the branch
      for (int i : f.inside) kept->second.sample(i) = {};
  }
}

void Executor::leave(Iteration& it) {
  Frame& f = it.frames.back();
  if (f.all) return;
  it.size = f.size;
  it.origin = std::move(f.origin);
  for (auto& [v, b] : f.outside) it.values.at(v) = std::move(b);
}

void Executor::begin_branch(Iteration& it, const Step& s) {
  const Batch& condition = it.values.at(s.inputs[0]);
  if (condition.size() != it.size)
    fail(ErrorKind::internal, "a condition with {} values for {} samples", condition.size(), it.size);
  Frame f;
  f.node = s.nodes[0];
  f.domain = it.domain;
  f.size = it.size;
  std::vector<int> chosen;
  for (int i = 0; i < it.size; ++i) (scalar(condition, i, "a condition") ? chosen : f.others).push_back(i);
  it.frames.push_back(std::move(f));
  if (chosen.empty()) it.jump = s.target;
  else enter(it, s, std::move(chosen));
}

void Executor::begin_else(Iteration& it, const Step& s) {
  Frame& f = it.frames.back();
  const Node& n = plan.graph.node(f.node);
  const size_t count = n.results.size() / 2;
  f.kept.resize(count);
  if (!f.inside.empty())
    for (size_t k = 0; k < count; ++k)
      if (n.results[k].node >= 0) f.kept[k] = it.values.at(n.results[k]);
  if (f.others.empty()) {
    it.jump = s.target;
    return;
  }
  std::vector<int> then = std::move(f.inside);
  f.ran_else = true;
  enter(it, s, std::move(f.others));
  f.others = std::move(then);  // from now on the samples of `then`
}

// Of both sides' samples, in the order of the samples that the branch began with. list: of the output's domain, made
// here.
Batch Executor::merged_sides(Iteration& it, const Frame& f, size_t k, const Batch& then, const Batch& otherwise,
                             std::map<int, std::vector<std::pair<bool, int>>>& lists) {
  const Node& n = plan.graph.node(f.node);
  const int domain = n.output_domains[k];
  const auto [known, is_new] = lists.try_emplace(domain);
  auto& list = known->second;  // of each sample, whether it is of `then`, and its number there
  if (is_new) {
    SampleSet set;
    std::vector<int> from[2];
    const auto places = [&](bool of_then) -> const std::vector<int>& {
      return of_then == f.ran_else ? f.others : f.inside;
    };
    for (const bool of_then : {true, false}) {
      if (!of_then && !f.ran_else) continue;
      const std::vector<int>& outside = places(of_then);
      if (outside.empty()) continue;
      int made = side_domain(n, k, of_then);
      const SampleSet* last = made == f.domain ? nullptr : &it.sets[made];
      std::vector<int>& to = from[of_then];
      to.resize(last ? static_cast<size_t>(last->size) : outside.size());
      std::iota(to.begin(), to.end(), 0);
      for (; made != f.domain; made = plan.graph.domains()[static_cast<size_t>(made)].parent)
        for (int& p : to) p = it.sets[made].from[static_cast<size_t>(p)];
      for (int& p : to) p = outside[static_cast<size_t>(p)];
    }
    size_t next[2] = {0, 0};
    while (next[0] < from[0].size() || next[1] < from[1].size()) {
      const bool of_then =
          next[0] == from[0].size() || (next[1] < from[1].size() && from[1][next[1]] < from[0][next[0]]);
      const size_t i = next[of_then]++;
      const int made = side_domain(n, k, of_then);
      set.from.push_back(from[of_then][i]);
      set.origin.push_back(made == f.domain ? (f.all ? it.origin : f.origin)[static_cast<size_t>(set.from.back())]
                                            : it.sets[made].origin[i]);
      list.emplace_back(of_then, static_cast<int>(i));
    }
    set.size = static_cast<int>(list.size());
    if (it.frames.size() == 1 && set.size < plan.graph.domains()[static_cast<size_t>(domain)].least) it.skipped = true;
    it.sets[domain] = std::move(set);
  }
  const bool some_then = then.dtype() != DType::none, some_else = otherwise.dtype() != DType::none;
  const int size = static_cast<int>(list.size());
  if (size == 0 || (!some_then && !some_else)) {
    Batch none = some_then ? empty_like(then, size) : some_else ? empty_like(otherwise, size) : empty_of(n.types[k]);
    return none.size() == size ? std::move(none) : Batch(DType::none, 0, {}, size);
  }
  Batch out = empty_like(some_then ? then : otherwise, size);
  for (int i = 0; i < size; ++i) {
    const auto& [of_then, number] = list[static_cast<size_t>(i)];
    const Batch& side = of_then ? then : otherwise;
    if (side.dtype() != DType::none) scatter(side, number, out, i);
  }
  return out;
}

// Whose samples one side of a branch's output is of.
int Executor::side_domain(const Node& n, size_t k, bool of_then) const {
  const size_t count = n.results.size() / 2;
  const ValueRef v = n.results[of_then ? k : count + k];
  if (v.node < 0) return n.domain;
  return plan.graph.domain_of(v);
}

void Executor::end_branch(Iteration& it, const Step& s) {
  Frame& f = it.frames.back();
  const Node& n = plan.graph.node(f.node);
  const size_t count = n.results.size() / 2;
  std::vector<Batch> merged(count);
  const bool ran_else = f.ran_else;
  std::map<int, std::vector<std::pair<bool, int>>> lists;
  for (size_t k = 0; k < count; ++k) {
    Batch& out = merged[k];
    const ValueRef other = n.results[count + k];
    const Batch then = std::move(f.kept[k]), otherwise = ran_else && other.node >= 0 ? it.values.at(other) : Batch();
    const auto& places_then = ran_else ? f.others : f.inside;
    const bool some_then = !places_then.empty() && then.dtype() != DType::none;
    const bool some_else = ran_else && otherwise.dtype() != DType::none;
    if (some_then && some_else) check_alike(n, k, then, "where the condition is true", otherwise, "where it is false");
    if (!n.output_domains.empty() && n.output_domains[k] != n.domain) {
      out = merged_sides(it, f, k, some_then ? then : Batch(), some_else ? otherwise : Batch(), lists);
      use_layout(out, n.types[k]);
      continue;
    }
    if (some_then && then.size() == f.size) {
      out = then;
    } else if (some_else && otherwise.size() == f.size) {
      out = otherwise;
    } else {
      out = some_then   ? empty_like(then, f.size)
            : some_else ? empty_like(otherwise, f.size)
                        : Batch(DType::none, 0, {}, f.size);
      if (some_then)
        for (size_t i = 0; i < places_then.size(); ++i) scatter(then, static_cast<int>(i), out, places_then[i]);
      if (some_else)
        for (size_t i = 0; i < f.inside.size(); ++i) scatter(otherwise, static_cast<int>(i), out, f.inside[i]);
    }
    if (f.size == 0) out = empty_of(n.types[k]);
    use_layout(out, n.types[k]);
  }
  leave(it);
  for (const ValueRef& v : s.given) it.values.at(v) = Batch();
  for (size_t k = 0; k < count; ++k) it.values.at({f.node, static_cast<int>(k)}) = std::move(merged[k]);
  it.frames.pop_back();
}

void Executor::begin_loop(Iteration& it, const Step& s) {
  const Node& n = plan.graph.node(s.nodes[0]);
  Frame f;
  f.node = n.id;
  f.domain = it.domain;
  f.size = it.size;
  f.inside.resize(static_cast<size_t>(it.size));
  std::iota(f.inside.begin(), f.inside.end(), 0);
  f.kept.resize(n.arguments.size());
  if (n.counted) {
    const Batch& count = it.values.at(n.inputs[0]);
    f.counts.reserve(f.inside.size());
    for (int i = 0; i < it.size; ++i) f.counts.push_back(scalar(count, i, "the number of a loop's trips"));
  }
  for (size_t k = 0; k < n.arguments.size(); ++k) {
    const ValueRef v = n.inputs[k + n.counted];
    const bool given = std::find(s.given.begin(), s.given.end(), v) != s.given.end();
    Batch first = given ? std::exchange(it.values.at(v), Batch()) : it.values.at(v);
    use_layout(first, n.types[k]);
    it.values.at({n.arguments[k], 0}) = std::move(first);
  }
  it.frames.push_back(std::move(f));
  begin_trip(it, s.target);
}

void Executor::begin_trip(Iteration& it, int end) {
  Frame& f = it.frames.back();
  const Node& n = plan.graph.node(f.node);
  find_trips_key(it, plan.graph);
  if (n.counted) {
    std::vector<int> stay;
    for (int i = 0; i < it.size; ++i)
      if (f.counts[f.inside[i]] > static_cast<int64_t>(f.trip)) stay.push_back(i);
    stay_in_loop(it, stay);
    if (stay.empty()) {
      it.jump = end;
      return;
    }
  }
  if (f.trip >= static_cast<uint64_t>(n.most_trips)) {
    const SampleOrigin& o = it.origin[0];
    Error e(ErrorKind::argument,
            fmt::format("the loop has made {} trips and has not ended, for sample {} of the batch (position {} of "
                        "epoch {}); Pipeline(max_trips=...) allows more",
                        n.most_trips, f.inside[0], o.position, o.epoch));
    e.source = o.path;
    throw e;
  }
  if (n.trips >= 0)
    it.values.at({n.trips, 0}) = numbers(f.trip, plan.graph.node(n.trips).types[0].dtype, it.size, options.memory);
}

void Executor::test_loop(Iteration& it, const Step& s) {
  const Node& n = plan.graph.node(s.nodes[0]);
  const Batch& test = it.values.at(n.test);
  std::vector<int> stay;
  for (int i = 0; i < it.size; ++i)
    if (scalar(test, i, "a condition")) stay.push_back(i);
  const int before = it.size;
  stay_in_loop(it, stay);
  if (stay.empty()) it.jump = s.target;
  else if (it.size != before)
    for (const ValueRef& v : s.captured) {
      if (it.values.at(v).size() != before)
        fail(ErrorKind::internal, "%{}.{} (place {}) has {} samples of {} after a loop's test", v.node, v.output,
             static_cast<int>(v.place), it.values.at(v).size(), before);
      it.values.at(v) = gathered(it.values.at(v), stay);
    }
}

// `stay`: of the samples in the loop, those that go on; what the others have is their result.
void Executor::stay_in_loop(Iteration& it, const std::vector<int>& stay) {
  Frame& f = it.frames.back();
  const Node& n = plan.graph.node(f.node);
  if (static_cast<int>(stay.size()) == it.size) return;
  const auto begin = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    return s.kind == Step::Kind::control && s.flow == Step::Flow::begin_loop && s.nodes[0] == n.id;
  });
  std::vector<char> stays(static_cast<size_t>(it.size), 0);
  for (int i : stay) stays[static_cast<size_t>(i)] = 1;
  for (size_t k = 0; k < n.arguments.size(); ++k) {
    Batch& value = it.values.at({n.arguments[k], 0});
    if (stay.empty() && f.all) {
      f.kept[k] = std::move(value);
      continue;
    }
    if (begin->parts && value.ndim() > 0) part_samples(value);
    if (f.kept[k].size() == 0 || f.kept[k].dtype() == DType::none) {
      Batch b = empty_like(value, f.size);
      f.kept[k] = std::move(b);
    } else if (value.dtype() != DType::none) {
      check_alike(n, k, f.kept[k], "after an earlier trip", value, "after a later one");
    }
    for (int i = 0; i < it.size; ++i)
      if (!stays[static_cast<size_t>(i)]) scatter(value, i, f.kept[k], f.inside[static_cast<size_t>(i)]);
    value = gathered(value, stay);
  }
  if (stay.empty()) return;
  if (n.trips >= 0)
    if (Batch& trips = it.values.at({n.trips, 0}); trips.size() == it.size) trips = gathered(trips, stay);
  std::vector<int> inside;
  for (int i : stay) inside.push_back(f.inside[static_cast<size_t>(i)]);
  enter(it, *begin, std::move(inside));
}

void Executor::repeat_loop(Iteration& it, const Step& s) {
  Frame& f = it.frames.back();
  const Node& n = plan.graph.node(f.node);
  std::vector<Batch> next;
  for (const ValueRef& v : n.results) next.push_back(it.values.at(v));
  for (size_t k = 0; k < next.size(); ++k) {
    use_layout(next[k], n.types[k]);
    it.values.at({n.arguments[k], 0}) = std::move(next[k]);
  }
  ++f.trip;
  it.jump = s.repeat;
  begin_trip(it, s.target);
}

void Executor::end_loop(Iteration& it) {
  Frame& f = it.frames.back();
  leave(it);
  for (size_t k = 0; k < f.kept.size() && f.size == 0; ++k) f.kept[k] = empty_of(plan.graph.node(f.node).types[k]);
  for (size_t k = 0; k < f.kept.size(); ++k) it.values.at({f.node, static_cast<int>(k)}) = std::move(f.kept[k]);
  const Node& n = plan.graph.node(f.node);
  for (int argument : n.arguments) it.values.at({argument, 0}) = Batch();
  if (n.trips >= 0) it.values.at({n.trips, 0}) = Batch();
  it.frames.pop_back();
  find_trips_key(it, plan.graph);
}

}  // namespace penstock
