// SPDX-License-Identifier: Apache-2.0
// A domain says which samples a value belongs to. Values of two domains never meet in one node.
#include <algorithm>
#include <functional>
#include <map>

#include "graph/passes.h"

namespace penstock {
namespace {

constexpr int64_t kMostSamples = 1 << 24;  // of a batch

// Equal for every sample: fits every domain.
bool is_free(const Node& n) {
  return n.control == Control::none && fits_all(n) &&
         std::none_of(n.constants.begin(), n.constants.end(), [](const auto& c) { return c.first == "samples"; });
}

}  // namespace

int64_t constant_of(const Node& n, const char* name, int64_t otherwise) {
  for (const auto& [key, value] : n.constants)
    if (key == name) {
      if (const auto* x = std::get_if<int64_t>(&value)) return *x;
      if (const auto* b = std::get_if<bool>(&value)) return *b;
      bad_type("{} must be a whole number", name);
    }
  return otherwise;
}

size_t deciding_inputs(const Node& n) {
  switch (n.control) {
    case Control::branch:
    case Control::filter: return 1;
    case Control::loop: return n.counted;
    case Control::expand: return constant_of(n, "k", -1) < 0;
    default: return 0;
  }
}

bool names_files(const Graph& g, ValueRef v) {
  if (v.place != Place::made) return false;
  const Node& n = g.node(v.node);
  if (n.control == Control::filter || n.control == Control::expand)
    return names_files(g, n.inputs[deciding_inputs(n) + static_cast<size_t>(v.output)]);
  return n.control == Control::none && v.output == 0 && info_of(n).lazy_files;
}

bool Graph::within_domain(int domain, int outer) const {
  for (int d = settled(domain); d >= 0; d = domains_[d].parent < 0 ? -1 : settled(domains_[d].parent))
    if (d == outer) return true;
  return false;
}

bool Graph::made_within(int domain, int body) const {
  const Domain& d = domains_[settled(domain)];
  return d.parent >= 0 && within(d.region, body);
}

// Whether all values of a domain that nobody has used yet are where the other domain's samples are known.
bool Graph::may_become(int open, int domain) const {
  const int region = domains_[domain].region;
  if (region == 0) return true;
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& n) {
    if (settled(n.domain) != open) return true;
    const bool carried = n.control == Control::argument || n.control == Control::trip;  // by the surrounding samples
    return within(n.region, region) && !(carried && n.region == region);
  });
}

std::string Graph::shown_domain(int domain, int node) const {
  const Domain& d = domains_[domain];
  if (d.open) return fmt::format("the samples around the body ({})", nodes_[node].user_line);
  if (d.kind == "root") return fmt::format("the samples that the pipeline started with ({})", nodes_[node].user_line);
  if (d.kind == "if") return fmt::format("the samples after a condition ({})", d.user_line);
  return fmt::format("the samples that {} returned ({})", d.kind, d.user_line);
}

int Graph::add_open_domain() {
  domains_.push_back({});
  domains_.back().open = true;
  return static_cast<int>(domains_.size()) - 1;
}

// The same constant for the samples of another domain, in the body that knows them, if that body encloses it.
ValueRef Graph::constant_for(ValueRef v, int domain, int region) {
  Node copy = nodes_[v.node];
  copy.id = static_cast<int>(nodes_.size());
  copy.name = fmt::format("__{}_{}", copy.op, copy.id);
  copy.domain = domain;
  if (within(region, copy.region)) copy.region = region;
  nodes_.push_back(std::move(copy));
  return {nodes_.back().id, v.output, v.place};
}

void Graph::join_outputs(std::vector<ValueRef>& outputs, bool mixed) {
  int domain = -1, from = -1;
  for (const ValueRef& v : outputs) {
    const int d = domain_of(v);
    if (domains_[d].open || is_free(nodes_[v.node])) continue;
    if (domain < 0) domain = d, from = v.node;
    if (d != domain && !mixed)
      bad_argument(
          "the outputs have different samples: one has {}, another has {}; pass both to one call of fn.filter, "
          "fn.expand or fn.flatten_batch, or set Pipeline(mixed_outputs=True)",
          shown_domain(domain, from), shown_domain(d, v.node));
  }
  if (domain < 0) return;
  for (ValueRef& v : outputs) {
    const int d = domain_of(v);
    if (d == domain || !(domains_[d].open || is_free(nodes_[v.node]))) continue;
    if (domains_[d].open && !within_domain(domain, d)) domains_[d].same = domain;
    else if (is_free(nodes_[v.node])) v = constant_for(v, domain, 0);
  }
}

void Graph::join_domains(Node& n) {
  if (info_of(n).family == Family::source && !calls_back(n)) {
    n.domain = 0;
    return;
  }
  int domain = -1, from = -1;
  const auto take = [&](int other, int node) {
    const int d = settled(other);
    if (domain < 0) domain = d, from = node;
    if (d == domain) return;
    if (domains_[d].open && !within_domain(domain, d) && may_become(d, domain)) {
      domains_[d].same = domain;
    } else if (domains_[domain].open && !within_domain(d, domain) && may_become(domain, d)) {
      domains_[domain].same = d;
      domain = d, from = node;
    } else {
      bad_argument(
          "works on values of different samples: one has {}, another has {}; pass both to one call of fn.filter, "
          "fn.expand or fn.flatten_batch",
          shown_domain(domain, from), shown_domain(d, node));
    }
  };
  const auto leaves = [&](const ValueRef& v) {  // made by a body from its samples
    return &v >= n.results.data() && &v < n.results.data() + n.results.size() &&
           std::any_of(n.bodies.begin(), n.bodies.end(), [&](int body) { return made_within(domain_of(v), body); });
  };
  std::vector<ValueRef*> read;
  for (auto& v : n.inputs) read.push_back(&v);
  for (auto& [name, v] : n.per_sample) read.push_back(&v);
  for (auto& v : n.results)
    if (v.node >= 0) read.push_back(&v);
  if (n.test.node >= 0) read.push_back(&n.test);
  if (n.control == Control::loop) check_loop_domains(n);
  for (const ValueRef* v : read)
    if (!is_free(nodes_[v->node]) && !leaves(*v)) take(domain_of(*v), v->node);
  for (int body : n.bodies)
    for (const Node& inner : nodes_) {
      if (!within(inner.region, body)) continue;
      const int d = changes_samples(inner.control) ? domains_[settled(inner.domain)].parent : inner.domain;
      if (!made_within(d, body)) take(d, inner.id);
    }
  int made =
      0;  // the innermost body around the node in which samples were made: its values may turn out to be of those
  for (const Domain& d : domains_)
    if (d.parent >= 0 && within(n.region, d.region) && within(d.region, made)) made = d.region;
  for (ValueRef* v : read) {
    if (!is_free(nodes_[v->node])) continue;
    const int d = settled(nodes_[v->node].domain);
    const int region = domain < 0 || domains_[domain].open ? made : domains_[domain].region;
    const bool there = within(nodes_[v->node].region, region);
    if (domain < 0 && !there) domain = add_open_domain();
    if (domain >= 0 && d != domain && (!domains_[d].open || !there)) *v = constant_for(*v, domain, region);
    else take(d, v->node);
  }
  if (domain < 0) domain = add_open_domain();
  if (domains_[domain].kind == "rebatch")
    bad_argument("the result of rebatch ({}) can only be an output of the pipeline: put operators before it",
                 domains_[domain].user_line);
  n.domain = domain;
}

// A loop's variables keep their samples. New samples that its condition makes stay in the condition.
void Graph::check_loop_domains(const Node& n) const {
  for (size_t k = 0; k < n.results.size(); ++k)
    if (const int d = domain_of(n.results[k]); made_within(d, n.bodies[0]) && !is_free(nodes_[n.results[k].node]))
      bad_argument(
          "{} has {} after a trip, but a loop keeps the samples that it started with: use the value in the trip, or "
          "change the samples after the loop",
          variable_of(n, k), shown_domain(d, n.results[k].node));
  if (n.test.node >= 0 && made_within(domain_of(n.test), n.bodies[0]))
    bad_argument("the loop's condition has {}, but it must have the samples in the loop",
                 shown_domain(domain_of(n.test), n.test.node));
  for (const Node& inner : nodes_)
    if (within(inner.region, n.bodies[1]) && domains_[settled(inner.domain)].parent >= 0 &&
        domains_[settled(inner.domain)].region == n.bodies[0])
      bad_argument("works on {} in a loop's condition, and only the condition can use them",
                   shown_domain(settled(inner.domain), inner.id));
}

// The output of a branch whose sides have other samples than the branch has those of both sides, in batch order.
void Graph::find_branch_domains(Node& n) {
  const size_t count = n.results.size() / 2;
  std::map<std::pair<int, int>, int> made;
  n.output_domains.assign(count, n.domain);
  const auto side = [&](ValueRef v, int body) {
    if (v.node < 0 || is_free(nodes_[v.node]) || !made_within(domain_of(v), body)) return n.domain;
    return domain_of(v);
  };
  for (size_t k = 0; k < count; ++k) {
    const std::pair<int, int> sides{side(n.results[k], n.bodies[0]), side(n.results[count + k], n.bodies[1])};
    if (sides.first == n.domain && sides.second == n.domain) continue;
    const auto [found, is_new] = made.try_emplace(sides, static_cast<int>(domains_.size()));
    n.output_domains[k] = found->second;
    if (!is_new) continue;
    Domain d;
    d.parent = n.domain;
    d.kind = "if";
    d.user_line = n.user_line;
    d.region = n.region;
    for (int from : {sides.first, sides.second})
      for (; from != n.domain; from = settled(domains_[from].parent)) d.least = std::max(d.least, domains_[from].least);
    domains_.push_back(std::move(d));
  }
  if (made.empty()) n.output_domains.clear();
}

static bool takes_constant(Control control, const std::string& name) {
  switch (control) {
    case Control::filter: return name == "min_batch" || name == "too_few";
    case Control::expand: return name == "k";
    case Control::flatten: return name == "flattened";
    default: return name == "batch_size";
  }
}

static void check_constants_of_change(const Node& n) {
  for (const auto& [name, value] : n.constants) {
    if (!takes_constant(n.control, name)) bad_argument("a saved pipeline has an unknown '{}'", name);
    if (name == "too_few") {
      const auto* text = std::get_if<std::string>(&value);
      if (!text || (*text != "skip" && *text != "error")) bad_argument("too_few must be \"skip\" or \"error\"");
    } else if (constant_of(n, name.c_str(), 0) < 0) {
      bad_argument("{} must not be negative, got {}", name, constant_of(n, name.c_str(), 0));
    }
  }
  const bool error = std::any_of(n.constants.begin(), n.constants.end(), [](const auto& c) {
    return c.first == "too_few" && std::get<std::string>(c.second) == "error";
  });
  if (n.region != 0 && n.control == Control::filter && (error || constant_of(n, "min_batch", 1) > 1))
    bad_argument(
        "inside a condition or loop there is only a part of the batch, so min_batch must be 0 or 1 there, and too_few "
        "must be \"skip\": to require more samples, filter after the body");
  if (const int64_t size = constant_of(n, "batch_size", 0);
      n.control == Control::rebatch && (size < 1 || size > kMostSamples))
    bad_argument("batch_size must be between 1 and {}, got {}", kMostSamples, size);
}

// The type of an entry of the first axis.
static ValueType type_of_entries(ValueType t, size_t value) {
  if (t.ndim == 0) bad_type("value {} has no first axis whose entries could become samples", value);
  if (t.ndim > 0) --t.ndim;
  t.layout = t.layout.empty() ? t.layout : Layout(t.layout.str().substr(1));
  return t;
}

// The domain of a node of the graph that makes the same samples of those of the domain `before`, or -1: nodes with the
// same deciding values have the same samples.
static int domain_of_same_change(const Graph& g, const Node& n, int before) {
  const size_t deciding = deciding_inputs(n);
  for (const Node& other : g.nodes()) {
    if (other.control != n.control || other.region != n.region ||
        g.settled(g.domains()[g.settled(other.domain)].parent) != before || other.constants != n.constants)
      continue;
    if (n.control != Control::rebatch && (deciding_inputs(other) != deciding || n.control == Control::flatten ||
                                          (deciding && other.inputs[0] != n.inputs[0])))
      continue;
    return other.domain;
  }
  return -1;
}

// Sets the types of the outputs, and their domain.
void Graph::check_change(Node& n) {
  if (n.region != 0 && n.control == Control::rebatch)
    bad_argument(
        "divides the pipeline's outputs into batches, which do not exist in a condition or loop: call it "
        "after the body");
  check_constants_of_change(n);
  const size_t deciding = deciding_inputs(n);
  if (n.inputs.size() <= deciding) bad_argument("needs a value");
  const auto flattened = static_cast<size_t>(constant_of(n, "flattened", 0));
  if (n.control == Control::flatten && (flattened < 1 || flattened > n.inputs.size()))
    bad_argument("needs a value to flatten");
  join_domains(n);
  n.outputs = static_cast<int>(n.inputs.size() - deciding);
  n.types.clear();
  if (deciding == 1) {
    const ValueType t = type(n.inputs[0]);
    if (n.control == Control::expand && t.dtype != DType::none && !is_integer(t.dtype))
      bad_type("k must be an integer, got {}", name_of(t.dtype));
  }
  for (size_t k = deciding; k < n.inputs.size(); ++k) {
    const ValueType t = type(n.inputs[k]);
    n.types.push_back(n.control == Control::flatten && k < flattened ? type_of_entries(t, k) : t);
    n.outputs_on_gpu.push_back(on_gpu(n.inputs[k]));
  }
  const int before = n.domain;
  n.domain = domain_of_same_change(*this, n, before);
  if (n.domain >= 0) return;
  n.domain = static_cast<int>(domains_.size());
  Domain d;
  d.parent = before;
  d.kind = n.op;
  d.user_line = n.user_line;
  d.region = n.region;
  if (n.control == Control::filter) d.least = constant_of(n, "min_batch", 1);
  domains_.push_back(std::move(d));
}

int Graph::add_change(Node change) {
  change.region = current_;
  return add_control(std::move(change));
}

void settle_domains(Planning& p) {
  Graph& g = p.plan.graph;
  for (Domain& d : g.domains_) {
    if (d.open && d.same < 0) d.same = 0;  // no node decided otherwise
    if (d.parent >= 0) d.parent = g.settled(d.parent);
  }
  for (Node& n : g.nodes_) {
    n.domain = g.settled(n.domain);
    for (int& d : n.output_domains) d = g.settled(d);
  }
}

void order_by_domains(Planning& p) {
  const auto& nodes = p.graph.nodes();
  std::map<int, std::vector<size_t>> makers;  // steps by domain
  std::map<int, size_t> step_of;              // by node
  auto& steps = p.plan.steps;
  // Sources determine the number of samples; numbers that were written before them need it.
  std::stable_partition(steps.begin(), steps.end(),
                        [](const Step& s) { return s.kind == Step::Kind::source && s.inputs.empty(); });
  for (size_t i = 0; i < steps.size(); ++i) {
    for (int id : steps[i].nodes) step_of[id] = i;
    const Node& n = nodes[static_cast<size_t>(steps[i].nodes[0])];
    if (changes_samples(n.control)) makers[n.domain].push_back(i);
    for (int d : n.output_domains)
      if (d != n.domain) makers[d].push_back(i);
  }
  if (makers.empty()) return;
  std::vector<char> done(steps.size(), 0);
  std::vector<Step> ordered;
  const std::function<void(size_t)> emit = [&](size_t i) {
    if (done[i]) return;
    done[i] = 1;
    const auto need = [&](ValueRef v) {
      if (const auto s = step_of.find(v.node); s != step_of.end()) emit(s->second);
    };
    const auto needs_of = [&](const Node& n) {
      const int domain =
          changes_samples(n.control) ? p.graph.domains()[static_cast<size_t>(n.domain)].parent : n.domain;
      if (const auto m = makers.find(domain); m != makers.end()) emit(m->second.front());
      for_each_read(n, need);
    };
    for (int id : steps[i].nodes) {
      const Node& n = nodes[static_cast<size_t>(id)];
      needs_of(n);
      for (int body : n.bodies)
        for (const Node& inner : nodes)
          if (p.needed[static_cast<size_t>(inner.id)] && p.graph.within(inner.region, body)) needs_of(inner);
    }
    ordered.push_back(std::move(steps[i]));
  };
  for (size_t i = 0; i < steps.size(); ++i) emit(i);
  steps = std::move(ordered);
}

void find_step_domains(Planning& p) {
  for (Step& s : p.plan.steps) {
    const Node& n = p.graph.node(s.nodes[0]);
    const bool change = s.kind == Step::Kind::control && changes_samples(n.control);
    const bool value = s.kind == Step::Kind::transfer || s.kind == Step::Kind::read;
    s.domain = change  ? p.graph.domains()[static_cast<size_t>(n.domain)].parent
               : value ? p.graph.domain_of(s.output)
                       : n.domain;
  }
}

}  // namespace penstock
