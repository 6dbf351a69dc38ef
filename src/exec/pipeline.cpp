// SPDX-License-Identifier: Apache-2.0
#include "exec/pipeline.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/json_text.h"
#include "base/size_limits.h"
#include "codecs/video/frame_choice.h"
#include "exec/executor.h"
#include "exec/seek.h"
#include "graph/known_shapes.h"

namespace penstock {

struct Pipeline::State {
  State(Graph g, PipelineOptions o) : executor(std::move(g), std::move(o)) {}
  Executor executor;
  std::atomic<unsigned> used{0};

  // Locks against concurrent changes. One thread may feed and schedule while another one takes the outputs.
  static constexpr unsigned kGiving = 1, kTaking = 2, kWhole = kGiving | kTaking;
  class Use {
   public:
    Use(State& s, unsigned what) : used_(s.used), what_(what) {
      s.executor.iterations.check_caller();
      const unsigned before = used_.fetch_or(what, std::memory_order_acquire);
      if (!(before & what)) return;
      used_.fetch_and(~(what & ~before), std::memory_order_release);
      bad_argument(
          "another thread is using this pipeline: give each thread its own pipeline, or serialize the calls with a "
          "lock");
    }
    ~Use() { used_.fetch_and(~what_, std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::atomic<unsigned>& used_;
    const unsigned what_;
  };
};

static Graph checked(Graph g) {
  if (g.outputs().empty()) bad_argument("a pipeline needs at least one output");
  return g;
}

static std::vector<std::pair<const char*, int64_t>> size_limits(const PipelineOptions& o) {
  return {{"max_pixels", o.max_pixels}, {"max_frames", o.max_frames}, {"max_samples", o.max_samples}};
}

static Graph with_limits(Graph g, const PipelineOptions& o) {
  for (const auto& [name, limit] : size_limits(o))
    if (limit > 0) g.set_default(name, limit);
  return g;
}

static PipelineOptions checked(PipelineOptions o) {
  constexpr int kMostThreads = 1024, kMostPrefetch = 1024;
  if (o.batch_size < 1) bad_argument("the batch size must be at least 1, got {}", o.batch_size);
  if (o.threads > kMostThreads) bad_argument("at most {} threads, got {}", kMostThreads, o.threads);
  if (o.prefetch > kMostPrefetch)
    bad_argument("at most {} iterations are prefetched, got {}", kMostPrefetch, o.prefetch);
  for (const auto& [name, limit] : size_limits(o)) {
    const double most = std::string_view(name) == "max_frames" ? static_cast<double>(kMostFrames) : kLargestLimit;
    if (limit < 0 || static_cast<double>(limit) > most)
      bad_argument("{} must be at least 1 and at most {}, got {}", name, most, limit);
  }
  return o;
}

Pipeline::Pipeline(Graph graph, PipelineOptions options)
    : state_(std::make_unique<State>(with_limits(checked(std::move(graph)), options), checked(options))) {}
Pipeline::~Pipeline() {
  // A forked child has neither the threads nor usable locks: it leaks what it inherited.
  if (state_->executor.iterations.forked()) state_.release();
}

const Graph& Pipeline::graph() const { return state_->executor.graph; }
const PipelineOptions& Pipeline::options() const { return state_->executor.options; }
const Plan& Pipeline::plan() const { return state_->executor.plan; }
std::string Pipeline::plan_text() const { return state_->executor.plan.text(); }
std::vector<PassText> Pipeline::pass_texts() const {
  std::vector<PassText> texts;
  make_plan(graph(), state_->executor.plan.options, &texts);
  return texts;
}

std::vector<std::optional<Shape>> Pipeline::output_shapes() const {
  Executor& e = state_->executor;
  KnownShapes shapes;
  for (const Node& n : graph().nodes())
    if (const Source* s = e.sources.find(n.id)) {
      int k = 0;
      for (const auto& shape : s->fixed_shapes()) {
        if (shape) shapes[{n.id, k}] = *shape;
        ++k;
      }
    }
  shapes = known_shapes(graph(), std::move(shapes));
  std::vector<std::optional<Shape>> outputs;
  for (const ValueRef& v : graph().outputs()) {
    const int ndim = graph().type({v.node, v.output}).ndim;
    const auto found = shapes.find({v.node, v.output});
    if (found != shapes.end()) outputs.emplace_back(found->second);
    else if (ndim >= 0) outputs.emplace_back(Shape::filled(ndim, -1));
    else outputs.emplace_back();
  }
  return outputs;
}

// Null: the source is unused and so not in the plan.
static ExternalSource* external(Executor& e, int node) {
  auto* s = e.sources.external(node);
  if (!s && (node < 0 || info_of(e.graph.node(node)).fed != Fed::batches))
    bad_argument("'{}' is not an external source", node >= 0 ? e.graph.node(node).name : "?");
  return s;
}
void Pipeline::set_feed(int node, std::shared_ptr<ExternalFeed> feed) {
  const State::Use use(*state_, State::kWhole);
  ExternalSource* source = external(state_->executor, node);
  if (!source) return;
  source->set_feed(std::move(feed));
  state_->executor.outputs.deliveries.find_first_states();
}
void Pipeline::set_callback(int node, std::shared_ptr<Callback> callback) {
  state_->executor.callbacks.set(node, std::move(callback));
}
int64_t Pipeline::feed(int node, std::vector<Batch> batches) {
  ExternalSource* source = external(state_->executor, node);
  if (!source) return 1;
  ExternalFeed* feed = source->feed();
  std::optional<State::Use> use;
  if (!feed->fed_by_others()) use.emplace(*state_, State::kGiving);
  try {
    return feed->feed(std::move(batches), options().batch_size);
  } catch (Error& e) {
    if (e.op.empty()) e.op = graph().node(node).op;
    throw;
  }
}

void Pipeline::schedule(bool soon) {
  const State::Use use(*state_, State::kGiving);
  state_->executor.outputs.schedule(soon);
}
PipelineOutput Pipeline::outputs(const std::function<void()>& poll) {
  const State::Use use(*state_, State::kTaking);
  return state_->executor.outputs.outputs(poll);
}

PipelineOutput Pipeline::run(const std::function<void()>& poll) {
  const State::Use use(*state_, State::kWhole);
  Executor& e = state_->executor;
  const int depth = e.iterations.depth;
  while (e.iterations.wants_more() && e.outputs.schedule(depth == 1)) {
  }
  PipelineOutput out = e.outputs.outputs(poll);
  if (e.options.prefetch > 0)
    while (e.iterations.wants_more() && e.outputs.schedule()) {
    }
  return out;
}

void Pipeline::seek(uint64_t epoch, int64_t batch, bool replay, const std::function<void()>& poll) {
  const State::Use use(*state_, State::kWhole);
  refuse_late("seek() and schedule() go to a batch by its number");
  penstock::seek(state_->executor, epoch, batch, replay, poll);
}
void Pipeline::schedule_batches(uint64_t epoch, std::span<const int64_t> batches) {
  const State::Use use(*state_, State::kWhole);
  refuse_late("seek() and schedule() go to a batch by its number");
  Executor& e = state_->executor;
  penstock::schedule_batches(e, epoch, batches);
  while (e.iterations.size() < e.iterations.depth && e.outputs.schedule()) {
  }
}

void Pipeline::tune(int threads, int depth) {
  if (threads < 1 || depth < 1) bad_argument("at least one thread and one batch ahead, got {} and {}", threads, depth);
  Executor& e = state_->executor;
  e.iterations.scheduler.look_again(threads);
  // A GPU's room and its decoders count on the depth that they were made for.
  if (!e.plan.uses_gpu()) e.iterations.depth = std::min(depth, std::max(1, e.options.prefetch));
}
void Pipeline::set_refill(int batch_size) { state_->executor.set_refill(batch_size); }
void Pipeline::reset(const std::function<void()>& poll) {
  const State::Use use(*state_, State::kWhole);
  state_->executor.reset(false, poll);
}
void Pipeline::begin_epoch(const std::function<void()>& poll) {
  const State::Use use(*state_, State::kWhole);
  state_->executor.reset(true, poll);
}
bool Pipeline::stop(std::chrono::milliseconds patience) {
  return state_->executor.iterations.forked() || state_->executor.stop_within(patience);
}

void Pipeline::refuse_late(const char* what) const {
  if (state_->executor.options.late != Late::wait)
    bad_argument("{}, but with late=\"swap\" batches have other samples in each run: omit late=\"swap\"", what);
}

std::optional<ReaderMeta> Pipeline::reader_meta(const std::string& name) const {
  Executor& e = state_->executor;
  if (name.empty()) return e.sources.primary() < 0 ? std::nullopt : e.sources.at(e.sources.primary()).meta();
  const int node = graph().find(name);
  Source* s = node < 0 ? nullptr : e.sources.find(node);
  if (!s || !s->meta()) bad_argument("there is no reader '{}' in this pipeline", name);
  return s->meta();
}
int64_t Pipeline::epoch_size(const std::string& name) const {
  const auto m = reader_meta(name);
  return m ? m->epoch_size : -1;
}
int64_t Pipeline::batches_per_epoch() const {
  Executor& e = state_->executor;
  return e.sources.primary() < 0
             ? -1
             : e.sources.at(e.sources.primary()).batches_per_epoch(e.options.batch_size, e.options.epoch_mode);
}
std::optional<FirstEpoch> Pipeline::first_epoch() const {
  Executor& e = state_->executor;
  if (e.sources.primary() < 0) return std::nullopt;
  auto first = e.sources.at(e.sources.primary()).first_epoch();
  if (const auto* late = e.outputs.deliveries.late; first && late)
    first->own -= late->resumed(), first->largest -= late->resumed();
  return first;
}
bool Pipeline::at_end_of_epoch() const { return state_->executor.outputs.at_end_of_epoch(); }
void Pipeline::set_epoch_mode(EpochMode mode) { state_->executor.options.epoch_mode = mode; }

std::string Pipeline::checkpoint() const {
  const State::Use use(*state_, State::kWhole);
  return state_->executor.outputs.deliveries.checkpoint(state_->executor.graph);
}
void Pipeline::restore(const std::string& state) {
  const State::Use use(*state_, State::kWhole);
  state_->executor.restore(state);
}

void Pipeline::replay(std::vector<DrawOrigin> origins) {
  const State::Use use(*state_, State::kWhole);
  if (!origins.empty()) refuse_late("replay gives draws to samples by their order");
  state_->executor.outputs.replay(std::move(origins));
}
void Pipeline::watch_steps(AfterStep after) {
  const State::Use use(*state_, State::kWhole);
  state_->executor.watch_steps(std::move(after));
}
void Pipeline::log_steps() {
  refuse_late("log_steps() logs whole batches");
  state_->executor.log_steps();
}

PipelineStatistics Pipeline::statistics() const {
  const Executor& e = state_->executor;
  PipelineStatistics s = e.statistics.summary();
  e.add_to(s);
  return s;
}
void Pipeline::start_trace() { state_->executor.statistics.start_trace(); }
std::string Pipeline::trace_json() const { return state_->executor.statistics.trace_json(); }
std::vector<LeftOut> Pipeline::left_out() const { return state_->executor.outputs.budget.list(); }

static nlohmann::json saved_options(const PipelineOptions& o) {
  nlohmann::json j{{"penstock_pipeline", 1},
                   {"batch_size", o.batch_size},
                   {"threads", o.threads},
                   {"prefetch", o.prefetch},
                   {"memory_limit", o.memory_limit},
                   {"epoch_mode", static_cast<int>(o.epoch_mode)},
                   {"on_error", static_cast<int>(o.on_error)},
                   {"error_budget", o.error_budget},
                   {"uneven", o.uneven},
                   {"entropy_index", o.entropy_index},
                   {"device", o.device},
                   {"one_stream", o.one_stream}};
  for (const auto& [name, limit] : size_limits(o)) j[name] = limit;
  // Former versions refuse these.
  if (o.late != Late::wait) j["late"] = static_cast<int>(o.late);
  if (o.set_affinity) j["set_affinity"] = true;
  return j;
}

std::string Pipeline::to_json() const {
  nlohmann::json j = saved_options(options());
  j["graph"] = nlohmann::json::parse(graph().to_json());
  return j.dump(1);
}

// A key that this version does not know might change what the pipeline does.
static void refuse_unknown(const nlohmann::json& saved) {
  const nlohmann::json all = saved_options({});
  std::vector<std::string> known{"graph", "declared", "late",
                                 "set_affinity"};  // "declared" is for Python: the required types of the outputs
  for (const auto& [name, value] : all.items()) known.push_back(name);
  for (const auto& [name, value] : saved.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      bad_argument("a saved pipeline has the unknown key '{}'{}", name, did_you_mean(name, known));
}

// The path is where the saving user wanted the file: only the loading user may choose one.
static std::string loaded_index(const std::string& stored) {
  return stored == "off" || stored == "read" || stored == "auto" ? stored : "";
}

std::unique_ptr<Pipeline> Pipeline::from_json(const std::string& text,
                                              const std::function<void(PipelineOptions&)>& change) {
  PipelineOptions o;
  std::string graph;
  try {
    const auto j = parse_json(text);
    const auto number = [&](const char* name, auto otherwise, auto least, auto most) {
      return j.contains(name) ? whole_number(j[name], decltype(otherwise){least}, decltype(otherwise){most}, name)
                              : otherwise;
    };
    if (!j.is_object() || j.value("penstock_pipeline", nlohmann::json()) != 1 || !j.contains("graph"))
      bad_argument("this is not a saved pipeline");
    refuse_unknown(j);
    o.batch_size = number("batch_size", 1, 1, INT32_MAX);
    o.threads = number("threads", 0, 0, INT32_MAX);
    o.prefetch = number("prefetch", 2, 0, INT32_MAX);
    o.memory_limit = number("memory_limit", size_t{0}, size_t{0}, SIZE_MAX);
    o.epoch_mode = static_cast<EpochMode>(number("epoch_mode", 0, 0, 3));
    o.on_error = static_cast<OnError>(number("on_error", 0, 0, 2));
    o.error_budget = number("error_budget", int64_t{-1}, int64_t{-1}, INT64_MAX);
    o.uneven = j.value("uneven", false);
    o.entropy_index = loaded_index(j.value("entropy_index", std::string()));
    o.device = number("device", kDefaultGpu, kNoGpu, INT32_MAX);
    o.one_stream = j.value("one_stream", false);
    o.set_affinity = j.value("set_affinity", false);
    o.late = static_cast<Late>(number("late", 0, 0, 1));
    o.max_pixels = number("max_pixels", int64_t{0}, int64_t{0}, INT64_MAX);
    o.max_frames = number("max_frames", int64_t{0}, int64_t{0}, INT64_MAX);
    o.max_samples = number("max_samples", int64_t{0}, int64_t{0}, INT64_MAX);
    graph = j["graph"].dump();
  } catch (const nlohmann::json::exception& e) {
    bad_argument("the saved pipeline cannot be read: {}", e.what());
  }
  if (change) change(o);
  return std::make_unique<Pipeline>(Graph::from_json(graph), o);
}

}  // namespace penstock
