// SPDX-License-Identifier: Apache-2.0
// Steps of a branch: its begin, between its sides, its end, where the samples of both come together.
#include <numeric>
#include <utility>

#include "batch/sample_lists.h"
#include "exec/steps/frames.h"
#include "exec/steps/kinds.h"

namespace penstock {
namespace {

class BeginBranch final : public StepRunner {
 public:
  BeginBranch(StepContext& context, size_t index) : StepRunner(context, index) {
    rules.runs_here = rules.logs_condition = true;
  }
  void prepare(Iteration& it, Worker&) override {
    const Batch& condition = it.values.at(step.inputs[0]);
    if (condition.size() != it.size)
      fail(ErrorKind::internal, "a condition with {} values for {} samples", condition.size(), it.size);
    Frame f;
    f.node = node.id;
    f.domain = it.domain;
    f.size = it.size;
    std::vector<int> chosen;
    for (int i = 0; i < it.size; ++i) (scalar(condition, i, "a condition") ? chosen : f.others).push_back(i);
    it.frames.push_back(std::move(f));
    if (chosen.empty()) it.jump = step.target;
    else enter_body(context_.plan, it, step, std::move(chosen));
  }
};

class BeginElse final : public StepRunner {
 public:
  BeginElse(StepContext& context, size_t index) : StepRunner(context, index) { rules.runs_here = true; }
  void prepare(Iteration& it, Worker&) override {
    Frame& f = it.frames.back();
    const size_t count = node.results.size() / 2;
    f.kept.resize(count);
    if (!f.inside.empty())
      for (size_t k = 0; k < count; ++k)
        if (node.results[k].node >= 0) f.kept[k] = it.values.at(node.results[k]);
    if (f.others.empty()) {
      it.jump = step.target;
      return;
    }
    std::vector<int> then = std::move(f.inside);
    f.ran_else = true;
    enter_body(context_.plan, it, step, std::move(f.others));
    f.others = std::move(then);  // from now on the samples of `then`
  }
};

class EndBranch final : public StepRunner {
 public:
  EndBranch(StepContext& context, size_t index) : StepRunner(context, index) { rules.runs_here = true; }
  void prepare(Iteration& it, Worker&) override;

 private:
  // Of both sides' samples, in the order of the samples that the branch began with: of each, whether it is of `then`,
  // and its number there.
  using Order = std::vector<std::pair<bool, int>>;

  Batch merged(Iteration& it, const Frame& f, size_t k, std::map<int, Order>& orders) const;
  Batch merged_here(const Frame& f, const Batch& then, const Batch& otherwise) const;
  Batch merged_domains(Iteration& it, const Frame& f, size_t k, const Batch& then, const Batch& otherwise,
                       std::map<int, Order>& orders) const;
  Order make_domain(Iteration& it, const Frame& f, size_t k, int domain) const;
  std::vector<int> places_of_side(Iteration& it, const Frame& f, size_t k, bool of_then) const;
  int domain_of_side(size_t k, bool of_then) const;
  int parent_of(int domain) const { return context_.plan.graph.domains()[static_cast<size_t>(domain)].parent; }
};

// Whose samples one side of output k is of.
int EndBranch::domain_of_side(size_t k, bool of_then) const {
  const ValueRef v = node.results[of_then ? k : node.results.size() / 2 + k];
  return v.node < 0 ? node.domain : context_.plan.graph.domain_of(v);
}

// For each sample of one side: which of the branch's samples it was made of.
std::vector<int> EndBranch::places_of_side(Iteration& it, const Frame& f, size_t k, bool of_then) const {
  const std::vector<int>& outside = of_then == f.ran_else ? f.others : f.inside;
  if ((!of_then && !f.ran_else) || outside.empty()) return {};
  int made = domain_of_side(k, of_then);
  std::vector<int> places(made == f.domain ? outside.size() : static_cast<size_t>(it.sets[made].size));
  std::iota(places.begin(), places.end(), 0);
  for (; made != f.domain; made = parent_of(made))
    for (int& p : places) p = it.sets[made].from[static_cast<size_t>(p)];
  for (int& p : places) p = outside[static_cast<size_t>(p)];
  return places;
}

// The samples of an output's domain, which the branch makes.
EndBranch::Order EndBranch::make_domain(Iteration& it, const Frame& f, size_t k, int domain) const {
  const std::vector<int> from[2] = {places_of_side(it, f, k, false), places_of_side(it, f, k, true)};
  Order order;
  SampleSet set;
  size_t next[2] = {0, 0};
  while (next[0] < from[0].size() || next[1] < from[1].size()) {
    const bool of_then = next[0] == from[0].size() || (next[1] < from[1].size() && from[1][next[1]] < from[0][next[0]]);
    const size_t i = next[of_then]++;
    const int made = domain_of_side(k, of_then);
    set.from.push_back(from[of_then][i]);
    set.origin.push_back(made == f.domain ? (f.all ? it.origin : f.origin)[static_cast<size_t>(set.from.back())]
                                          : it.sets[made].origin[i]);
    order.emplace_back(of_then, static_cast<int>(i));
  }
  set.size = static_cast<int>(order.size());
  const int least = context_.plan.graph.domains()[static_cast<size_t>(domain)].least;
  if (it.frames.size() == 1 && set.size < least) it.skipped = true;
  it.sets[domain] = std::move(set);
  return order;
}

Batch EndBranch::merged_domains(Iteration& it, const Frame& f, size_t k, const Batch& then, const Batch& otherwise,
                                std::map<int, Order>& orders) const {
  const int domain = node.output_domains[k];
  const auto [known, is_new] = orders.try_emplace(domain);
  if (is_new) known->second = make_domain(it, f, k, domain);
  const Order& order = known->second;
  const bool some_then = then.dtype() != DType::none, some_else = otherwise.dtype() != DType::none;
  const int size = static_cast<int>(order.size());
  if (size == 0 || (!some_then && !some_else)) {
    Batch none = some_then ? empty_like(then, size) : some_else ? empty_like(otherwise, size) : empty_of(node.types[k]);
    return none.size() == size ? std::move(none) : Batch(DType::none, 0, {}, size);
  }
  Batch out = empty_like(some_then ? then : otherwise, size);
  for (int i = 0; i < size; ++i) {
    const auto& [of_then, number] = order[static_cast<size_t>(i)];
    const Batch& side = of_then ? then : otherwise;
    if (side.dtype() != DType::none) scatter(side, number, out, i);
  }
  return out;
}

// The value of the branch's own samples. A side without a value has no type.
Batch EndBranch::merged_here(const Frame& f, const Batch& then, const Batch& otherwise) const {
  const bool some_then = then.dtype() != DType::none, some_else = otherwise.dtype() != DType::none;
  if (some_then && then.size() == f.size) return then;
  if (some_else && otherwise.size() == f.size) return otherwise;
  Batch out = some_then   ? empty_like(then, f.size)
              : some_else ? empty_like(otherwise, f.size)
                          : Batch(DType::none, 0, {}, f.size);
  const auto& places_then = f.ran_else ? f.others : f.inside;
  if (some_then)
    for (size_t i = 0; i < places_then.size(); ++i) scatter(then, static_cast<int>(i), out, places_then[i]);
  if (some_else)
    for (size_t i = 0; i < f.inside.size(); ++i) scatter(otherwise, static_cast<int>(i), out, f.inside[i]);
  return out;
}

Batch EndBranch::merged(Iteration& it, const Frame& f, size_t k, std::map<int, Order>& orders) const {
  const ValueRef other = node.results[node.results.size() / 2 + k];
  Batch then = std::move(it.frames.back().kept[k]);
  if ((f.ran_else ? f.others : f.inside).empty()) then = Batch();
  const Batch otherwise = f.ran_else && other.node >= 0 ? it.values.at(other) : Batch();
  if (then.dtype() != DType::none && otherwise.dtype() != DType::none)
    check_alike(node, k, then, "where the condition is true", otherwise, "where it is false");
  Batch out;
  if (!node.output_domains.empty() && node.output_domains[k] != node.domain)
    out = merged_domains(it, f, k, then, otherwise, orders);
  else if (f.size == 0) out = empty_of(node.types[k]);
  else out = merged_here(f, then, otherwise);
  use_layout(out, node.types[k]);
  return out;
}

void EndBranch::prepare(Iteration& it, Worker&) {
  Frame& f = it.frames.back();
  std::vector<Batch> results(node.results.size() / 2);
  std::map<int, Order> orders;
  for (size_t k = 0; k < results.size(); ++k) results[k] = merged(it, f, k, orders);
  leave_body(it);
  for (const ValueRef& v : step.given) it.values.at(v) = Batch();
  for (size_t k = 0; k < results.size(); ++k) it.values.at({node.id, static_cast<int>(k)}) = std::move(results[k]);
  it.frames.pop_back();
}

}  // namespace

std::unique_ptr<StepRunner> make_begin_branch(StepContext& context, size_t index) {
  return std::make_unique<BeginBranch>(context, index);
}
std::unique_ptr<StepRunner> make_begin_else(StepContext& context, size_t index) {
  return std::make_unique<BeginElse>(context, index);
}
std::unique_ptr<StepRunner> make_end_branch(StepContext& context, size_t index) {
  return std::make_unique<EndBranch>(context, index);
}

}  // namespace penstock
