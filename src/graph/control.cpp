// SPDX-License-Identifier: Apache-2.0
// Nodes of control flow and their bodies: what they may read, and the types of their values where branches meet.
#include <algorithm>

#include "graph/graph.h"

namespace penstock {
namespace {

constexpr const char* kNames[] = {"",      "if",     "loop",   "argument",      "trip",
                                  "unset", "filter", "expand", "flatten_batch", "rebatch"};

const OpInfo& control_info() {
  static const OpInfo info = [] {
    OpInfo i;
    i.name = "control";
    i.family = Family::whole;
    i.hidden = true;
    return i;
  }();
  return info;
}

// Nothing is known about a value that is not set.
bool known(const ValueType& t) { return t.dtype != DType::none || t.ndim >= 0; }

// The type of a value that comes from both; each side fills in what the other does not know.
ValueType joined(const ValueType& a, const ValueType& b) {
  ValueType t = a;
  if (t.dtype == DType::none) t.dtype = b.dtype;
  if (t.ndim < 0) t.ndim = b.ndim;
  if (t.layout.empty() && (a.ndim < 0 || b.ndim < 0 || a.ndim == b.ndim)) t.layout = b.layout;
  return t;
}

bool agree(const ValueType& a, const ValueType& b) {
  return (a.dtype == DType::none || b.dtype == DType::none || a.dtype == b.dtype) &&
         (a.ndim < 0 || b.ndim < 0 || a.ndim == b.ndim) &&
         (a.layout.empty() || b.layout.empty() || a.layout == b.layout);
}

std::string shown(const ValueType& t) {
  std::string s = t.dtype == DType::none ? "of a type not known yet" : name_of(t.dtype);
  if (t.ndim >= 0) s += fmt::format(" with {} dimension{}", t.ndim, t.ndim == 1 ? "" : "s");
  if (!t.layout.empty()) s += " " + t.layout.str();
  return s;
}

}  // namespace

std::string variable_of(const Node& n, size_t output) {
  if (output >= n.variables.size() || n.variables[output].empty()) return fmt::format("value {}", output);
  const std::string& name = n.variables[output];
  return name.find(' ') == std::string::npos ? "the variable '" + name + "'" : name;  // "the returned value"
}

const OpInfo& info_of(const Node& n) { return n.control == Control::none ? get_op(n.op) : control_info(); }

int Graph::begin_region(const std::string& kind) {
  Body b;
  b.parent = current_;
  b.kind = kind;
  regions_.push_back(std::move(b));
  return current_ = static_cast<int>(regions_.size()) - 1;
}

int Graph::end_region() {
  const int ended = current_;
  if (ended == 0) bad_argument("no body has begun");
  current_ = regions_[ended].parent;
  return ended;
}

bool Graph::within(int region, int outer) const {
  while (region > outer) region = regions_.at(region).parent;
  return region == outer;
}

void Graph::check_visible(ValueRef v, int region) const {
  const Node& n = node(v.node);
  if (!within(region, n.region))
    bad_argument(
        "a value that was made inside a condition or loop{} is used outside it: assign it to a variable "
        "there, or return it from the body",
        n.user_line.empty() ? "" : " (" + n.user_line + ")");
}

int Graph::add_control(Node n) {
  try {
    n.id = static_cast<int>(nodes_.size());
    n.op = kNames[static_cast<int>(n.control)];
    if (n.name.empty()) n.name = fmt::format("__{}_{}", n.op, n.id);
    if (n.region < 0 || n.region >= static_cast<int>(regions_.size())) bad_argument("a body does not exist");
    const auto check_body = [&](int body, int parent) {
      if (body <= 0 || body >= static_cast<int>(regions_.size()) || regions_[body].parent != parent ||
          regions_[body].owner >= 0)
        bad_argument("a body does not belong here");
    };
    const auto check_value = [&](ValueRef v, int region) {
      if (!has_value(v)) bad_argument("the value does not exist: output {} of node {}", v.output, v.node);
      check_visible(v, region);
    };
    for (const auto& v : n.inputs) check_value(v, n.region);
    const auto variable = [&](size_t k) { return variable_of(n, k); };
    std::vector<ValueType> types;
    n.outputs_on_gpu.clear();
    const bool change = changes_samples(n.control);
    n.per_sample.clear();  // a saved pipeline may contain anything
    if (!change) n.constants.clear();
    if (n.control != Control::loop) n.test = {}, n.arguments.clear(), n.trips = -1;
    if (n.control != Control::loop && n.control != Control::branch) {
      n.results.clear(), n.bodies.clear();
      if (!change) n.inputs.clear();
    }
    if (change) {
      check_change(n);
      types = n.types;
    } else if (n.control == Control::branch) {
      if (n.inputs.size() != 1 || n.bodies.size() != 2 || n.results.size() % 2)
        bad_argument("a condition has no bodies");
      const size_t count = n.results.size() / 2;
      for (int b : n.bodies) check_body(b, n.region);
      for (size_t k = 0; k < n.results.size(); ++k)
        if (n.results[k].node >= 0) check_value(n.results[k], n.bodies[k / count]);
      for (size_t k = 0; k < count; ++k) {
        const ValueRef a = n.results[k], b = n.results[count + k];
        const ValueType ta = a.node < 0 ? ValueType{} : type(a), tb = b.node < 0 ? ValueType{} : type(b);
        if (!agree(ta, tb))
          bad_type(
              "{} is {} where the condition is true and {} where it is false; both must have one type, "
              "number of dimensions and layout{}",
              variable(k), shown(ta), shown(tb),
              ta.dtype == tb.dtype ? "" : fmt::format("; fn.cast(x, dtype='{}') converts", name_of(tb.dtype)));
        types.push_back(joined(ta, tb));
        n.outputs_on_gpu.push_back((a.node >= 0 && on_gpu(a)) || (b.node >= 0 && on_gpu(b)));
      }
      n.outputs = static_cast<int>(count);
    } else if (n.control == Control::loop) {
      if (n.bodies.size() != 2 || n.inputs.size() != n.arguments.size() + n.counted ||
          n.results.size() != n.arguments.size() || (!n.counted && n.test.node < 0))
        bad_argument("a loop has no bodies");
      if (n.most_trips < 1) bad_argument("the limit of a loop's trips must be positive, got {}", n.most_trips);
      check_body(n.bodies[0], n.region);
      check_body(n.bodies[1], n.bodies[0]);
      if (n.test.node >= 0) check_value(n.test, n.bodies[0]);
      for (size_t k = 0; k < n.results.size(); ++k) {
        check_value(n.results[k], n.bodies[1]);
        if (!has_value({n.arguments[k], 0}) || node(n.arguments[k]).control != Control::argument ||
            node(n.arguments[k]).region != n.bodies[0])
          bad_argument("a loop has the values of another node");
        const ValueType before = type(n.inputs[k + n.counted]), after = type(n.results[k]);
        if (!agree(before, type({n.arguments[k], 0})))  // from a saved pipeline
          bad_type("{} is {} before the loop and {} in it", variable(k), shown(before),
                   shown(type({n.arguments[k], 0})));
        if (!agree(before, after))
          bad_type(
              "{} is {} before the loop and {} after a trip; it must keep its type, number of dimensions "
              "and layout",
              variable(k), shown(before), shown(after));
        types.push_back(joined(before, after));
        if (!known(nodes_[n.arguments[k]].types[0])) nodes_[n.arguments[k]].types[0] = types.back();
        n.outputs_on_gpu.push_back(node(n.arguments[k]).on_gpu);
      }
      if (n.trips >= 0 && (!has_value({n.trips, 0}) || node(n.trips).control != Control::trip))
        bad_argument("the node of a loop's trip number does not exist");
      n.outputs = static_cast<int>(n.results.size());
    } else {
      n.outputs = 1;
      types = n.types;
      if (types.size() != 1) bad_argument("a loop's value has no type");
      if (n.control == Control::trip && types[0].dtype != DType::int32 && types[0].dtype != DType::int64)
        bad_type("a trip's number must be int32 or int64, got {}", name_of(types[0].dtype));
    }
    n.types = std::move(types);
    n.output_domains.clear();
    if (!change) join_domains(n);
    if (n.control == Control::branch) find_branch_domains(n);
    n.id = static_cast<int>(nodes_.size());
    for (int b : n.bodies) regions_[b].owner = n.id;
    for (char there : n.outputs_on_gpu) n.on_gpu |= there != 0;
  } catch (Error& e) {
    if (e.op.empty()) e.op = n.op;
    e.user_line = n.user_line;
    throw;
  }
  nodes_.push_back(std::move(n));
  return nodes_.back().id;
}

int Graph::add_branch(ValueRef condition, int then_region, int else_region, std::vector<ValueRef> then,
                      std::vector<ValueRef> otherwise, std::vector<std::string> variables,
                      const std::string& user_line) {
  Node n;
  n.control = Control::branch;
  n.region = current_;
  n.inputs = {condition};
  n.bodies = {then_region, else_region};
  n.results = std::move(then);
  if (n.results.size() != otherwise.size())
    bad_argument("the branches of a condition return different numbers of values");
  n.results.insert(n.results.end(), otherwise.begin(), otherwise.end());
  n.variables = std::move(variables);
  n.user_line = user_line;
  return add_control(std::move(n));
}

int Graph::add_argument(ValueRef first, const std::string& user_line) {
  if (!has_value(first)) bad_argument("the first value of a loop's variable does not exist");
  Node n;
  n.control = Control::argument;
  n.region = current_;
  n.on_gpu = on_gpu(first);
  n.domain = domain_of(first);
  n.types = {type(first)};
  n.user_line = user_line;
  return add_control(std::move(n));
}

int Graph::add_trip(DType dtype, const std::string& user_line) {
  Node n;
  n.control = Control::trip;
  n.region = current_;
  n.types = {{dtype, 0, {}}};
  n.user_line = user_line;
  return add_control(std::move(n));
}

int Graph::add_unset(const std::string& user_line) {
  Node n;
  n.control = Control::unset;
  n.region = current_;
  n.types = {{}};
  n.user_line = user_line;
  return add_control(std::move(n));
}

int Graph::add_loop(Node loop) {
  loop.control = Control::loop;
  loop.region = current_;
  return add_control(std::move(loop));
}

}  // namespace penstock
