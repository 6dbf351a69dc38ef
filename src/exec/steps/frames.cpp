// SPDX-License-Identifier: Apache-2.0
#include "exec/steps/frames.h"

#include <algorithm>
#include <utility>

#include "batch/memory_reuse.h"
#include "batch/sample_lists.h"
#include "data/hash.h"

namespace penstock {

Batch empty_of(const ValueType& t) {
  const int ndim = std::max(0, t.ndim);
  return Batch(t.dtype, ndim, t.layout.size() == ndim ? t.layout : Layout{}, 0);
}

static std::string shown(const Batch& b) {
  return fmt::format("{} with {} dimension{}", name_of(b.dtype()), b.ndim(), b.ndim() == 1 ? "" : "s");
}

void check_alike(const Node& n, size_t k, const Batch& a, const char* where_a, const Batch& b, const char* where_b) {
  if (a.dtype() != b.dtype() || a.ndim() != b.ndim())
    bad_type("{} is {} {} and {} {}; both must have one type and number of dimensions", variable_of(n, k), shown(a),
             where_a, shown(b), where_b);
}

void use_layout(Batch& b, const ValueType& t) {
  if (t.ndim == b.ndim() && t.layout.size() == t.ndim && !(t.layout == b.layout())) b.set_layout(t.layout);
}

void find_trips_key(Iteration& it, const Graph& g) {
  it.trips_key = 0;
  for (const Frame& f : it.frames)
    if (g.node(f.node).control == Control::loop) it.trips_key = mix64(it.trips_key ^ mix64(f.trip));
}

void enter_body(const Plan& plan, Iteration& it, const Step& s, std::vector<int> chosen) {
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
    if (given)  // nobody reads those after the branch
      for (int i : f.inside) kept->second.sample(i) = {};
  }
}

void leave_body(Iteration& it) {
  Frame& f = it.frames.back();
  if (f.all) return;
  it.size = f.size;
  it.origin = std::move(f.origin);
  for (auto& [v, b] : f.outside) it.values.at(v) = std::move(b);
}

void use_domain(Iteration& it, int domain) {
  if (it.domain == domain) return;
  SampleSet& left = it.sets[it.domain];
  left.size = it.size;
  left.origin = std::move(it.origin);
  SampleSet& now = it.sets[domain];
  it.size = now.size;
  it.origin = std::move(now.origin);
  it.domain = domain;
}

int given_sample(const Plan& plan, const Iteration& it, int i) {
  size_t frames = it.frames.size();
  for (int domain = it.domain;; domain = plan.graph.domains()[static_cast<size_t>(domain)].parent) {
    for (; frames > 0 && it.frames[frames - 1].domain == domain; --frames)
      i = it.frames[frames - 1].inside[static_cast<size_t>(i)];
    if (domain == 0) return i;
    i = it.sets.at(domain).from[static_cast<size_t>(i)];
  }
}

}  // namespace penstock
