// SPDX-License-Identifier: Apache-2.0
// Domains: which samples a value is of. Values of two domains never meet in one node.
#include <algorithm>
#include <functional>

#include "graph/passes.h"

namespace penstock {
namespace {

constexpr int64_t kMostSamples = 1 << 24;  // of a batch

// The same for each sample: fits into every domain.
bool is_free(const Node& n) {
  return n.op == "constant" && n.control == Control::none && n.inputs.empty() && n.per_sample.empty() &&
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

std::string Graph::shown_domain(int domain, int node) const {
  const Domain& d = domains_[domain];
  if (d.kind == "root") return fmt::format("of the samples that the pipeline began with ({})", nodes_[node].user_line);
  return fmt::format("of those that {} gave ({})", d.kind, d.user_line);
}

// The same constant for the samples of another domain.
ValueRef Graph::constant_for(ValueRef v, int domain) {
  Node copy = nodes_[v.node];
  copy.id = static_cast<int>(nodes_.size());
  copy.name = fmt::format("__{}_{}", copy.op, copy.id);
  copy.domain = domain;
  nodes_.push_back(std::move(copy));
  return {nodes_.back().id, v.output, v.place};
}

void Graph::join_outputs(std::vector<ValueRef>& outputs, bool mixed) {
  int domain = -1, from = -1;
  for (const ValueRef& v : outputs) {
    const int d = settled(nodes_[v.node].domain);
    if (domains_[d].open || is_free(nodes_[v.node])) continue;
    if (domain < 0) domain = d, from = v.node;
    if (d != domain && !mixed)
      bad_argument("the outputs are of different samples: one is {}, another {}; give both to one call of fn.filter, fn.expand or "
                   "fn.flatten_batch, or say Pipeline(mixed_outputs=True)", shown_domain(domain, from), shown_domain(d, v.node));
  }
  if (domain < 0) return;
  for (ValueRef& v : outputs) {
    const int d = settled(nodes_[v.node].domain);
    if (d == domain || !(domains_[d].open || is_free(nodes_[v.node]))) continue;
    if (domains_[d].open && !within_domain(domain, d)) domains_[d].same = domain;
    else if (is_free(nodes_[v.node])) v = constant_for(v, domain);
  }
}

void Graph::join_domains(Node& n) {
  if (info_of(n).family == Family::source && !calls_back(n)) {
    n.domain = 0;
    return;
  }
  int domain = -1, from = -1;
  const auto take = [&](int node) {
    const int d = settled(nodes_[node].domain);
    if (domain < 0) domain = d, from = node;
    if (d == domain) return;
    if (domains_[d].open && !within_domain(domain, d)) {
      domains_[d].same = domain;
    } else if (domains_[domain].open && !within_domain(d, domain)) {
      domains_[domain].same = d;
      domain = d, from = node;
    } else {
      bad_argument("works on values of different samples: one is {}, another {}; give both to one call of fn.filter, fn.expand "
                   "or fn.flatten_batch", shown_domain(domain, from), shown_domain(d, node));
    }
  };
  std::vector<ValueRef*> read;
  for (auto& v : n.inputs) read.push_back(&v);
  for (auto& [name, v] : n.per_sample) read.push_back(&v);
  for (auto& v : n.results)
    if (v.node >= 0) read.push_back(&v);
  if (n.test.node >= 0) read.push_back(&n.test);
  for (const ValueRef* v : read)
    if (!is_free(nodes_[v->node])) take(v->node);
  for (int body : n.bodies)
    for (const Node& inner : nodes_)
      if (within(inner.region, body)) take(inner.id);
  for (ValueRef* v : read) {
    if (!is_free(nodes_[v->node])) continue;
    const int d = settled(nodes_[v->node].domain);
    if (domain >= 0 && d != domain && !domains_[d].open) *v = constant_for(*v, domain);
    else take(v->node);
  }
  if (domain < 0) {
    domain = static_cast<int>(domains_.size());
    domains_.push_back({});
    domains_.back().open = true;
  }
  if (domains_[domain].kind == "rebatch")
    bad_argument("what rebatch gives ({}) can only be an output of the pipeline: operators stand in front of it",
                 domains_[domain].user_line);
  n.domain = domain;
}

// Sets what the outputs are, and their domain.
void Graph::check_change(Node& n) {
  if (n.region != 0)
    bad_argument("changes which samples there are, and cannot stand inside of a condition or loop: call it before or behind");
  const auto known = [&](const std::string& name) {
    switch (n.control) {
      case Control::filter: return name == "min_batch" || name == "too_few";
      case Control::expand: return name == "k";
      case Control::flatten: return name == "flattened";
      default: return name == "batch_size";
    }
  };
  for (const auto& [name, value] : n.constants) {
    if (!known(name)) bad_argument("a saved pipeline with an unknown '{}'", name);
    if (name == "too_few") {
      const auto* text = std::get_if<std::string>(&value);
      if (!text || (*text != "skip" && *text != "error")) bad_argument("too_few must be \"skip\" or \"error\"");
    } else if (constant_of(n, name.c_str(), 0) < 0) {
      bad_argument("{} must not be negative, got {}", name, constant_of(n, name.c_str(), 0));
    }
  }
  if (const int64_t size = constant_of(n, "batch_size", 0); n.control == Control::rebatch && (size < 1 || size > kMostSamples))
    bad_argument("batch_size must be between 1 and {}, got {}", kMostSamples, size);
  const size_t deciding = deciding_inputs(n);
  if (n.inputs.size() <= deciding) bad_argument("needs a value");
  const auto flattened = static_cast<size_t>(constant_of(n, "flattened", 0));
  if (n.control == Control::flatten && (flattened < 1 || flattened > n.inputs.size())) bad_argument("needs a value to flatten");
  join_domains(n);
  const int before = n.domain;
  n.outputs = static_cast<int>(n.inputs.size() - deciding);
  n.types.clear();
  if (deciding == 1) {
    const ValueType t = type(n.inputs[0]);
    if (n.control == Control::expand && t.dtype != DType::none && !is_integer(t.dtype))
      bad_type("k is a whole number, not {}", name_of(t.dtype));
  }
  for (size_t k = deciding; k < n.inputs.size(); ++k) {
    ValueType t = type(n.inputs[k]);
    if (n.control == Control::flatten && k < flattened) {
      if (t.ndim == 0) bad_type("value {} has no first axis whose entries could become samples", k);
      if (t.ndim > 0) --t.ndim;
      t.layout = t.layout.empty() ? t.layout : Layout(t.layout.str().substr(1));
    }
    n.types.push_back(t);
    n.outputs_on_gpu.push_back(on_gpu(n.inputs[k]));
  }
  // What goes by the same values has the same samples.
  for (const Node& other : nodes_) {
    if (other.control != n.control || settled(domains_[settled(other.domain)].parent) != before || other.constants != n.constants)
      continue;
    if (n.control != Control::rebatch && (deciding_inputs(other) != deciding || n.control == Control::flatten ||
                                          (deciding && other.inputs[0] != n.inputs[0])))
      continue;
    n.domain = other.domain;
    return;
  }
  n.domain = static_cast<int>(domains_.size());
  Domain d;
  d.parent = before;
  d.kind = n.op;
  d.user_line = n.user_line;
  domains_.push_back(std::move(d));
}

int Graph::add_change(Node change) {
  change.region = current_;
  return add_control(std::move(change));
}

void settle_domains(Planning& p) {
  Graph& g = p.plan.graph;
  for (Domain& d : g.domains_) {
    if (d.open && d.same < 0) d.same = 0;  // nobody said otherwise
    if (d.parent >= 0) d.parent = g.settled(d.parent);
  }
  for (Node& n : g.nodes_) n.domain = g.settled(n.domain);
}

void order_by_domains(Planning& p) {
  const auto& nodes = p.graph.nodes();
  std::map<int, std::vector<size_t>> makers;  // by domain: steps
  std::map<int, size_t> step_of;              // by node
  auto& steps = p.plan.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    for (int id : steps[i].nodes) step_of[id] = i;
    if (const Node& n = nodes[static_cast<size_t>(steps[i].nodes[0])]; changes_samples(n.control)) makers[n.domain].push_back(i);
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
      const int domain = changes_samples(n.control) ? p.graph.domains()[static_cast<size_t>(n.domain)].parent : n.domain;
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
    s.domain = change ? p.graph.domains()[static_cast<size_t>(n.domain)].parent : n.domain;
  }
}

}  // namespace penstock
