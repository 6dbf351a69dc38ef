// SPDX-License-Identifier: Apache-2.0
// Graph and Pipeline for penstock/_pipeline/pipeline.py, which has their Python interface.
#include "exec/pipeline.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <thread>

#include "base/begin_thread.h"
#include "base/clock.h"
#include "base/error_of.h"
#include "base/notice.h"
#include "bindings.h"
#include "gil.h"
#include "graph/passes.h"
#include "interop.h"
#include "node_ref.h"
#include "pipeline_statistics.h"
#include "plan_steps.h"
#include "user_code.h"

namespace penstock::python {
namespace {

void add_argument(Node& to, const std::string& name, nb::handle value) {
  const ArgInfo* info = get_op(to.op).arg(name);
  if (info && kind_of(value.ptr()) == Kind::node) {
    to.per_sample.emplace_back(name, nb::cast<const NodeRef&>(value).value());
  } else {
    to.constants.emplace_back(name, info ? value_from(value.ptr(), *info) : Value{});  // unknown: add() reports it
  }
}

int add_node(Graph& g, const std::string& op, nb::list inputs, nb::dict arguments, const std::string& name,
             int64_t seed, const std::string& user_line, int outputs, nb::list types, const std::string& device,
             int draws_of) {
  Node n;
  n.region = g.current_region();
  n.op = op, n.name = name, n.seed = seed, n.user_line = user_line, n.outputs = outputs, n.device = device;
  n.draws_of = draws_of;
  try {
    for (nb::handle i : inputs) n.inputs.push_back(nb::cast<const NodeRef&>(i).value());
    for (auto [key, value] : arguments)
      if (!value.is_none()) add_argument(n, nb::cast<std::string>(key), value);
    for (nb::handle t : types) {
      nb::tuple x = nb::cast<nb::tuple>(t);
      n.types.push_back({static_cast<DType>(nb::cast<int>(x[0])), nb::cast<int>(x[1]), nb::cast<std::string>(x[2])});
    }
    if (find_op(op) && fits_all(n)) n.region = 0;
  } catch (Error& e) {
    if (e.op.empty()) e.op = op;
    e.user_line = user_line;
    throw;
  }
  // A reader looks into its files for the types of its outputs; the client of remote storage is Python, on its threads.
  std::optional<ReleaseGil> release;
  if (const OpInfo* info = find_op(op); info && info->loads_samples) release.emplace();
  return g.add(std::move(n));
}

std::vector<ValueRef> values_of(nb::list nodes) {  // None: not set
  std::vector<ValueRef> values;
  for (nb::handle v : nodes) values.push_back(v.is_none() ? ValueRef{} : nb::cast<const NodeRef&>(v).value());
  return values;
}

std::vector<std::string> texts_of(nb::list texts) {
  std::vector<std::string> list;
  for (nb::handle t : texts) list.push_back(nb::cast<std::string>(t));
  return list;
}

int add_loop(Graph& g, nb::object count, nb::list first, nb::list arguments, nb::object trips, nb::object test,
             nb::list next, int outer, int inner, nb::list variables, int64_t most_trips,
             const std::string& user_line) {
  Node n;
  n.counted = !count.is_none();
  if (n.counted) n.inputs.push_back(nb::cast<const NodeRef&>(count).value());
  for (const ValueRef& v : values_of(first)) n.inputs.push_back(v);
  for (const ValueRef& v : values_of(arguments)) n.arguments.push_back(v.node);
  if (!trips.is_none()) n.trips = nb::cast<const NodeRef&>(trips).node;
  if (!test.is_none()) n.test = nb::cast<const NodeRef&>(test).value();
  n.results = values_of(next);
  n.bodies = {outer, inner};
  n.variables = texts_of(variables), n.most_trips = most_trips, n.user_line = user_line;
  return g.add_loop(std::move(n));
}

int add_change(Graph& g, const std::string& kind, nb::list inputs, nb::dict constants, const std::string& user_line) {
  static constexpr const char* kKinds[] = {"filter", "expand", "flatten_batch", "rebatch"};
  Node n;
  n.control = static_cast<Control>(static_cast<int>(Control::filter) +
                                   (std::find(std::begin(kKinds), std::end(kKinds), kind) - std::begin(kKinds)));
  n.inputs = values_of(inputs), n.user_line = user_line;
  for (auto [key, value] : constants) {
    const auto name = nb::cast<std::string>(key);
    if (nb::isinstance<nb::str>(value)) n.constants.emplace_back(name, nb::cast<std::string>(value));
    else n.constants.emplace_back(name, nb::cast<int64_t>(value));
  }
  return g.add_change(std::move(n));
}

constexpr auto kPatience = std::chrono::milliseconds(500);

void end_pipeline(std::unique_ptr<Pipeline> pipeline) {
  if (!pipeline) return;
  ReleaseGil release;  // its threads may wait for the GIL before they can end
  // A thread cannot wait for its own end, and nobody can wait for a blocked function of the program.
  const bool ended = InsideUserCode::depth == 0 && pipeline->stop(kPatience);
  if (ended) {
    pipeline.reset();
    return;
  }
  auto* left = pipeline.release();
  if (error_of([&] { begin_thread([left] { delete left; }).detach(); })) return;  // without a thread for it, it leaks
}

// A signal's handler runs while run() waits; its exception ends the wait.
void poll_signals() {
  HoldGil gil;
  if (PyErr_CheckSignals() < 0) throw nb::python_error();
}

struct PythonPipeline {
  std::unique_ptr<Pipeline> pipeline;
  std::vector<std::shared_ptr<RaisedErrors>> raised;  // of the user's code in the pipeline
  std::vector<LeftOut> left_out;                      // of the last batch
  int inside = 0;                                     // calls that are using it; guarded by the GIL
  std::thread::id user;                               // the thread of the first of them
  std::atomic<bool> closing{false};
  int64_t lock_ns = 0;  // calls waited for Python's lock when they had what they wanted; guarded by it

  PipelineStatistics statistics() {
    PipelineStatistics s = get().statistics();
    s.loop_lock_ns = lock_ns;
    return s;
  }
  ~PythonPipeline() { close(); }
  // If another thread is in run(), that call ends with an error; if it does not return in time, it closes the pipeline
  // itself.
  void close() {
    closing = true;
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (inside > 0 && user != std::this_thread::get_id() && std::chrono::steady_clock::now() < until) {
      const ReleaseGil release;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (inside == 0) finish();
  }
  void finish() {
    end_pipeline(std::move(pipeline));
    raised.clear();
  }
  Pipeline& get() {
    if (!pipeline || closing) bad_argument("the pipeline is closed");
    return *pipeline;
  }
  std::function<void()> poll() {
    return [this] {
      poll_signals();
      if (closing) bad_argument("the pipeline was closed while a batch was requested");
    };
  }
  template <class F> auto guarded(F&& f) -> decltype(f()) {
    struct Inside {
      explicit Inside(PythonPipeline& of) : p(of) {
        if (p.inside++ == 0) p.user = std::this_thread::get_id();
      }
      ~Inside() {
        if (--p.inside == 0 && p.closing) p.finish();
      }
      PythonPipeline& p;
    } const use(*this);
    struct Restored {
      ~Restored() { of.lock_ns += clock_ns() - begin; }
      PythonPipeline& of;
      int64_t begin = 0;
    };
    try {
      Restored restored{*this};
      ReleaseGil release;
      struct Done {
        ~Done() { of.begin = clock_ns(); }
        Restored& of;
      } const done{restored};
      return f();
    } catch (const Error& e) {
      for (auto& errors : raised)
        if (auto error = errors->take(e.what())) throw nb::python_error(std::move(*error));
      throw;
    }
  }
};

// (epoch, position, index) of each sample of a batch; tuples are created only on request.
struct Origins {
  std::vector<SampleOrigin> all;
  std::vector<std::shared_ptr<const StepLog>> logs;
  size_t place(int64_t i) const {
    if (i < 0) i += static_cast<int64_t>(all.size());
    if (i < 0 || i >= static_cast<int64_t>(all.size())) throw nb::index_error();
    return static_cast<size_t>(i);
  }
  nb::tuple at(int64_t i) const {
    const SampleOrigin& o = all[place(i)];
    return nb::make_tuple(o.epoch, o.position, o.index);
  }
  // (epoch, position) of what the sample drew, and its file.
  nb::tuple draws(int64_t i) const {
    const SampleOrigin& o = all[place(i)];
    const auto [epoch, position] = o.draws();
    return nb::make_tuple(epoch, position, readable(o.path));
  }
  nb::object steps(int64_t i) const;
};

// (node, trips, child, [(argument, element type, whether it is a list, numbers)]) of each step; None: none is logged.
nb::object Origins::steps(int64_t i) const {
  const size_t k = place(i);
  if (logs.empty() || !logs[k]) return nb::none();
  const SampleOrigin& o = all[k];
  nb::list made;
  for (const LoggedStep& s : *logs[k]) {
    if (s.sample != o.number || (s.child && o.child && s.child != o.child)) continue;
    nb::list numbers;
    for (const LoggedNumbers& n : s.numbers)
      numbers.append(nb::make_tuple(n.argument, static_cast<int>(n.dtype), n.list, n.values));
    made.append(nb::make_tuple(s.node, s.trips, s.child, numbers));
  }
  return made;
}

nb::tuple handed_out(PythonPipeline& p, auto&& make) {
  p.left_out.clear();
  PipelineOutput out = p.guarded(make);
  p.left_out = std::move(out.left_out);
  nb::list batches;
  for (auto& b : out.batches) batches.append(nb::cast(std::move(b)));
  return nb::make_tuple(nb::tuple(batches), Origins{std::move(out.origin), std::move(out.logs)},
                        nb::make_tuple(out.taken, out.source_batches, out.end_of_epoch));
}

nb::dict dict_of(const PipelineOptions& o) {
  nb::dict d;
  d["batch_size"] = o.batch_size, d["num_threads"] = o.threads, d["prefetch_queue_depth"] = o.prefetch;
  d["memory_limit"] = o.memory_limit, d["error_budget"] = o.error_budget, d["uneven"] = o.uneven;
  d["entropy_index"] = o.entropy_index, d["set_affinity"] = o.set_affinity;
  d["max_pixels"] = o.max_pixels, d["max_frames"] = o.max_frames, d["max_samples"] = o.max_samples;
  d["device_id"] = o.device == kDefaultGpu ? nb::object(nb::none()) : nb::object(nb::int_(o.device));
  d["on_error"] = o.on_error == OnError::raise ? "raise" : o.on_error == OnError::skip ? "skip" : "replace";
  d["late"] = o.late == Late::swap ? "swap" : "wait";
  d["epoch_mode"] = o.epoch_mode == EpochMode::stream    ? "stream"
                    : o.epoch_mode == EpochMode::partial ? "partial"
                    : o.epoch_mode == EpochMode::drop    ? "drop"
                                                         : "even";
  return d;
}

template <class E>
E one_of(const std::string& what, const std::string& given, std::initializer_list<const char*> names) {
  int i = 0;
  for (const char* n : names) {
    if (given == n) return static_cast<E>(i);
    ++i;
  }
  std::vector<std::string> known(names.begin(), names.end());
  bad_argument("{} must be one of '{}', got '{}'{}", what, fmt::join(known, "', '"), given, did_you_mean(given, known));
}

EpochMode epoch_mode(const std::string& s) {
  return one_of<EpochMode>("epoch_mode", s, {"stream", "partial", "drop", "even"});
}

nb::object meta_of(const std::optional<ReaderMeta>& m) {
  if (!m) return nb::none();
  nb::dict d;
  d["epoch_size"] = m->epoch_size, d["epoch_size_padded"] = m->epoch_size_padded;
  d["number_of_shards"] = m->number_of_shards, d["shard_id"] = m->shard_id;
  d["pad_last_batch"] = static_cast<int>(m->pad_last_batch), d["stick_to_shard"] = static_cast<int>(m->stick_to_shard);
  if (m->deals_batches) d["deal"] = "batch";
  if (m->batches >= 0) d["batches"] = m->batches, d["real_share"] = m->real_share;
  return d;
}

using P = PythonPipeline;

void bind_values(nb::module_& m) {
  nb::class_<Origins>(m, "Origins", "(epoch, position, index) of each sample of a batch.")
      .def("__len__", [](const Origins& o) { return o.all.size(); })
      .def("__getitem__", &Origins::at)
      .def("draws", &Origins::draws)
      .def("steps", &Origins::steps);
  nb::class_<NodeRef>(m, "NodeRef", nb::dynamic_attr())
      .def(
          "__init__",
          [](NodeRef* self, int node, int output, const std::string& device) {
            new (self) NodeRef{node, output, device.empty() ? Place::made : device == "gpu" ? Place::gpu : Place::cpu};
          },
          nb::arg("node"), nb::arg("output"), nb::arg("device") = "")
      .def_rw("node", &NodeRef::node, "The number of the operator.")
      .def_ro("output", &NodeRef::output, "The number of the output.");
}

void bind_building(nb::class_<Graph>& c) {
  c.def("add", &add_node, nb::arg("op"), nb::arg("inputs"), nb::arg("arguments"), nb::arg("name") = "",
        nb::arg("seed") = -1, nb::arg("user_line") = "", nb::arg("outputs") = 0, nb::arg("types") = nb::list(),
        nb::arg("device") = "", nb::arg("draws_of") = -1)
      .def("begin_region", &Graph::begin_region)
      .def("end_region", &Graph::end_region)
      .def("add_branch",
           [](Graph& g, const NodeRef& condition, int then_region, int else_region, nb::list then, nb::list otherwise,
              nb::list variables, const std::string& user_line) {
             return g.add_branch(condition.value(), then_region, else_region, values_of(then), values_of(otherwise),
                                 texts_of(variables), user_line);
           })
      .def("add_argument", [](Graph& g, const NodeRef& first,
                              const std::string& user_line) { return g.add_argument(first.value(), user_line); })
      .def("add_trip", [](Graph& g, int dtype,
                          const std::string& user_line) { return g.add_trip(static_cast<DType>(dtype), user_line); })
      .def("add_unset", &Graph::add_unset)
      .def("add_loop", &add_loop, nb::arg("count").none(), nb::arg("first"), nb::arg("arguments"),
           nb::arg("trips").none(), nb::arg("test").none(), nb::arg("next"), nb::arg("outer"), nb::arg("inner"),
           nb::arg("variables"), nb::arg("most_trips"), nb::arg("user_line"))
      .def("add_change", &add_change)
      .def("set_seed", &Graph::set_seed)
      .def(
          "set_outputs",
          [](Graph& g, nb::list outputs, bool mixed) {
            std::vector<ValueRef> refs;
            for (nb::handle o : outputs) refs.push_back(nb::cast<const NodeRef&>(o).value());
            g.set_outputs(std::move(refs), mixed);
          },
          nb::arg("outputs"), nb::arg("mixed") = true);
}

void bind_facts_of_nodes(nb::class_<Graph>& c) {
  c.def("draws_of",
        [](const Graph& g, int node) {
          const DrawKey key = g.draws_of(g.node(node));
          return nb::make_tuple(key.seed, key.node);
        })
      .def("region_of", [](const Graph& g, const NodeRef& r) { return g.node(r.node).region; })
      .def("domain_of", [](const Graph& g, const NodeRef& r) { return g.domain_of({r.node, r.output}); })
      .def("on_gpu", [](const Graph& g, const NodeRef& r) { return g.on_gpu(r.value()); })
      .def("outputs_of", [](const Graph& g, int node) { return g.node(node).outputs; })
      .def("type_of",
           [](const Graph& g, const NodeRef& r) {
             const ValueType& t = g.type({r.node, r.output});
             return nb::make_tuple(static_cast<int>(t.dtype), t.ndim, t.layout.str());
           })
      .def("find", &Graph::find)
      .def("name_of", [](const Graph& g, int node) { return g.node(node).name; })
      .def("op_of", [](const Graph& g, int node) { return g.node(node).op; })
      .def("fed", [](const Graph& g, int node) { return name_of(info_of(g.node(node)).fed); })
      .def("read_outputs", [](const Graph& g, int node) {
        nb::list l;
        for (const char read : read_outputs(g, node)) l.append(nb::bool_(read != 0));
        return l;
      });
}

void bind_facts_of_graph(nb::class_<Graph>& c) {
  c.def("copy", [](const Graph& g) { return Graph(g); })
      .def("give_sizes", &Graph::give_sizes)
      .def("current_region", &Graph::current_region)
      .def("nodes", [](const Graph& g) { return g.nodes().size(); })
      .def("num_outputs", [](const Graph& g) { return g.outputs().size(); })
      .def("outputs_on_gpu",
           [](const Graph& g) {
             nb::list l;
             for (const ValueRef& v : g.outputs()) l.append(nb::bool_(g.on_gpu(v)));
             return l;
           })
      .def("text", &Graph::text)
      .def("to_json", &Graph::to_json)
      .def_static("from_json", &Graph::from_json);
}

void bind_graph(nb::module_& m) {
  nb::class_<Graph> c(m, "Graph");
  c.def(nb::init<>());
  bind_building(c);
  bind_facts_of_nodes(c);
  bind_facts_of_graph(c);
}

void bind_feeding(nb::class_<P>& c) {
  c.def("set_source",
        [](P& p, int node, nb::object source) {
          p.raised.push_back(std::make_shared<RaisedErrors>());
          p.get().set_feed(node, python_feed(std::move(source), p.raised.back()));
        })
      .def("set_callback",
           [](P& p, int node, nb::object function) {
             p.raised.push_back(std::make_shared<RaisedErrors>());
             p.get().set_callback(node, python_callback(std::move(function), p.raised.back()));
           })
      .def("set_compiled", [](P& p, int node, nb::object code) { p.get().set_callback(node, compiled_callback(code)); })
      .def("feed", [](P& p, int node, nb::list batches) {
        std::vector<Batch> b;
        for (nb::handle h : batches) b.push_back(*nb::inst_ptr<Batch>(h));
        return p.get().feed(node, std::move(b));
      });
}

void bind_running(nb::class_<P>& c) {
  c.def("run", [](P& p) { return handed_out(p, [&] { return p.get().run(p.poll()); }); })
      .def("set_refill", [](P& p, int batch_size) { p.get().set_refill(batch_size); })
      .def(
          "schedule", [](P& p, bool soon) { p.guarded([&] { return p.get().schedule(soon), 0; }); },
          nb::arg("soon") = false)
      .def("outputs", [](P& p) { return handed_out(p, [&] { return p.get().outputs(p.poll()); }); })
      .def("reset", [](P& p) { p.guarded([&] { return p.get().reset(p.poll()), 0; }); })
      .def("begin_epoch", [](P& p) { p.guarded([&] { return p.get().begin_epoch(p.poll()), 0; }); })
      .def("seek", [](P& p, uint64_t epoch, int64_t batch,
                      bool replay) { p.guarded([&] { return p.get().seek(epoch, batch, replay, p.poll()), 0; }); })
      .def("schedule_batches",
           [](P& p, uint64_t epoch, const std::vector<int64_t>& batches) {
             p.guarded([&] { return p.get().schedule_batches(epoch, batches), 0; });
           })
      .def("close", &P::close)
      .def_prop_ro("used_elsewhere", [](const P& p) { return p.inside > 0 && p.user != std::this_thread::get_id(); })
      .def("set_epoch_mode", [](P& p, const std::string& mode) { p.get().set_epoch_mode(epoch_mode(mode)); })
      .def("checkpoint", [](P& p) { return p.guarded([&] { return p.get().checkpoint(); }); })
      .def("restore", [](P& p, const std::string& s) { p.guarded([&] { return p.get().restore(s), 0; }); })
      .def("replay",
           [](P& p, const std::vector<std::pair<uint64_t, uint64_t>>& origins) {
             std::vector<DrawOrigin> all;
             for (const auto& [epoch, position] : origins) all.push_back({epoch, position});
             p.guarded([&] { return p.get().replay(std::move(all)), 0; });
           })
      .def("log_steps", [](P& p) { p.get().log_steps(); });
}

void bind_facts(nb::class_<P>& c) {
  c.def("reader_meta", [](P& p, const std::string& name) { return meta_of(p.get().reader_meta(name)); })
      .def("batches_per_epoch", [](P& p) { return p.get().batches_per_epoch(); })
      .def("first_epoch",
           [](P& p) -> nb::object {
             const auto first = p.get().first_epoch();
             return first ? nb::object(nb::make_tuple(first->own, first->largest)) : nb::object(nb::none());
           })
      .def("at_end_of_epoch", [](P& p) { return p.get().at_end_of_epoch(); })
      .def("statistics", [](P& p) { return numbers_of(p.statistics()); })
      .def(
          "left_out",
          [](P& p, bool last_batch) {
            nb::list l;
            for (const LeftOut& x : last_batch ? p.left_out : p.get().left_out())
              l.append(nb::make_tuple(x.epoch, x.position, readable(x.source), readable(x.message), x.batch, x.number));
            return l;
          },
          nb::arg("last_batch") = false)
      .def("tune", [](P& p, int threads, int depth) { p.get().tune(threads, depth); })
      .def("start_trace", [](P& p) { p.get().start_trace(); })
      .def("trace_json", [](P& p) { return p.get().trace_json(); })
      .def("plan_text", [](P& p) { return p.get().plan_text(); })
      .def("plan_steps", [](P& p) { return list_of_steps(p.get().plan()); })
      .def("pass_texts",
           [](P& p) {
             nb::list l;
             for (const PassText& x : p.get().pass_texts()) l.append(nb::make_tuple(x.pass, x.text));
             return l;
           })
      .def("output_shapes",
           [](P& p) {
             nb::list l;
             for (const auto& shape : p.get().output_shapes()) {
               nb::list extents;
               for (const int64_t extent : shape.value_or(Shape()))
                 extents.append(extent < 0 ? nb::object(nb::none()) : nb::object(nb::int_(extent)));
               l.append(shape ? nb::object(nb::tuple(extents)) : nb::object(nb::none()));
             }
             return l;
           })
      .def("graph_text", [](P& p) { return p.get().graph().text(); })
      .def("to_json", [](P& p) { return p.get().to_json(); })
      .def("graph", [](P& p) { return p.get().graph(); })
      .def("options", [](P& p) { return dict_of(p.get().options()); });
}

void make_pipeline(P* self, const Graph& g, int batch_size, int threads, int prefetch, size_t memory_limit,
                   const std::string& mode, const std::string& on_error, int64_t error_budget, bool uneven,
                   const std::string& late, const std::string& entropy_index, int device, bool one_stream,
                   bool set_affinity, int64_t max_pixels, int64_t max_frames, int64_t max_samples) {
  PipelineOptions o;
  o.batch_size = batch_size, o.threads = threads, o.prefetch = prefetch, o.memory_limit = memory_limit;
  o.epoch_mode = epoch_mode(mode);
  o.on_error = one_of<OnError>("on_error", on_error, {"raise", "skip", "replace"});
  o.error_budget = error_budget, o.uneven = uneven;
  o.late = one_of<Late>("late", late, {"wait", "swap"});
  o.entropy_index = entropy_index;
  o.device = device;
  o.one_stream = one_stream;
  o.set_affinity = set_affinity;
  o.max_pixels = max_pixels, o.max_frames = max_frames, o.max_samples = max_samples;
  std::unique_ptr<Pipeline> pipeline;
  {
    ReleaseGil release;  // readers may wait for remote storage, whose client needs the GIL
    pipeline = std::make_unique<Pipeline>(g, std::move(o));
  }
  new (self) P;
  self->pipeline = std::move(pipeline);
}

P* pipeline_from_json(const std::string& text) {
  auto p = std::make_unique<P>();
  ReleaseGil release;
  p->pipeline = Pipeline::from_json(text);
  return p.release();
}

void bind_pipeline_class(nb::module_& m) {
  nb::class_<P> c(m, "Pipeline");
  c.def("__init__", &make_pipeline).def_static("from_json", &pipeline_from_json);
  bind_feeding(c);
  bind_running(c);
  bind_facts(c);
}

}  // namespace

void bind_pipeline(nb::module_& m) {
  bind_values(m);
  bind_graph(m);
  bind_pipeline_class(m);
  m.def("take_notices", [] {
    nb::list l;
    for (const auto& text : take_notices()) l.append(nb::str(text.c_str()));
    return l;
  });
  m.def("calling_pipeline", [] { return reinterpret_cast<uintptr_t>(calling_pipeline()); });
  m.def("call_for_pipeline", [](uintptr_t p) { call_for_pipeline(reinterpret_cast<const void*>(p)); });
}

}  // namespace penstock::python
