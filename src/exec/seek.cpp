// SPDX-License-Identifier: Apache-2.0
#include "exec/seek.h"

#include <algorithm>

namespace penstock {
namespace {

constexpr int64_t kMostBatches = int64_t{1} << 48;

constexpr const char* kReplay =
    "seek with replay=True, which makes the batches before it from the beginning of the epoch on and drops them";

Error of_node(const Node& n, const std::string& why) {
  Error e(ErrorKind::argument, why);
  e.op = n.op.empty() ? "filter" : n.op, e.user_line = n.user_line;
  return e;
}

// Whether an iteration of which this leaves too few samples is not handed out, so that a later one takes its number.
bool leaves_out_iterations(const Node& n) {
  if (n.control != Control::filter || constant_of(n, "min_batch", 1) < 1) return false;
  if (n.region != 0) return true;
  for (const auto& [name, value] : n.constants)
    if (name == "too_few" && std::get<std::string>(value) == "error") return false;
  return true;
}

// Where a batch begins; none: its number does.
std::optional<Error> why_content_decides(Executor& e) {
  if (e.outputs.refill() > 0)
    return Error(ErrorKind::argument,
                 fmt::format("the pipeline divides its samples into new batches of {} (fn.rebatch, or an iterator with "
                             "refill): only the batches before it say where batch number i begins. Omit that, or {}",
                             e.outputs.refill(), kReplay));
  for (const Step& s : e.plan.steps)
    if (s.kind == Step::Kind::control && s.flow == Step::Flow::change)
      if (const Node& n = e.plan.graph.node(s.nodes[0]); leaves_out_iterations(n))
        return of_node(n, fmt::format("leaves out batches with fewer than min_batch samples: only the data before it "
                                      "say which one is batch number i. Give min_batch=0{}, or {}",
                                      n.region == 0 ? " or too_few=\"error\"" : "", kReplay));
  const int primary = e.sources.primary();
  if (primary < 0) return std::nullopt;
  const auto* external = e.sources.external(primary);
  if (external && external->feed()->numbered() == ExternalFeed::Numbered::any_size)
    return of_node(
        e.graph.node(primary),
        fmt::format("may return fewer samples than batch_size: only the batches before it say which samples "
                    "batch number i has, and so what they draw. Give batch=False and a callable that takes a "
                    "SampleInfo, whose batches are full, or {}",
                    kReplay));
  return std::nullopt;
}

void check_place(Executor& e, uint64_t epoch, int64_t batch) {
  if (batch < 0 || batch > kMostBatches) bad_argument("batch must be between 0 and {}, got {}", kMostBatches, batch);
  if (epoch > UINT32_MAX) bad_argument("epoch must be between 0 and {}, got {}", UINT32_MAX, epoch);
  if (epoch > 0 && e.sources.primary() < 0)
    bad_argument("a pipeline without a reader or another source has one epoch that does not end: give epoch=0, got {}",
                 epoch);
  for (const auto& [id, source] : e.sources.all())
    if (const std::string why = source->why_no_numbers(); !why.empty()) throw of_node(e.graph.node(id), why);
}

// Further sources beside a reader have given as many batches as it, whatever their own epochs are.
BatchPlace place_of(Executor& e, uint64_t epoch, int64_t batch) {
  const int primary = e.sources.primary();
  if (epoch == 0 || primary < 0 || !e.sources.at(primary).meta()) return {epoch, batch};
  return {0, e.sources.at(primary).number_of(epoch, batch, e.options.batch_size, e.options.epoch_mode)};
}

// A pipeline without sources.
void begin_at(Executor& e, uint64_t position) {
  const uint64_t before = e.iterations.next_number() * static_cast<uint64_t>(e.options.batch_size);
  e.sources.first_position = position - before;  // modulo 2^64
}

void seek_sources(Executor& e, const BatchPlace& place, bool follows) {
  e.sources.seek(place, e.iterations.next_number(), follows);
  std::map<int, std::string> states;
  for (const auto& [id, source] : e.sources.all()) states[id] = source->state();
  if (e.sources.primary() < 0) {
    const uint64_t position = static_cast<uint64_t>(place.batch) * static_cast<uint64_t>(e.options.batch_size);
    begin_at(e, position);
    states[kNoSource] = std::to_string(position);
  }
  e.outputs.deliveries.states = std::move(states);
  e.iterations.list({});
  e.outputs.begin_at_a_batch();
}

// Nothing is in flight. Where a source refuses the place, the batch after the last one that was returned comes next.
void begin_with(Executor& e, uint64_t epoch, int64_t batch, bool follows) {
  try {
    seek_sources(e, place_of(e, epoch, batch), follows);
  } catch (...) {
    go_back(e);
    throw;
  }
}

}  // namespace

void seek(Executor& e, uint64_t epoch, int64_t batch, bool replay, const std::function<void()>& poll) {
  e.iterations.check_process();
  const int primary = e.sources.primary();
  check_place(e, epoch, batch);
  const auto content = batch > 0 || epoch > 0 ? why_content_decides(e) : std::nullopt;
  const bool begins =
      batch == 0 && primary >= 0 && (e.options.epoch_mode != EpochMode::stream || !e.sources.at(primary).meta());
  if (content && !begins && !replay) throw *content;
  if (content && !begins && epoch > 0 && e.options.epoch_mode == EpochMode::stream && e.sources.at(primary).meta())
    bad_argument(
        "epoch {} begins in the middle of a batch, and only the data say in which one: give the number of the batch in "
        "the whole run, with epoch=0",
        epoch);
  e.iterations.abandon();
  const int64_t made_before = content && !begins ? batch : 0;
  begin_with(e, epoch, batch - made_before, true);
  for (int64_t k = 0; k < made_before; ++k) {
    while (e.iterations.size() < e.iterations.depth && e.outputs.schedule()) {
    }
    e.outputs.outputs(poll);
  }
}

void schedule_batches(Executor& e, uint64_t epoch, std::span<const int64_t> batches) {
  e.iterations.check_process();
  for (const int64_t batch : batches) check_place(e, epoch, batch);
  if (const auto content = why_content_decides(e)) throw *content;
  if (batches.empty()) return;
  if (!e.iterations.lists() || e.iterations.size() == 0) {
    e.iterations.abandon();
    begin_with(e, epoch, batches[0], false);
  }
  std::vector<BatchPlace> places;
  for (const int64_t batch : batches) places.push_back(place_of(e, epoch, batch));
  e.iterations.list(places);
}

// Sources are where the batches that were made ahead have left them.
void go_back(Executor& e) {
  e.iterations.list({});
  e.outputs.go_back();
  auto& states = e.outputs.deliveries.states;
  for (const auto& [id, source] : e.sources.all()) {
    source->restore(states.at(id));
    source->next_number = static_cast<int64_t>(e.iterations.next_number());
  }
  if (e.sources.primary() < 0) begin_at(e, std::stoull(states.at(kNoSource)));
}

}  // namespace penstock
