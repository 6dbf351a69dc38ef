// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "exec/statistics.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock {

constexpr size_t kMostEvents = 200000;  // per thread: about 8 MB

Statistics::Statistics(const Plan& plan, int threads) : copied_(plan.steps.size()), cached_(plan.steps.size()) {
  for (const auto& s : plan.steps) {
    std::string name = s.kind == Step::Kind::read ? "read" : "";
    for (int id : s.nodes) name += (name.empty() ? "" : " + ") + plan.graph.node(id).op;
    if (s.kind == Step::Kind::transfer) name += s.gpu ? " to the GPU" : " to the CPU";
    names_.push_back(name);
  }
  for (int i = 0; i < threads + 1; ++i) {  // the last one belongs to the decoding thread
    counters_.push_back(std::make_unique<ThreadCounters>());
    counters_.back()->steps.resize(names_.size());
  }
}

void Statistics::add(int thread, int step, uint64_t iteration, int64_t begin, int64_t end, int64_t samples,
                     int64_t read_ns, int64_t decode_ns, int64_t pixels_ns) {
  ThreadCounters& l = *counters_[thread];
  std::lock_guard lock(l.mutex);
  auto& s = l.steps[step];
  s.busy_ns += end - begin, s.samples += samples;
  s.read_ns += read_ns, s.decode_ns += decode_ns, s.pixels_ns += pixels_ns;
  if (tracing_ && l.events.size() < kMostEvents) l.events.push_back({thread, step, iteration, begin, end});
}

void Statistics::cached(size_t step, const CachedCounts& counts) {
  std::lock_guard lock(cached_mutex_);
  cached_[step] = counts;
}

void Statistics::waited(int64_t begin, int64_t end) {
  int64_t zero = 0;
  first_ns_.compare_exchange_strong(zero, begin);
  last_ns_ = end;
  wait_ns_ += end - begin;
}

void Statistics::delivered(int64_t samples) {
  ++iterations_;
  samples_ += samples;
}

PipelineStatistics Statistics::summary() const {
  PipelineStatistics p;
  p.iterations = iterations_, p.samples = samples_;
  p.wall_ns = last_ns_ - first_ns_;
  p.consumer_wait_ns = wait_ns_, p.worker_idle_ns = idle_ns_, p.blocked_ns = blocked_ns_;
  p.threads = static_cast<int>(counters_.size()) - 1;
  p.steps.resize(names_.size());
  for (size_t i = 0; i < names_.size(); ++i) p.steps[i].name = names_[i], p.steps[i].copied_bytes = copied_[i];
  {
    std::lock_guard lock(cached_mutex_);
    for (size_t i = 0; i < names_.size(); ++i) p.steps[i].cached = cached_[i];
  }
  for (const auto& l : counters_) {
    std::lock_guard lock(l->mutex);
    for (size_t i = 0; i < names_.size(); ++i) {
      const auto& s = l->steps[i];
      auto& t = p.steps[i];
      t.busy_ns += s.busy_ns, t.samples += s.samples;
      t.read_ns += s.read_ns, t.decode_ns += s.decode_ns, t.pixels_ns += s.pixels_ns;
    }
  }
  return p;
}

std::string PipelineStatistics::verdict() const {
  if (iterations < 2 || wall_ns <= 0) return "not enough batches to say what the loop waits for";
  const double waiting = static_cast<double>(consumer_wait_ns) / static_cast<double>(wall_ns);
  if (waiting < 0.05)
    return fmt::format("the loop never waits for data ({:.0f} % of its time): the pipeline keeps up", waiting * 100);
  std::string slowest;
  int64_t most = -1, total = 0;
  for (const auto& s : steps) {
    total += s.busy_ns;
    auto offer = [&](const std::string& name, int64_t ns) {
      if (ns > most) most = ns, slowest = name;
    };
    if (s.decode_ns + s.pixels_ns + s.read_ns > 0) {
      offer("decoding in " + s.name, s.decode_ns);
      offer("resizing and pixel operators in " + s.name, s.pixels_ns);
      offer("reading files for " + s.name, s.read_ns);
    } else {
      offer(s.name, s.busy_ns);
    }
  }
  return fmt::format("the loop waits {:.0f} % of its time; the threads spend most on {} ({:.0f} % of their work)",
                     waiting * 100, slowest,
                     total ? 100.0 * static_cast<double>(most) / static_cast<double>(total) : 0.0);
}

std::string Statistics::trace_json() const {
  nlohmann::json events = nlohmann::json::array();
  for (const auto& l : counters_) {
    std::lock_guard lock(l->mutex);
    for (const auto& e : l->events)
      events.push_back({{"name", names_[e.step]},
                        {"ph", "X"},
                        {"pid", 1},
                        {"tid", e.thread},
                        {"ts", static_cast<double>(e.begin_ns) / 1e3},
                        {"dur", static_cast<double>(e.end_ns - e.begin_ns) / 1e3},
                        {"args", {{"iteration", e.iteration}}}});
  }
  return nlohmann::json{{"traceEvents", std::move(events)}}.dump();
}

}  // namespace penstock
