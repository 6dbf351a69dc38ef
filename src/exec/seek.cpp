// SPDX-License-Identifier: Apache-2.0
// Batch number i of a pipeline: the sources compute where it begins, so nothing before it is made.
#include <algorithm>

#include "exec/executor.h"

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

}  // namespace

std::optional<Error> Executor::why_content_decides() const {
  if (rebatch_ > 0)
    return Error(ErrorKind::argument,
                 fmt::format("the pipeline divides its samples into new batches of {} (fn.rebatch, or an iterator with "
                             "refill): only the batches before it say where batch number i begins. Omit that, or {}",
                             rebatch_, kReplay));
  for (const Step& s : plan.steps)
    if (s.kind == Step::Kind::control && s.flow == Step::Flow::change)
      if (const Node& n = plan.graph.node(s.nodes[0]); leaves_out_iterations(n))
        return of_node(n, fmt::format("leaves out batches with fewer than min_batch samples: only the data before it "
                                      "say which one is batch number i. Give min_batch=0{}, or {}",
                                      n.region == 0 ? " or too_few=\"error\"" : "", kReplay));
  if (primary < 0) return std::nullopt;
  const auto* external = dynamic_cast<const ExternalSource*>(sources_.at(primary).get());
  if (external && external->feed()->numbered() == ExternalFeed::Numbered::any_size)
    return of_node(
        graph.node(primary),
        fmt::format("may return fewer samples than batch_size: only the batches before it say which samples "
                    "batch number i has, and so what they draw. Give batch=False and a callable that takes a "
                    "SampleInfo, whose batches are full, or {}",
                    kReplay));
  return std::nullopt;
}

void Executor::check_place(uint64_t epoch, int64_t batch) const {
  if (batch < 0 || batch > kMostBatches) bad_argument("batch must be between 0 and {}, got {}", kMostBatches, batch);
  if (epoch > UINT32_MAX) bad_argument("epoch must be between 0 and {}, got {}", UINT32_MAX, epoch);
  if (epoch > 0 && primary < 0)
    bad_argument("a pipeline without a reader or another source has one epoch that does not end: give epoch=0, got {}",
                 epoch);
  for (const auto& [id, source] : sources_)
    if (const std::string why = source->why_no_numbers(); !why.empty()) throw of_node(graph.node(id), why);
}

// Further sources beside a reader have given as many batches as it, whatever their own epochs are.
BatchPlace Executor::place_of(uint64_t epoch, int64_t batch) const {
  if (epoch == 0 || primary < 0 || !sources_.at(primary)->meta()) return {epoch, batch};
  return {0, sources_.at(primary)->number_of(epoch, batch, options.batch_size, options.epoch_mode)};
}

void Executor::seek(uint64_t epoch, int64_t batch, bool replay, const std::function<void()>& poll) {
  check_process();
  check_place(epoch, batch);
  const auto content = batch > 0 || epoch > 0 ? why_content_decides() : std::nullopt;
  const bool begins =
      batch == 0 && primary >= 0 && (options.epoch_mode != EpochMode::stream || !sources_.at(primary)->meta());
  if (content && !begins && !replay) throw *content;
  if (content && !begins && epoch > 0 && options.epoch_mode == EpochMode::stream && sources_.at(primary)->meta())
    bad_argument(
        "epoch {} begins in the middle of a batch, and only the data say in which one: give the number of the batch in "
        "the whole run, with epoch=0",
        epoch);
  drop_in_flight();
  const int64_t made_before = content && !begins ? batch : 0;
  begin_with(epoch, batch - made_before, true);
  for (int64_t k = 0; k < made_before; ++k) {
    while (in_flight() < depth && schedule()) {
    }
    outputs(poll);
  }
}

void Executor::schedule_batches(uint64_t epoch, std::span<const int64_t> batches) {
  check_process();
  for (const int64_t batch : batches) check_place(epoch, batch);
  if (const auto content = why_content_decides()) throw *content;
  if (batches.empty()) return;
  if (!lists_ || in_flight() == 0) {
    drop_in_flight();
    begin_with(epoch, batches[0], false);
  }
  std::vector<BatchPlace> places;
  for (const int64_t batch : batches) places.push_back(place_of(epoch, batch));
  std::lock_guard lock(mutex_);
  lists_ = true;
  listed_.insert(listed_.end(), places.begin(), places.end());
}

// Nothing is in flight. Where a source refuses the place, the batch after the last one that was returned comes next.
void Executor::begin_with(uint64_t epoch, int64_t batch, bool follows) {
  std::lock_guard lock(mutex_);
  try {
    seek_sources(place_of(epoch, batch), follows);
  } catch (...) {
    go_back();
    throw;
  }
}

void Executor::seek_sources(const BatchPlace& place, bool follows) {
  std::map<int, std::string> states;
  for (auto& [id, source] : sources_) {
    source->seek(place.epoch, place.batch, options.batch_size, options.epoch_mode, follows);
    source->next_number = static_cast<int64_t>(next_number_);
    states[id] = source->state();
  }
  delivered_states_ = std::move(states);
  last_number_ = UINT64_MAX;
  at_end_of_epoch_ = false;
  parts_.clear();
  skip_ = resumed_ = 0;
  lists_ = false, listed_.clear();
  replayed_ = 0, replay_number_ = next_number_;
  if (primary >= 0) return;
  const auto position = static_cast<uint64_t>(place.batch) * static_cast<uint64_t>(options.batch_size);
  begin_at(position);
  delivered_states_[kNoSource] = std::to_string(position);
}

void Executor::begin_at(uint64_t position) {
  first_position_ = position - next_number_ * static_cast<uint64_t>(options.batch_size);  // modulo 2^64
}

// Sources are where the batches that were made ahead have left them. Under mutex_, with nothing in flight.
void Executor::go_back() {
  lists_ = false, listed_.clear();
  parts_.clear();
  resumed_ = skip_;  // of the iteration that the next batch begins in
  for (auto& [id, source] : sources_) {
    source->restore(delivered_states_.at(id));
    source->next_number = static_cast<int64_t>(next_number_);
  }
  if (primary < 0) begin_at(std::stoull(delivered_states_.at(kNoSource)));
}

// Nobody wants what is in flight: what a thread works on it completes, nothing new begins. The wait is short and has no
// end but this one: half of the iterations may have ended by it.
void Executor::drop_in_flight() {
  std::vector<std::shared_ptr<Iteration>> ended;
  std::unique_lock lock(mutex_);
  wake({std::exchange(held_, kNobody)});
  end_soon(ended);
  lock.unlock();
  for (const auto& it : ended) {
    finish_step(*it, options.threads);
    complete(it);
  }
  lock.lock();
  let_go(lock, {});
}

// Iterations end as those do that have no memory: without settling what they have done. `ended`: their step ends here,
// since no thread works on it.
void Executor::end_soon(std::vector<std::shared_ptr<Iteration>>& ended) {
  for (const auto& it : queue_) {
    if (it->finished) continue;
    it->no_memory = true;
    if (!it->prepared && !it->preparing && !it->waits && !it->on_gpu) it->finished = true;
    if (!it->prepared || it->next_item >= it->items) continue;
    it->items = it->next_item;
    if (it->done_items == it->items) ended.push_back(it);
  }
}

// The first one at once, so that those after it get its memory where there is a limit.
void Executor::let_go(std::unique_lock<std::mutex>& lock, const std::function<void()>& poll) {
  if (queue_.empty()) return;
  consumer_waits_ = true;
  const auto all_gone = [&] {
    while (!queue_.empty() && queue_.front()->finished) {
      std::shared_ptr<Iteration> first = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      first.reset();
      lock.lock();
    }
    Wake room;
    wake_for_room(room);
    wake(room);
    return queue_.empty();
  };
  try {
    wait_for_consumer(lock, poll, all_gone);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    consumer_waits_ = false;
    throw;
  }
  consumer_waits_ = false;
}

}  // namespace penstock
