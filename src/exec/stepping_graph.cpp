// SPDX-License-Identifier: Apache-2.0
#include "exec/stepping_graph.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "batch/transfer.h"
#include "exec/executor.h"

namespace penstock {
// What a value is for the node that reads it.
struct SteppedRead {
  DType dtype = DType::none;
  int ndim = -1;
  Layout layout{};
  bool on_gpu = false;
  std::vector<std::pair<std::string, Value>> constants{};  // of a constant of the graph's own
  friend bool operator==(const SteppedRead&, const SteppedRead&) = default;
};

namespace {

// A node in a graph without others, with a source in the place of each value that it reads.
struct AloneGraph {
  Graph graph;
  std::map<ValueRef, int> sources;
  int node = -1;
};

Node source_of(const Batch& b) {
  Node n;
  n.op = "external_source";
  n.outputs = 1;
  n.types = {{b.dtype(), b.dtype() == DType::none ? -1 : b.ndim(), b.layout()}};
  if (b.device().kind == DeviceKind::gpu) n.device = "gpu";
  return n;
}

// The graph may have made constants of its own from those that the caller knows: they need no values.
ValueRef read_alone(AloneGraph& alone, const Graph& g, ValueRef v, const SteppedInputs& inputs) {
  const auto [found, is_new] = alone.sources.try_emplace(v, -1);
  if (!is_new) return {found->second, 0};
  const Node& from = g.node(v.node);
  const auto given = inputs.values.find(v);
  const bool constant = given == inputs.values.end() && fits_all(from);
  Node made = constant ? from : source_of(given == inputs.values.end() ? Batch() : given->second);
  made.name.clear();
  made.region = made.domain = 0;
  const int id = alone.graph.add(std::move(made));
  if (constant) alone.sources.erase(found);
  else found->second = id;
  return {id, constant ? v.output : 0};
}

AloneGraph alone_graph(const Graph& g, int id, const SteppedInputs& inputs, const PipelineOptions& o) {
  AloneGraph alone;
  alone.graph.set_seed(g.seed());
  Node n = g.node(id);
  for (ValueRef& v : n.inputs) v = read_alone(alone, g, v, inputs);
  for (auto& [name, v] : n.per_sample) v = read_alone(alone, g, v, inputs);
  if (n.draws_of < 0) n.draws_of = id;  // its random numbers are those of its number there
  if (!calls_back(n)) n.types.clear();  // the values say more than was known of them
  n.region = n.domain = 0;
  n.outputs_on_gpu.clear();
  n.on_gpu = false;
  alone.node = changes_samples(n.control) ? alone.graph.add_change(std::move(n)) : alone.graph.add(std::move(n));
  std::vector<ValueRef> outputs;
  for (int k = 0; k < alone.graph.node(alone.node).outputs; ++k) outputs.push_back({alone.node, k});
  alone.graph.set_outputs(std::move(outputs));
  for (const auto& [name, limit] :
       {std::pair{"max_pixels", o.max_pixels}, {"max_frames", o.max_frames}, {"max_samples", o.max_samples}})
    if (limit > 0) alone.graph.set_default(name, limit);
  return alone;
}

std::vector<SteppedRead> reads_of(const Graph& g, const Node& n, const SteppedInputs& inputs) {
  std::vector<SteppedRead> reads;
  for_each_read(n, [&](ValueRef v) {
    const auto given = inputs.values.find(v);
    if (given == inputs.values.end()) return reads.push_back({.constants = g.node(v.node).constants});
    const Batch& b = given->second;
    reads.push_back({b.dtype(), b.ndim(), b.layout(), b.device().kind == DeviceKind::gpu});
  });
  return reads;
}

bool same_node(const Node& a, const Node& b) {
  const auto facts = [](const Node& n) {
    return std::tie(n.op, n.name, n.device, n.seed, n.draws_of, n.user_line, n.inputs, n.constants, n.per_sample,
                    n.outputs, n.control);
  };
  const auto alike = [](const ValueType& s, const ValueType& t) {
    return s.dtype == t.dtype && s.ndim == t.ndim && s.layout == t.layout;
  };
  return facts(a) == facts(b) && std::equal(a.types.begin(), a.types.end(), b.types.begin(), b.types.end(), alike);
}

PipelineOptions options_of_node(PipelineOptions o) {
  o.threads = o.prefetch = 1;
  o.stepping = o.one_stream = true;
  o.memory = default_memory();
  o.entropy_index = "off";
  return o;
}

// The steps before it bring values, which are given.
size_t first_step(const Plan& plan) {
  size_t first = 0;
  while (first < plan.steps.size() && plan.steps[first].kind == Step::Kind::source) ++first;
  return first;
}

// While it lives, the node has its function, which may hold what holds the graph.
class Calls {
 public:
  Calls(Callbacks& callbacks, int node, const std::shared_ptr<Callback>& function)
      : callbacks_(callbacks), node_(function ? node : -1) {
    if (function) callbacks_.set(node_, function);
  }
  ~Calls() {
    if (node_ >= 0) callbacks_.set(node_, nullptr);
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

 private:
  Callbacks& callbacks_;
  const int node_;
};

SteppedOutputs outputs_of(const Executor& e, Iteration& it, int node) {
  SteppedOutputs out;
  out.left_out = it.skipped;
  if (it.skipped) return out;
  for (const ValueRef& v : e.plan.graph.outputs()) out.batches.push_back(it.values.at(v));
  const Node& n = e.plan.graph.node(node);
  if (!changes_samples(n.control)) return out;
  SampleSet& set = it.sets[n.domain];
  out.from = std::move(set.from), out.origin = std::move(set.origin);
  return out;
}

}  // namespace

struct SteppingGraph::Alone {
  const Node made_of;
  const uint64_t seed;
  const std::vector<SteppedRead> reads;
  const std::map<ValueRef, int> sources;
  const int node;
  Executor executor;
};

SteppingGraph::SteppingGraph(PipelineOptions options) : options_(options_of_node(std::move(options))) {}
SteppingGraph::~SteppingGraph() = default;

SteppingGraph::Alone& SteppingGraph::alone(const Graph& graph, int node, const SteppedInputs& inputs) {
  const Node& n = graph.node(node);
  std::vector<SteppedRead> reads = reads_of(graph, n, inputs);
  auto& known = made_[node];
  if (known && known->seed == graph.seed() && same_node(known->made_of, n) && known->reads == reads) return *known;
  AloneGraph made = alone_graph(graph, node, inputs, options_);
  known.reset(new Alone{
      n, graph.seed(), std::move(reads), std::move(made.sources), made.node, {std::move(made.graph), options_}});
  return *known;
}

SteppedOutputs SteppingGraph::run(const Graph& graph, int node, SteppedInputs inputs) {
  Alone& a = alone(graph, node, inputs);
  Executor& e = a.executor;
  const Calls calls(e.callbacks, a.node, inputs.function);
  const auto it = e.iterations.make();
  it->size = it->taken = static_cast<int>(inputs.origin.size());
  it->origin = std::move(inputs.origin);
  it->trips_key = inputs.trips_key;
  if (inputs.in_body || inputs.function) {
    Frame f;
    f.node = a.node, f.size = it->size;
    f.inside = std::move(inputs.places);
    it->frames.push_back(std::move(f));
  }
  it->jump = static_cast<int>(first_step(e.plan));
  e.iterations.scheduler.add(it, true);  // which gives it its stream
  for (const auto& [v, source] : a.sources) {
    const auto given = inputs.values.find(v);
    Batch b = given == inputs.values.end() ? Batch(DType::none, 0, {}, it->size) : std::move(given->second);
    if (b.device().kind == DeviceKind::gpu) b = taken_over(std::move(b), it->stream);
    it->values.at({source, 0}) = std::move(b);
  }
  e.iterations.take({});
  if (it->no_memory) throw std::bad_alloc();
  if (it->failure) throw *it->failure;
  return outputs_of(e, *it, a.node);
}

}  // namespace penstock
