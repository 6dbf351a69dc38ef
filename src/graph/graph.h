// SPDX-License-Identifier: Apache-2.0
// A pipeline as data: nodes and values, in nested regions, on domains. Built by Python or C++, saved as JSON.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "operator/bound_op.h"

namespace penstock {

// Where a value is read. A user's .cpu() and .gpu() set it for their result; the place pass sets it for all values.
enum class Place : int8_t {
  made,  // where its operator makes it
  cpu,   // copied there
  gpu,
  pixels,  // from a decoder on the GPU: the whole image, before the decoder's own window is cut from it
};

struct ValueRef {
  int node = -1;
  int output = 0;
  Place place = Place::made;
  friend bool operator==(const ValueRef&, const ValueRef&) = default;
  friend auto operator<=>(const ValueRef&, const ValueRef&) = default;
};

// Which samples a value has, and in which order: filter, expand, flatten and rebatch make new ones (graph/domains.cpp).
// A value without inputs is open: it belongs to the samples of the first value that it is used with.
struct Domain {
  int parent = -1;
  std::string kind = "root";
  std::string user_line;
  int same = -1;  // resolved to that domain
  bool open = false;
  int region = 0;     // the body that it was made in and does not leave
  int64_t least = 0;  // samples that fn.filter must keep
};
// A body: the root, or a branch or loop of a control-flow node. Its nodes can read the values of the enclosing regions.
struct Body {
  int parent = -1;
  int owner = -1;  // the node that it belongs to
  std::string kind = "root";
};

// A node of control flow is not an operator: the executor runs its bodies on a subset of the samples
// (exec/steps/frames.h).
//   branch    inputs: the condition. bodies: then, else. results: the values of `then`, then those of `else`; a
//             result with node -1 is not set on that side.
//   loop      inputs: the number of trips if `counted`, then the values before the loop. bodies: the test, which gets
//             the arguments, and in it the body. results: the arguments of the next trip. outputs: the
//             arguments after the last one.
//   argument  a loop's value in the current trip.
//   trip      the number of the current trip, from 0.
// a value without a type: a branch does not set it.
// These nodes output other samples than they get. outputs: one per value. In a body, the new samples stay inside, or
// they are results of a branch; the branch's output then has the samples of both sides (Node::output_domains).
//   filter    inputs: whether a sample stays, then the values. constants: min_batch, too_few.
//   expand    inputs: how many samples each one becomes (absent with the constant `k`), then the values.
//   flatten   inputs: values. Entries of the first axis become samples of the first `flattened` ones; others repeat.
//   rebatch   inputs: values, which only outputs show. constant: batch_size. In the root only.
enum class Control : int8_t { none, branch, loop, argument, trip, unset, filter, expand, flatten, rebatch };
inline bool changes_samples(Control c) { return c >= Control::filter; }

struct Node {
  int id = 0;             // order of creation: keys the random numbers, kept in JSON
  std::string op;         // name in the registry
  std::string name;       // unique; "__flip_3" if the user gave none
  std::string device;     // "cpu", "gpu", "mixed"; "": where its inputs are
  int64_t seed = -1;      // of the node's random numbers; negative: the pipeline's
  int draws_of = -1;      // whose random numbers it draws: the first node of a call with several inputs; -1: its own
  std::string user_line;  // "file.py:12"
  std::vector<ValueRef> inputs;
  std::vector<std::pair<std::string, Value>> constants;
  std::vector<std::pair<std::string, ValueRef>> per_sample;
  int outputs = 0;  // 0: determined by the operator
  int region = 0;
  int domain = 0;
  std::vector<int> output_domains;  // branch: of each output, if one has other samples than the node; else empty
  Control control = Control::none;
  std::vector<int> bodies;
  std::vector<ValueRef> results;
  ValueRef test;                       // loop: goes on while it is true; node -1: as long as it is counted
  std::vector<int> arguments;          // loop: nodes
  int trips = -1;                      // loop: node of the trip number, if it is used
  bool counted = false;                // loop
  int64_t most_trips = 1000000;        // loop: more are an error
  std::vector<std::string> variables;  // of the outputs, for messages
  std::vector<char> outputs_on_gpu;    // branch, loop: each by itself
  bool on_gpu = false;                 // its outputs belong on the GPU, by its device or its inputs
  std::vector<ValueType> types;        // of the outputs, as far as known before data flow
};

// The operator's info; for a node of control flow, an empty one.
const OpInfo& info_of(const Node& n);
// A constant of a node of control flow, or `otherwise` if it is not set.
int64_t constant_of(const Node& n, const char* name, int64_t otherwise);
// The number of its first inputs that decide; the others are values.
size_t deciding_inputs(const Node& n);
// "the variable 'x'", for messages.
std::string variable_of(const Node& n, size_t output);
inline bool mixes(const Node& n);
// All values that a node reads, including the results of its bodies.
template <class F> void for_each_read(const Node& n, F&& f) {
  if (!mixes(n))
    for (const auto& v : n.inputs) f(v);
  for (const auto& [name, v] : n.per_sample) f(v);
  for (const auto& v : n.results)
    if (v.node >= 0) f(v);
  if (n.test.node >= 0) f(n.test);
}

// Whether the node's last output is the size of its input: OpInfo::size_output, or what a map of points reads.
inline bool gives_size(const Node& n) {
  const OpInfo& info = info_of(n);
  return info.family == Family::stage && n.control == Control::none && n.outputs > info.outputs;
}

inline bool calls_back(const Node& n) { return info_of(n).calls_back(); }

// Whether the node's value is equal for all samples, trips and branches.
inline bool fits_all(const Node& n) { return n.inputs.empty() && n.per_sample.empty() && info_of(n).fits_all; }

// Whether the node mixes readers: its inputs are their outputs, and it reads for them.
inline bool mixes(const Node& n) {
  const OpInfo& info = info_of(n);
  return info.family == Family::source && info.max_inputs > 0 && info.loads_samples;
}

struct Planning;

inline constexpr int kMostOutputs = 1024;  // limit per node: a saved graph may contain any number

class Graph {
 public:
  Graph();
  // Checks names, counts and types and infers the types of the outputs; errors carry user_line. Returns the node's id.
  // `outputs` 0: determined by the operator.
  int add(Node node);
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int id) const { return nodes_.at(id); }
  const std::vector<Body>& regions() const { return regions_; }
  // Nodes that are added between these two calls belong to a body; end_region() returns the body, for the control node
  // that follows.
  int begin_region(const std::string& kind);
  int end_region();
  int current_region() const { return current_; }
  bool within(int region, int outer) const;  // equal to it or inside it
  // Control flow, checked: `then` and `otherwise` are values or ValueRef{} (not set).
  int add_branch(ValueRef condition, int then_region, int else_region, std::vector<ValueRef> then,
                 std::vector<ValueRef> otherwise, std::vector<std::string> variables, const std::string& user_line);
  int add_argument(ValueRef first, const std::string& user_line);  // in the loop's outer body
  int add_trip(DType dtype, const std::string& user_line);
  int add_unset(const std::string& user_line);
  int add_loop(Node loop);
  int add_change(Node change);  // filter, expand, flatten, rebatch
  int domain_of(ValueRef v) const {
    const Node& n = nodes_.at(v.node);
    return settled(n.output_domains.empty() ? n.domain : n.output_domains.at(v.output));
  }
  int settled(int domain) const {
    while (domains_.at(domain).same >= 0) domain = domains_[domain].same;
    return domain;
  }
  const std::vector<Domain>& domains() const { return domains_; }
  // All outputs must have the same samples, unless `mixed`.
  void set_outputs(std::vector<ValueRef> outputs, bool mixed = true);
  const std::vector<ValueRef>& outputs() const { return outputs_; }
  void set_seed(uint64_t seed) { seed_ = seed; }
  // The default for every operator that has an argument of this name. It is not saved with the graph.
  void set_default(const std::string& argument, Value value) { defaults_.emplace_back(argument, std::move(value)); }
  uint64_t seed() const { return seed_; }
  DrawKey draws_of(const Node& n) const;
  const ValueType& type(ValueRef v) const { return nodes_.at(v.node).types.at(v.output); }
  bool on_gpu(ValueRef v) const {
    if (v.place != Place::made) return v.place != Place::cpu;
    const Node& n = node(v.node);
    return n.outputs_on_gpu.empty() ? n.on_gpu : n.outputs_on_gpu.at(v.output) != 0;
  }
  int find(const std::string& name) const;  // -1 if there is none

  // Random operators that move pixels also output the size of what they read: the log of steps needs it.
  void give_sizes();

  // One line per node: "%3: uint8 HWC = flip(%2) horizontal=%1  # train.py:12".
  std::string text() const;
  std::string node_text(int id, bool types = true) const;  // the same line without the user's line
  std::string return_text() const;                         // the last line of text()
  std::string value_text(ValueRef v) const;  // "%3", "%0.1" if the node has several outputs, "%3@gpu" if it is moved
  std::string to_json() const;
  static Graph from_json(const std::string& text);

  // Arguments of a node as bind_op wants them; per_sample(ref) gives the batch of a value.
  std::vector<Argument> arguments(const Node& n, const std::function<const Batch*(ValueRef)>& per_sample) const;

 private:
  friend void place(Planning& p);  // rewrites the nodes' devices and references
  friend void settle_domains(Planning& p);
  friend class NewControl;  // a node of control flow that is being added
  bool has_value(ValueRef v) const;
  void check_visible(ValueRef v, int region) const;
  int add_control(Node node);
  void check_change(Node& n);
  // Unifies the domains of all that the node reads and of what is in its bodies; constants adapt.
  void join_domains(Node& n);
  void join_outputs(std::vector<ValueRef>& outputs, bool mixed);
  ValueRef constant_for(ValueRef v, int domain, int region);
  int add_open_domain();
  bool made_within(int domain, int body) const;  // by a node in the body
  bool may_become(int open, int domain) const;
  void check_loop_domains(const Node& n) const;
  void find_branch_domains(Node& n);
  bool within_domain(int domain, int outer) const;
  std::string shown_domain(int domain, int node) const;
  std::vector<Node> nodes_;
  std::vector<Body> regions_;
  int current_ = 0;
  std::vector<Domain> domains_;
  std::vector<ValueRef> outputs_;
  uint64_t seed_ = 0;
  std::vector<std::pair<std::string, Value>> defaults_;
};

std::string to_text(const ValueType& t);  // "uint8 HWC"
// Whether a value is names of files that a reader hands out, until somebody reads them.
bool names_files(const Graph& g, ValueRef v);

// A reader that a node mixes with others, and which of its outputs the node forwards (graph/mixing.cpp).
struct MixedReader {
  int node;
  std::vector<int> outputs;
};
// The readers of a mixing node, in the order of its inputs. Error (argument, type), with names and lines, if they do
// not match.
std::vector<MixedReader> mixed_readers(const Graph& g, const Node& n);
// The types of the node's outputs, as far as its readers know them.
std::vector<ValueType> mixed_types(const Graph& g, const Node& n);
// Readers that belong to a mix: from reader to mixing node.
std::map<int, int> owners_of_readers(const Graph& g);

}  // namespace penstock
