// SPDX-License-Identifier: Apache-2.0
#include "exec/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/copy_rate.h"

namespace penstock {
namespace {

constexpr double kWaits = 0.05;           // a loop that waits less keeps its pipeline waiting
constexpr int64_t kSmallRead = 64 << 10;  // bytes that take no longer to move than to find
constexpr double kSlow = 8;               // times the usual duration of a sample

double ratio(int64_t a, int64_t b) { return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 0.0; }

int64_t others_of(const StepStatistics& s) {
  return std::max<int64_t>(0, s.busy_ns - s.read_ns - s.decode_ns - s.pixels_ns);
}

// What most time of the threads goes to.
struct Part {
  Bottleneck kind = Bottleneck::step;
  int step = -1;
  int64_t ns = -1, all_ns = 0;
  double share() const { return ratio(ns, all_ns); }
};

Part largest_part(const PipelineStatistics& s) {
  Part p;
  for (size_t i = 0; i < s.steps.size(); ++i) {
    const StepStatistics& t = s.steps[i];
    if (t.calls) continue;
    p.all_ns += t.busy_ns;
    const auto offer = [&](Bottleneck kind, int64_t ns) {
      if (ns > p.ns) p.kind = kind, p.step = static_cast<int>(i), p.ns = ns;
    };
    offer(Bottleneck::decoding, t.decode_ns);
    offer(Bottleneck::pixels, t.pixels_ns);
    offer(Bottleneck::reads, t.read_ns);
    offer(Bottleneck::step, others_of(t));
  }
  return p;
}

// The share of the time that the threads of a function or source of the program are in it: the largest.
struct Call {
  int step = -1;
  double share = 0;
};

Call busiest_call(const PipelineStatistics& s) {
  Call c;
  for (size_t i = 0; i < s.steps.size(); ++i) {
    const double share = ratio(s.steps[i].busy_ns, s.wall_ns);
    if (s.steps[i].calls && share > c.share) c = {static_cast<int>(i), share};
  }
  return c;
}

double busy_share(const PipelineStatistics& s) {
  int64_t all = 0;
  for (const ThreadStatistics& t : s.by_thread)
    if (t.works) all += t.busy_ns;
  return ratio(all, s.wall_ns * std::max(1, s.threads));
}

struct FewSamples {
  int64_t files = 0, visits = 0, ns = 0;
};

// Those that are slow each time. One that was slow once may have waited for a core.
FewSamples slow_of(const StepStatistics& t, bool cores_are_free) {
  FewSamples f;
  const auto slow = static_cast<int64_t>(kSlow * static_cast<double>(t.each.percentile(0.5)));
  for (const SlowSample& s : t.slowest.all())
    if (s.least_ns > slow && (s.visits > 1 || cores_are_free))
      ++f.files, f.visits += s.visits, f.ns += s.visits * s.least_ns;
  return f;
}

// The share of the time that threads wanted a core while others had it: those that take any step, or those of a lane.
double queued_share(const PipelineStatistics& s, const std::string& lane = "") {
  ThreadTimes all;
  for (const ThreadStatistics& t : s.by_thread)
    if (lane.empty() ? t.works : t.name == lane) all.ran_ns += t.system.ran_ns, all.queued_ns += t.system.queued_ns;
  return ratio(all.queued_ns, all.ran_ns + all.queued_ns);
}

bool waits_for_lock(const PipelineStatistics& s, const StepStatistics& t) {
  const double own = static_cast<double>(t.busy_ns) * (1 - queued_share(s, t.name));
  return 3 * static_cast<double>(t.lock_ns) > own && t.lock_ns * 20 > t.busy_ns;
}

bool few_take_most(const PipelineStatistics& s, const StepStatistics& t, int64_t all_ns) {
  const FewSamples f = slow_of(t, queued_share(s) < 0.1);
  return f.visits > 0 && f.visits * 10 <= t.each.total() && ratio(f.ns, all_ns) >= 0.3;
}

Bottleneck of_reads(const ReadTally& r) {
  if (r.remote * 2 > r.reads) return Bottleneck::network;
  if (r.waited * 5 > r.reads) return Bottleneck::disk;
  return r.reads > 0 && r.bytes / r.reads < kSmallRead ? Bottleneck::small_reads : Bottleneck::reads;
}

// The rate of a thread while it has a core.
double moved_rate(const PipelineStatistics& s, const StepStatistics& t) {
  return 1e9 * ratio(t.moved_bytes, t.busy_ns) / std::max(0.01, 1 - queued_share(s));
}

bool moves_memory(const PipelineStatistics& s, const StepStatistics& t) {
  constexpr int64_t kBeyondCaches = int64_t{32} << 20;
  if (t.samples == 0 || t.moved_bytes < kBeyondCaches) return false;
  const bool large = t.moved_bytes / t.samples >= kBeyondCaches;
  return moved_rate(s, t) > (large ? 0.04 : 0.3) * copy_rate();
}

bool has_spare_cores(const PipelineStatistics& s) { return s.threads < s.cores && busy_share(s) > 0.8; }

Bottleneck of_part(const PipelineStatistics& s, const Part& p) {
  const StepStatistics& t = s.steps[static_cast<size_t>(p.step)];
  if (p.kind == Bottleneck::reads) return of_reads(t.reads);
  if (few_take_most(s, t, p.all_ns)) return Bottleneck::slow_samples;
  if (has_spare_cores(s)) return Bottleneck::threads;
  if (p.kind != Bottleneck::decoding && moves_memory(s, t)) return Bottleneck::memory;
  return p.kind;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string milliseconds(int64_t ns) {
  const double ms = static_cast<double>(ns) / 1e6;
  return ms < 100 ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.0f} ms", ms);
}

std::string of_slow(const PipelineStatistics& s, const StepStatistics& t, double share) {
  const FewSamples f = slow_of(t, queued_share(s) < 0.1);
  const SlowSample slow = t.slowest.sorted()[0];
  const std::string name = slow.source.empty() ? "a sample" : slow.source;
  return fmt::format("{} of {} samples take {} of the work in {}: {} takes {}, and half of all take less than {}",
                     f.visits, t.each.total(), percent(share), t.name, name, milliseconds(slow.ns),
                     milliseconds(t.each.percentile(0.5)));
}

std::string of_read_rate(const StepStatistics& t) {
  const ReadTally& r = t.reads;
  return fmt::format("{} reads of {:.1f} kB on average, {} each", r.reads, ratio(r.bytes, r.reads) / 1e3,
                     milliseconds(r.ns / std::max<int64_t>(1, r.reads)));
}

std::string text_of(const PipelineStatistics& s, const FoundBottleneck& f) {
  const StepStatistics& t = s.steps[static_cast<size_t>(f.step)];
  const std::string work = fmt::format(" ({} of their work)", percent(f.share));
  switch (f.bottleneck) {
    case Bottleneck::source: return fmt::format("{} makes the batches, {} of the time", t.name, percent(f.share));
    case Bottleneck::function: return fmt::format("{} is called, {} of the time", t.name, percent(f.share));
    case Bottleneck::lock:
      return fmt::format("{} waits for Python's lock, {} of its time: other threads of the program hold it", t.name,
                         percent(ratio(t.lock_ns, t.busy_ns)));
    case Bottleneck::network:
      return fmt::format("the threads wait for the network in {}{}: {}", t.name, work, of_read_rate(t));
    case Bottleneck::disk:
      return fmt::format("the threads wait for the disk in {}{}: {}", t.name, work, of_read_rate(t));
    case Bottleneck::small_reads:
      return fmt::format("the threads open and read small files for {}{}: {}", t.name, work, of_read_rate(t));
    case Bottleneck::reads:
      return fmt::format("the threads spend most on reading files for {}{}: {}", t.name, work, of_read_rate(t));
    case Bottleneck::slow_samples: return of_slow(s, t, f.share);
    case Bottleneck::threads:
      return fmt::format("{} busy, and the process may use {} cores; most work is in {} ({})",
                         s.threads == 1 ? "the only thread is" : fmt::format("all {} threads are", s.threads), s.cores,
                         t.name, percent(f.share));
    case Bottleneck::memory:
      return fmt::format(
          "the threads spend most on the {:.1f} MB that {} reads and writes for a sample{}: {:.2g} GB/s a "
          "thread, and a copy has {:.2g}",
          ratio(t.moved_bytes, t.samples) / 1e6, t.name, work, moved_rate(s, t) / 1e9, copy_rate() / 1e9);
    case Bottleneck::decoding: return fmt::format("the threads spend most on decoding in {}{}", t.name, work);
    case Bottleneck::pixels:
      return fmt::format("the threads spend most on resizing and pixel operators in {}{}", t.name, work);
    default: return fmt::format("the threads spend most on {}{}", t.name, work);
  }
}

// Where others have the cores, numbers of the pipeline say little.
std::string of_other_programs(const PipelineStatistics& s) {
  const double share = queued_share(s);
  if (share < 0.25) return {};
  return fmt::format("; the threads waited {} of their time for a core that others used", percent(share));
}

// The most that the threads could do of what they did, if they never were idle and had all cores.
void estimate(const PipelineStatistics& s, FoundBottleneck& f) {
  if (s.wall_ns <= 0) return;
  const auto wall = static_cast<double>(s.wall_ns);
  double cpu = 0, reads = 0, calls = 0;
  for (const StepStatistics& t : s.steps) {
    if (t.calls) calls = std::max(calls, static_cast<double>(t.busy_ns));
    else cpu += static_cast<double>(t.busy_ns - t.read_ns), reads += static_cast<double>(t.read_ns);
  }
  const double threads = std::max(1, s.threads), cores = std::max(1, s.cores);
  const double most = std::max({calls, cpu / std::max(threads, cores), 1.0});
  f.with_more_threads = std::max(1.0, wall / most);
  f.with_data_in_memory = std::max(1.0, wall / std::max({calls, cpu / threads, wall - reads / threads, 1.0}));
}

FoundBottleneck of_waiting(const PipelineStatistics& s, double waits) {
  FoundBottleneck f;
  f.waits = waits;
  const Part part = largest_part(s);
  const Call call = busiest_call(s);
  const double busy = busy_share(s);
  if (call.step >= 0 && (part.step < 0 || call.share > std::max(0.5, busy * 0.9))) {
    const StepStatistics& t = s.steps[static_cast<size_t>(call.step)];
    f.step = call.step, f.share = std::min(1.0, call.share);
    f.bottleneck = waits_for_lock(s, t) ? Bottleneck::lock : t.source ? Bottleneck::source : Bottleneck::function;
  } else if (part.step >= 0) {
    f.step = part.step, f.share = part.share();
    f.bottleneck = of_part(s, part);
    if (f.bottleneck == Bottleneck::slow_samples)
      f.share = ratio(slow_of(s.steps[static_cast<size_t>(f.step)], queued_share(s) < 0.1).ns, part.all_ns);
  }
  if (f.step < 0) return f;
  estimate(s, f);
  f.text = fmt::format("the loop waits {} of its time; {}{}", percent(waits), text_of(s, f), of_other_programs(s));
  return f;
}

}  // namespace

const char* name_of(Bottleneck b) {
  switch (b) {
    case Bottleneck::unknown: return "unknown";
    case Bottleneck::none: return "none";
    case Bottleneck::source: return "source";
    case Bottleneck::function: return "function";
    case Bottleneck::lock: return "lock";
    case Bottleneck::network: return "network";
    case Bottleneck::disk: return "disk";
    case Bottleneck::small_reads: return "small_reads";
    case Bottleneck::reads: return "reads";
    case Bottleneck::slow_samples: return "slow_samples";
    case Bottleneck::threads: return "threads";
    case Bottleneck::memory: return "memory";
    case Bottleneck::decoding: return "decoding";
    case Bottleneck::pixels: return "pixels";
    case Bottleneck::step: return "step";
  }
  return "unknown";
}

FoundBottleneck find_bottleneck(const PipelineStatistics& s) {
  FoundBottleneck f;
  f.text = "not enough batches to say what the loop waits for";
  if (s.iterations < 2 || s.wall_ns <= 0) return f;
  const double waits = ratio(s.consumer_wait_ns, s.wall_ns), lock = ratio(s.loop_lock_ns, s.wall_ns);
  f.waits = waits;
  if (lock > 0.2 && lock > waits) {
    f.bottleneck = Bottleneck::lock;
    f.text = fmt::format(
        "the loop waits {} of its time for Python's lock, when its batches are ready: other threads of the program "
        "hold it",
        percent(lock));
  } else if (waits < kWaits) {
    f.bottleneck = Bottleneck::none;
    f.text = fmt::format("the loop never waits for data ({} of its time): the pipeline keeps up", percent(waits));
  } else if (FoundBottleneck found = of_waiting(s, waits); found.step >= 0) {
    return found;
  }
  return f;
}

std::string PipelineStatistics::verdict() const { return find_bottleneck(*this).text; }

}  // namespace penstock
