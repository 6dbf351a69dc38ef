// SPDX-License-Identifier: Apache-2.0
#include "pipeline_statistics.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "exec/bottleneck.h"
#include "interop.h"

namespace penstock::python {
namespace {

nb::dict dict_of(const DurationCounts& c) {
  nb::dict d;
  d["count"] = c.total();
  d["p50"] = c.percentile(0.5) * 1e-9, d["p90"] = c.percentile(0.9) * 1e-9;
  d["p99"] = c.percentile(0.99) * 1e-9, d["max"] = c.most() * 1e-9;
  return d;
}

nb::list list_of(const SlowSamples& samples) {
  nb::list l;
  for (const SlowSample& s : samples.sorted()) {
    nb::dict d;
    d["seconds"] = s.ns * 1e-9, d["source"] = readable(s.source), d["epoch"] = s.epoch, d["position"] = s.position;
    d["visits"] = s.visits;
    l.append(d);
  }
  return l;
}

// What a step did beside its sums.
void add_details(nb::dict& d, const StepStatistics& s) {
  d["nodes"] = s.nodes, d["line"] = s.user_line, d["calls_program"] = s.calls, d["constant"] = s.fits_all;
  d["lock"] = s.lock_ns * 1e-9, d["moved_bytes"] = s.moved_bytes;
  d["reads"] = s.reads.reads, d["bytes_read"] = s.reads.bytes;
  d["reads_waited"] = s.reads.waited, d["reads_remote"] = s.reads.remote;
  d["each"] = dict_of(s.each), d["batches"] = dict_of(s.batches), d["slowest"] = list_of(s.slowest);
}

nb::list list_of(const std::vector<ThreadStatistics>& threads) {
  nb::list l;
  for (const ThreadStatistics& t : threads) {
    nb::dict d;
    d["name"] = t.name, d["works"] = t.works, d["busy"] = t.busy_ns * 1e-9, d["idle"] = t.idle_ns * 1e-9;
    d["blocked"] = t.blocked_ns * 1e-9, d["ran"] = t.system.ran_ns * 1e-9, d["queued"] = t.system.queued_ns * 1e-9;
    l.append(d);
  }
  return l;
}

void add_finding(nb::dict& d, const PipelineStatistics& s) {
  const FoundBottleneck f = find_bottleneck(s);
  d["verdict"] = f.text, d["bottleneck"] = name_of(f.bottleneck), d["bottleneck_stage"] = f.step;
  d["with_more_threads"] = f.with_more_threads, d["with_data_in_memory"] = f.with_data_in_memory;
  d["loop_lock"] = s.loop_lock_ns * 1e-9, d["cores"] = s.cores, d["process_seconds"] = s.process_ns * 1e-9;
  d["batches"] = dict_of(s.batches), d["waits"] = dict_of(s.waits), d["ready"] = s.ready;
  d["by_thread"] = list_of(s.by_thread);
}

}  // namespace

nb::dict numbers_of(const PipelineStatistics& s) {
  nb::dict d;
  d["iterations"] = s.iterations, d["samples"] = s.samples, d["threads"] = s.threads;
  d["seconds"] = s.wall_ns * 1e-9, d["loop_waits"] = s.consumer_wait_ns * 1e-9;
  d["threads_idle"] = s.worker_idle_ns * 1e-9, d["threads_blocked"] = s.blocked_ns * 1e-9;
  d["bytes_held"] = s.bytes_held, d["bytes_in_use"] = s.bytes_in_use;
  d["device_bytes_in_use"] = s.device_bytes_in_use;
  add_finding(d, s);
  nb::list stages;
  for (const auto& step : s.steps) {
    nb::dict x;
    x["name"] = step.name, x["seconds"] = step.busy_ns * 1e-9, x["samples"] = step.samples;
    x["read"] = step.read_ns * 1e-9, x["decode"] = step.decode_ns * 1e-9, x["pixels"] = step.pixels_ns * 1e-9;
    x["copied_bytes"] = step.copied_bytes;
    x["cache"] = nb::dict();
    x["cache"]["hits"] = step.cached.hits, x["cache"]["misses"] = step.cached.misses;
    x["cache"]["pictures"] = step.cached.pictures, x["cache"]["bytes"] = step.cached.bytes;
    add_details(x, step);
    stages.append(x);
  }
  d["stages"] = stages;
  nb::dict index;
  index["made"] = s.index.made, index["used"] = s.index.used, index["stale"] = s.index.stale;
  index["path"] = nb::steal(PyUnicode_DecodeFSDefault(s.index_path.c_str())), index["note"] = s.index_note;
  d["entropy_index"] = index;
  return d;
}

}  // namespace penstock::python
