// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <algorithm>

#include "graph/passes.h"
#include "operator/forms.h"
#include "operator/point_map_adaptor.h"
#include "operator/value_forms.h"

namespace penstock {

Graph::Graph() : regions_(1), domains_(1) {}

int Graph::find(const std::string& name) const {
  for (const auto& n : nodes_)
    if (n.name == name) return n.id;
  return -1;
}

static void name_node(const Graph& g, Node& node) {
  node.id = static_cast<int>(g.nodes().size());
  if (node.name.empty()) {
    node.name = "__" + node.op + "_" + std::to_string(node.id);
    std::replace(node.name.begin(), node.name.end(), '.', '_');
  } else if (g.find(node.name) >= 0) {
    bad_argument("two operators have the name '{}'", node.name);
  }
}

static std::vector<Argument> constants_of(const Node& node, const OpInfo& info) {
  std::vector<Argument> named(info.args.size());
  for (size_t i = 0; i < named.size(); ++i)
    for (const auto& [name, value] : node.constants)
      if (name == info.args[i].name) named[i].value = value;
  return named;
}

// The last inputs may be values of arguments.
static void separate_argument_inputs(Node& node, const OpInfo& info, std::span<const Argument> named) {
  const int n = static_cast<int>(node.inputs.size());
  const std::vector<int> places = argument_inputs(info, n, named);
  for (size_t k = 0; k < places.size(); ++k)
    node.per_sample.emplace_back(info.args[places[k]].name, node.inputs[n - places.size() + k]);
  node.inputs.resize(n - places.size());
}

static void check_argument_names(const Node& node, const OpInfo& info) {
  std::vector<std::string> known;
  for (const auto& a : info.args) known.push_back(a.name);
  auto check = [&](const std::string& name) -> const ArgInfo& {
    if (const ArgInfo* a = info.arg(name)) return *a;
    fail(ErrorKind::key, "there is no argument '{}'{}", name, did_you_mean(name, known));
  };
  for (const auto& [name, value] : node.constants) check(name);
  for (const auto& [name, ref] : node.per_sample)
    if (!check(name).per_sample) bad_type("the argument '{}' must be the same for all samples", name);
}

static void set_device(const Graph& g, Node& node) {
  if (!node.device.empty() && node.device != "cpu" && node.device != "gpu" && node.device != "mixed")
    bad_argument("device must be 'cpu', 'gpu' or 'mixed', got '{}'", node.device);
  node.on_gpu = node.device.empty()
                    ? std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueRef v) { return g.on_gpu(v); })
                    : node.device != "cpu";
}

// With a batch where each sample has its own value, which exists when the pipeline runs.
static std::vector<Argument> with_later(std::vector<Argument> named, const Node& node, const OpInfo& info) {
  static const Batch later;
  for (size_t i = 0; i < named.size(); ++i)
    for (const auto& [name, ref] : node.per_sample)
      if (name == info.args[i].name) named[i].batch = &later;
  return named;
}

static void set_outputs_of(Node& node, const OpInfo& info, const std::vector<Argument>& named) {
  const int outputs = outputs_of(info, with_later(named, node, info));
  if (node.outputs <= 0) node.outputs = outputs;
  const bool one_more = node.outputs == outputs + 1 && outputs == info.outputs && info.family == Family::stage &&
                        find_op(point_map_name(info.name));
  if (node.outputs != outputs && !one_more && !info.arg("num_outputs"))
    bad_argument("has {} outputs, not {}", outputs, node.outputs);
  if (node.outputs < 0 || node.outputs > kMostOutputs)
    bad_argument("the number of outputs is {}; it must be 0 to {}", node.outputs, kMostOutputs);
}

// One node names the samples, and has the name that the program gave; the other one loads them by the values.
static int add_by_values(Graph& g, Node node, const ValueForms& forms) {
  const OpInfo &names = get_op(forms.names), &values = get_op(forms.values);
  check_argument_names(node, info_of(node));
  Node first = node;
  first.op = names.name, first.device = "cpu", first.per_sample.clear();
  std::erase_if(first.constants, [&](const auto& c) { return !names.arg(c.first); });
  std::erase_if(node.constants, [&](const auto& c) { return !values.arg(c.first); });
  node.op = values.name, node.name.clear(), node.seed = -1;
  node.inputs = {{g.add(std::move(first)), 0}};
  return g.add(std::move(node));
}

int Graph::add(Node node) {
  if (node.control != Control::none) return add_control(std::move(node));
  try {
    const ValueForms* by_values = node.per_sample.empty() ? nullptr : value_forms(node.op);
    if (by_values) return add_by_values(*this, node, *by_values);
    name_node(*this, node);
    const std::vector<Argument> named = constants_of(node, info_of(node));
    node.op = form_of(info_of(node), node.inputs.size(), with_later(named, node, info_of(node))).name;
    const OpInfo& info = info_of(node);
    separate_argument_inputs(node, info, named);
    check_argument_names(node, info);
    for (const auto& in : node.inputs)
      if (!has_value(in)) bad_argument("the input does not exist: output {} of node {}", in.output, in.node);
    for (const auto& [name, in] : node.per_sample)
      if (!has_value(in)) bad_argument("{} is output {} of node {}, which does not exist", name, in.output, in.node);
    for (const auto& in : node.inputs) check_visible(in, node.region);
    for (const auto& [name, in] : node.per_sample) check_visible(in, node.region);
    if (info.family == Family::source && !calls_back(node) && node.region != 0)
      bad_argument("a source of samples cannot be inside a condition or loop: create it before");
    set_device(*this, node);
    set_outputs_of(node, info, named);
    join_domains(node);
    node.id = static_cast<int>(nodes_.size());  // constants may have been inserted before it
    if (mixes(node)) node.types = mixed_types(*this, node);
    if (node.types.empty()) infer(*this, node);
  } catch (Error& e) {
    if (e.op.empty()) e.op = node.op;
    e.user_line = node.user_line;
    throw;
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().id;
}

bool Graph::has_value(ValueRef v) const {
  return v.node >= 0 && v.node < static_cast<int>(nodes_.size()) && v.output >= 0 && v.output < nodes_[v.node].outputs;
}

DrawKey Graph::draws_of(const Node& n) const {
  if (n.seed >= 0) return {static_cast<uint64_t>(n.seed), kSeeded};
  return {seed_, static_cast<uint32_t>(n.draws_of >= 0 ? n.draws_of : n.id)};
}

void Graph::set_outputs(std::vector<ValueRef> outputs, bool mixed) {
  for (const auto& v : outputs)
    if (!has_value(v)) bad_argument("an output is not a value of this pipeline");
    else check_visible(v, 0);
  join_outputs(outputs, mixed);
  outputs_ = std::move(outputs);
}

std::vector<Argument> Graph::arguments(const Node& n, const std::function<const Batch*(ValueRef)>& per_sample) const {
  const OpInfo& info = info_of(n);
  std::vector<Argument> args(info.args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    for (const auto& [name, value] : n.constants)
      if (name == info.args[i].name) args[i].value = value;
    for (const auto& [name, ref] : n.per_sample)
      if (name == info.args[i].name) args[i].batch = per_sample(ref);
    if (args[i].given()) continue;
    for (const auto& [name, value] : defaults_)
      if (name == info.args[i].name) args[i].value = value;
  }
  return args;
}

std::string to_text(const ValueType& t) {
  std::string s = t.dtype == DType::none ? "?" : name_of(t.dtype);
  if (!t.layout.empty()) s += " " + t.layout.str();
  else if (t.ndim >= 0) s += fmt::format(" {}-d", t.ndim);
  return s;
}

std::string Graph::value_text(ValueRef v) const {
  static constexpr const char* kPlaces[] = {"", "@cpu", "@gpu", "@pixels"};
  const char* place = kPlaces[static_cast<int>(v.place)];
  return node(v.node).outputs > 1 ? fmt::format("%{}.{}{}", v.node, v.output, place)
                                  : fmt::format("%{}{}", v.node, place);
}

std::string Graph::return_text() const {
  std::string s = "return ";
  for (size_t i = 0; i < outputs_.size(); ++i) s += (i ? ", " : "") + value_text(outputs_[i]);
  return s + "\n";
}

}  // namespace penstock
