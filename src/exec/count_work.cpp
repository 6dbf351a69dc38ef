// SPDX-License-Identifier: Apache-2.0
#include "exec/count_work.h"

#include <string>
#include <utility>

namespace penstock {
namespace {

constexpr int64_t kSeen = 50'000;  // a shorter wait gets no box

// Whether the items of the step are its samples: a decoder for a GPU numbers those that it does again.
bool names_samples(const StepContext& c, const Iteration& it, int first, int count) {
  return first >= 0 && count > 0 && first + count <= it.size && static_cast<size_t>(it.size) <= it.origin.size() &&
         c.plan.steps[it.step].kind != Step::Kind::decode;
}

void count_slow(const StepContext& c, const Iteration& it, int first, const StepWork& work, int64_t least_ns) {
  const int64_t all = work.end_ns - work.begin_ns;
  for (int i = 0; i < work.samples; ++i) {
    const double share =
        work.shares.empty() ? 1.0 / static_cast<double>(work.samples) : work.shares[static_cast<size_t>(i)];
    const auto ns = static_cast<int64_t>(share * static_cast<double>(all));
    if (ns <= least_ns) continue;
    const SampleOrigin& o = it.origin[static_cast<size_t>(first + i)];
    c.statistics.add_slow(work.thread, work.step, {ns, o.epoch, o.position, source_of(c, it, first + i)});
  }
}

void trace_work(const StepContext& c, const Iteration& it, int first, const StepWork& work) {
  TraceEvent event{.step = work.step,
                   .iteration = work.iteration,
                   .begin_ns = work.begin_ns,
                   .end_ns = work.end_ns,
                   .read_ns = work.reads.ns,
                   .decode_ns = work.decode_ns,
                   .pixels_ns = work.pixels_ns,
                   .first = first,
                   .count = static_cast<int>(work.samples),
                   .files = {}};
  for (int i = 0; first >= 0 && i < work.samples; ++i)
    if (const std::string& file = source_of(c, it, first + i); !file.empty())
      event.files += (event.files.empty() ? "" : ", ") + file;
  c.statistics.add_event(work.thread, std::move(event));
  if (work.lock_ns > kSeen)
    c.statistics.add_event(work.thread, {.kind = TraceKind::waits_for_lock,
                                         .iteration = work.iteration,
                                         .begin_ns = work.begin_ns,
                                         .end_ns = work.begin_ns + work.lock_ns,
                                         .files = {}});
}

}  // namespace

void count_work(const StepContext& c, const Iteration& it, int first, StepWork work) {
  work.step = static_cast<int>(it.step), work.iteration = it.number;
  const int64_t least = c.statistics.add(work);
  const int64_t ns = work.end_ns - work.begin_ns;
  const int count = static_cast<int>(work.samples);
  if (!names_samples(c, it, first, count)) first = -1;
  if (first >= 0 && ns > least * (work.shares.empty() ? count : 1)) count_slow(c, it, first, work, least);
  if (c.statistics.traces()) trace_work(c, it, first, work);
}

void count_batch(const StepContext& c, const Iteration& it, const StepRunner& step, int thread) {
  if (it.items == 0 || it.failure || it.no_memory) return;
  const Step& s = step.step;
  size_t bytes = 0;
  const auto add = [&](ValueRef v) {
    if (const auto found = it.values.find(v); found != it.values.end()) bytes += found->second.bytes();
  };
  if (!s.gpu && (s.kind == Step::Kind::stage || s.kind == Step::Kind::whole)) {
    for (const ValueRef& v : s.inputs) add(v);
    if (s.output.node >= 0) add(s.output);
    else
      for (int k = 0; k < step.node.outputs; ++k) add({step.node.id, k});
  }
  c.statistics.batch_of(thread, it.step, clock_ns() - it.began_ns, static_cast<int64_t>(bytes));
}

}  // namespace penstock
