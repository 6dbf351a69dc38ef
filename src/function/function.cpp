// SPDX-License-Identifier: Apache-2.0
#include "function/function.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/size_limits.h"
#include "device/gpu_backend.h"
#include "exec/pipeline.h"
#include "exec/plan_options.h"
#include "function/call_frame.h"
#include "function/function_run.h"
#include "function/function_threads.h"
#include "function/renew.h"

namespace penstock {
namespace {

Graph checked(Graph g, const FunctionOptions& o) {
  if (g.outputs().empty()) bad_argument("a function needs at least one output");
  const std::pair<const char*, int64_t> limits[] = {
      {"max_pixels", o.max_pixels}, {"max_frames", o.max_frames}, {"max_samples", o.max_samples}};
  for (const auto& [name, limit] : limits) {
    if (limit < 0) bad_argument("{} must be at least 1, got {}", name, limit);
    if (limit > 0) g.set_default(name, limit);
  }
  return g;
}

constexpr int kMostThreads = 4096;

std::unique_ptr<FunctionThreads> threads_of(const FunctionOptions& o) {
  if (o.num_threads < 0 || o.num_threads > kMostThreads)
    bad_argument("num_threads must be between 1 and {}, got {}", kMostThreads, o.num_threads);
  return o.num_threads > 1 ? std::make_unique<FunctionThreads>(o.num_threads) : nullptr;
}

// Whether the work of a call is worth waking threads for it before its parts are known.
bool is_large(const FunctionCall& call) {
  constexpr size_t kLarge = 16 << 10;
  size_t bytes = 0;
  for (const Batch* b : call.inputs) bytes += b->bytes();
  return bytes >= kLarge;
}

}  // namespace

Function::Function(Graph graph, const FunctionOptions& options)
    : graph_(checked(std::move(graph), options)),
      device_(std::max(0, options.device)),
      plan_(make_plan(graph_, plan_options(graph_, options.device))),
      compiled_(compiled_plan(plan_)),
      threads_(threads_of(options)) {
  find_inputs();
  for (const ValueRef& v : plan_.graph.outputs())
    outputs_.push_back(
        {"", v.place == Place::pixels ? ValueType{} : plan_.graph.type({v.node, v.output}), plan_.graph.on_gpu(v)});
}

Function::~Function() = default;

void Function::find_inputs() {
  for (const Node& n : graph_.nodes()) {
    if (info_of(n).fed != Fed::batches) continue;
    for (int k = 0; k < n.outputs; ++k) {
      const auto slot = compiled_.slots.find({n.id, k});
      inputs_.push_back({n.name, n.types[static_cast<size_t>(k)], n.on_gpu});
      const auto is_its_source = [&](const Step& s) { return s.kind == Step::Kind::source && s.nodes[0] == n.id; };
      const auto step = std::find_if(plan_.steps.begin(), plan_.steps.end(), is_its_source);
      compiled_.input_on_gpu.push_back(step != plan_.steps.end() && step->gpu);
      compiled_.inputs.push_back(slot == compiled_.slots.end() ? -1 : slot->second);
    }
  }
}

std::unique_ptr<Function> Function::from_json(const std::string& text, const FunctionOptions& options) {
  FunctionOptions o = options;
  std::string graph;
  try {
    const auto j = parse_json(text);
    if (!j.is_object() || j.value("penstock_pipeline", nlohmann::json()) != 1 || !j.contains("graph"))
      bad_argument("this is not a saved pipeline");
    const auto keep = [&](const char* name, auto& value, auto least, auto most) {
      using T = std::decay_t<decltype(value)>;
      if (value == FunctionOptions{}.*(least) && j.contains(name)) value = whole_number(j[name], T{0}, T{most}, name);
    };
    keep("max_pixels", o.max_pixels, &FunctionOptions::max_pixels, INT64_MAX);
    keep("max_frames", o.max_frames, &FunctionOptions::max_frames, INT64_MAX);
    keep("max_samples", o.max_samples, &FunctionOptions::max_samples, INT64_MAX);
    if (o.device < 0 && j.contains("device")) o.device = whole_number(j["device"], kNoGpu, INT32_MAX, "device");
    graph = j["graph"].dump();
  } catch (const nlohmann::json::exception& e) {
    bad_argument("the saved pipeline cannot be read: {}", e.what());
  }
  return std::make_unique<Function>(Graph::from_json(graph), o);
}

std::unique_ptr<CallFrame> Function::take_frame() const {
  {
    std::lock_guard lock(mutex_);
    const auto is_own = [](const auto& f) { return f->user == std::this_thread::get_id(); };
    auto at = std::find_if(idle_.begin(), idle_.end(), is_own);
    if (at == idle_.end() && !idle_.empty()) at = idle_.end() - 1;
    if (at != idle_.end()) {
      std::swap(*at, idle_.back());
      auto frame = std::move(idle_.back());
      idle_.pop_back();
      frame->user = std::this_thread::get_id();
      return frame;
    }
  }
  auto frame = std::make_unique<CallFrame>(compiled_);
  frame->user = std::this_thread::get_id();
  return frame;
}

void Function::give_back(std::unique_ptr<CallFrame> frame) const {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(frame));
}

void Function::call(const FunctionCall& call, std::span<Batch> results) const {
  struct Lease {
    const Function& of;
    std::unique_ptr<CallFrame> frame;
    ~Lease() {
      for (Batch& b : frame->values) let_go(b);
      of.give_back(std::move(frame));
    }
  } lease{*this, take_frame()};
  const FunctionThreads::Turn turn(threads_.get(), threads_ && is_large(call));
  FunctionRun run(*this, *lease.frame, call, results);
  if (compiled_.uses_gpu) runtime_of(device_).on_device(device_, [&] { run.run(); });
  else run.run();
}

}  // namespace penstock
