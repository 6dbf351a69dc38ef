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

// A node of control flow that is being added: checks it, and sets its outputs and their types.
class NewControl {
 public:
  NewControl(Graph& g, Node& n) : g_(g), n_(n) {}

  void check() {
    n_.id = static_cast<int>(g_.nodes_.size());
    n_.op = kNames[static_cast<int>(n_.control)];
    if (n_.name.empty()) n_.name = fmt::format("__{}_{}", n_.op, n_.id);
    if (n_.region < 0 || n_.region >= static_cast<int>(g_.regions_.size())) bad_argument("a body does not exist");
    for (const auto& v : n_.inputs) check_value(v, n_.region);
    clear_members_of_other_kinds();
    if (changes_samples(n_.control)) g_.check_change(n_);
    else if (n_.control == Control::branch) check_branch();
    else if (n_.control == Control::loop) check_loop();
    else check_value_in_a_loop();
  }

 private:
  // A saved pipeline may contain anything.
  void clear_members_of_other_kinds() {
    const bool change = changes_samples(n_.control);
    n_.outputs_on_gpu.clear();
    n_.per_sample.clear();
    if (!change) n_.constants.clear();
    if (n_.control != Control::loop) n_.test = {}, n_.arguments.clear(), n_.trips = -1;
    if (n_.control != Control::loop && n_.control != Control::branch) {
      n_.results.clear(), n_.bodies.clear();
      if (!change) n_.inputs.clear();
    }
  }

  void check_body(int body, int parent) const {
    if (body <= 0 || body >= static_cast<int>(g_.regions_.size()) || g_.regions_[body].parent != parent ||
        g_.regions_[body].owner >= 0)
      bad_argument("a body does not belong here");
  }
  void check_value(ValueRef v, int region) const {
    if (!g_.has_value(v)) bad_argument("the value does not exist: output {} of node {}", v.output, v.node);
    g_.check_visible(v, region);
  }

  void check_branch() {
    if (n_.inputs.size() != 1 || n_.bodies.size() != 2 || n_.results.size() % 2)
      bad_argument("a condition has no bodies");
    const size_t count = n_.results.size() / 2;
    for (int b : n_.bodies) check_body(b, n_.region);
    for (size_t k = 0; k < n_.results.size(); ++k)
      if (n_.results[k].node >= 0) check_value(n_.results[k], n_.bodies[k / count]);
    n_.types.clear();
    for (size_t k = 0; k < count; ++k) {
      const ValueRef a = n_.results[k], b = n_.results[count + k];
      n_.types.push_back(type_of_both_sides(k, a, b));
      n_.outputs_on_gpu.push_back((a.node >= 0 && g_.on_gpu(a)) || (b.node >= 0 && g_.on_gpu(b)));
    }
    n_.outputs = static_cast<int>(count);
  }
  ValueType type_of_both_sides(size_t k, ValueRef a, ValueRef b) const {
    const ValueType ta = a.node < 0 ? ValueType{} : g_.type(a), tb = b.node < 0 ? ValueType{} : g_.type(b);
    if (!agree(ta, tb))
      bad_type(
          "{} is {} where the condition is true and {} where it is false; both must have one type, "
          "number of dimensions and layout{}",
          variable_of(n_, k), shown(ta), shown(tb),
          ta.dtype == tb.dtype ? "" : fmt::format("; fn.cast(x, dtype='{}') converts", name_of(tb.dtype)));
    return joined(ta, tb);
  }

  void check_loop() {
    if (n_.bodies.size() != 2 || n_.inputs.size() != n_.arguments.size() + n_.counted ||
        n_.results.size() != n_.arguments.size() || (!n_.counted && n_.test.node < 0))
      bad_argument("a loop has no bodies");
    if (n_.most_trips < 1) bad_argument("the limit of a loop's trips must be positive, got {}", n_.most_trips);
    check_body(n_.bodies[0], n_.region);
    check_body(n_.bodies[1], n_.bodies[0]);
    if (n_.test.node >= 0) check_value(n_.test, n_.bodies[0]);
    n_.types.clear();
    for (size_t k = 0; k < n_.results.size(); ++k) {
      n_.types.push_back(type_of_variable(k));
      Node& argument = g_.nodes_[n_.arguments[k]];
      if (!known(argument.types[0])) argument.types[0] = n_.types.back();
      n_.outputs_on_gpu.push_back(argument.on_gpu);
    }
    if (n_.trips >= 0 && (!g_.has_value({n_.trips, 0}) || g_.node(n_.trips).control != Control::trip))
      bad_argument("the node of a loop's trip number does not exist");
    n_.outputs = static_cast<int>(n_.results.size());
  }
  ValueType type_of_variable(size_t k) const {
    const ValueRef argument{n_.arguments[k], 0};
    check_value(n_.results[k], n_.bodies[1]);
    if (!g_.has_value(argument) || g_.node(argument.node).control != Control::argument ||
        g_.node(argument.node).region != n_.bodies[0])
      bad_argument("a loop has the values of another node");
    const ValueType before = g_.type(n_.inputs[k + n_.counted]), after = g_.type(n_.results[k]);
    if (!agree(before, g_.type(argument)))  // from a saved pipeline
      bad_type("{} is {} before the loop and {} in it", variable_of(n_, k), shown(before), shown(g_.type(argument)));
    if (!agree(before, after))
      bad_type(
          "{} is {} before the loop and {} after a trip; it must keep its type, number of dimensions "
          "and layout",
          variable_of(n_, k), shown(before), shown(after));
    return joined(before, after);
  }

  void check_value_in_a_loop() {
    n_.outputs = 1;
    if (n_.types.size() != 1) bad_argument("a loop's value has no type");
    const DType type = n_.types[0].dtype;
    if (n_.control == Control::trip && type != DType::int32 && type != DType::int64)
      bad_type("a trip's number must be int32 or int64, got {}", name_of(type));
  }

  Graph& g_;
  Node& n_;
};

int Graph::add_control(Node n) {
  try {
    NewControl(*this, n).check();
    n.output_domains.clear();
    if (!changes_samples(n.control)) join_domains(n);
    if (n.control == Control::branch) find_branch_domains(n);
    n.id = static_cast<int>(nodes_.size());  // constants may have been inserted before it
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
