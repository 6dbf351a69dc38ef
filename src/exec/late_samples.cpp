// SPDX-License-Identifier: Apache-2.0
#include "exec/late_samples.h"

#include <algorithm>
#include <utility>

#include "exec/split_iteration.h"

namespace penstock {
namespace {

// Two, since some stages are quicker for two samples than for one after the other; more where batches are large, as an
// iteration costs some microseconds.
int samples_together(const PipelineOptions& o) {
  return std::min(o.batch_size, std::clamp(o.batch_size / (8 * o.threads), 2, 8));
}

int margin(const StepContext& context) {
  int threads = context.options.threads_made();
  for (const Step& s : context.plan.steps)
    if (s.kind == Step::Kind::call) ++threads;
  return threads * samples_together(context.options);
}

std::shared_ptr<Iteration> part_of(const StepContext& context, const Iteration& it, const std::vector<int>& places,
                                   uint64_t key) {
  auto part = make_iteration(context.plan, context.graph);
  part->late = std::make_unique<LatePart>(LatePart::Kind::samples);
  part->late->epoch_key = key;
  for (int i : places) part->late->members.push_back({it.number, i, it.origin[static_cast<size_t>(i)].epoch});
  part->number = it.number;
  part->has_number = part->leaves = part->unordered = true;
  split_iteration(context, it, places, *part);
  return part;
}

}  // namespace

LateSamples::LateSamples(const StepContext& context)
    : context_(context),
      plan_(late_plan(context.plan, context.options, context.sources)),
      gathered_(context, plan_),
      together_(samples_together(context.options)),
      margin_(margin(context)) {}

size_t LateSamples::begin(Iteration& it) const {
  if (it.late->kind != LatePart::Kind::batch) return next(it, SIZE_MAX);
  it.late->gathering = true;
  return plan_.last_of_samples;
}

size_t LateSamples::next(const Iteration& it, size_t step) const {
  const auto& steps = context_.plan.steps;
  const LatePart::Kind kind = it.late->kind;
  const bool nothing_to_ask = kind == LatePart::Kind::bringing && context_.sources.all().empty();
  if (nothing_to_ask) return step == SIZE_MAX ? 0 : steps.size();
  for (step = it.late->gathering ? 0 : step + 1; step < steps.size(); ++step) {
    if (kind == LatePart::Kind::bringing && steps[step].kind == Step::Kind::source) break;
    if (kind == LatePart::Kind::samples && plan_.of_samples[step]) break;
    if (kind == LatePart::Kind::batch && plan_.of_batches[step]) break;
  }
  return step;
}

bool LateSamples::ask_for_one(bool needed) {
  if (!std::exchange(checked_, true)) check_feeds(context_.graph, context_.sources);
  const int64_t size = context_.options.batch_size;
  const int64_t ahead = size * std::max(1, context_.depth) + margin_;
  int64_t now = in_flight_;
  do {
    if (now + size > ahead && now > 0 && !needed) return false;
  } while (!in_flight_.compare_exchange_weak(now, now + size));
  return true;
}

void LateSamples::ended(const std::shared_ptr<Iteration>& it, Scheduler& scheduler) {
  std::lock_guard lock(mutex_);
  Jobs made;
  if (it->late->kind == LatePart::Kind::bringing) {
    brought_[it->number] = it;
    for (auto at = brought_.find(next_); at != brought_.end(); at = brought_.find(++next_)) {
      divide(*at->second, made);
      brought_.erase(at);
    }
  } else {
    receive(it);
  }
  form(made);
  if (!made.empty()) scheduler.add_made(std::move(made));
}

LateSamples::Epoch& LateSamples::epoch_of(uint64_t key) {
  if (epochs_.empty() || epochs_.back().closed || epochs_.back().key != key) {
    close_epoch();
    epochs_.emplace_back().key = key;
  }
  return epochs_.back();
}

void LateSamples::close_epoch() {
  if (!epochs_.empty()) epochs_.back().closed = true;
}

// In the order of the sources.
void LateSamples::divide(Iteration& it, Jobs& made) {
  in_flight_ += it.size - context_.options.batch_size;
  if (it.no_memory || it.failure) {
    in_flight_ -= it.size;
    return made.push_back(batches_.failed(it));
  }
  if (it.end_of_data) {
    ends_ = true;
    return close_epoch();
  }
  const bool cuts = it.last_of_epoch && context_.options.epoch_mode != EpochMode::stream;
  const auto had = delivered.brought(it.number, it.size, it.origin.back().epoch, it.states);
  const auto key_of = [&](int i) {
    const bool whole = context_.options.epoch_mode != EpochMode::stream;
    return whole ? epochs_cut_ : it.origin[static_cast<size_t>(i)].epoch;
  };
  for (int i = 0; i < it.size;) {
    const uint64_t key = key_of(i);
    Epoch& epoch = epoch_of(key);
    std::vector<int> places;
    for (; i < it.size && key_of(i) == key && static_cast<int>(places.size()) < together_; ++i) {
      if (had[static_cast<size_t>(i)]) --in_flight_;
      else places.push_back(i);
    }
    epoch.out += static_cast<int>(places.size());
    if (!places.empty()) made.push_back(part_of(context_, it, places, key));
  }
  if (!cuts) return;
  epochs_.back().cut = true, ++epochs_cut_;
  close_epoch();
}

// A few samples that are ready, or have failed.
void LateSamples::receive(const std::shared_ptr<Iteration>& it) {
  const auto epoch = std::find_if(epochs_.begin(), epochs_.end(),
                                  [&](const Epoch& e) { return e.key == it->late->epoch_key && e.out > 0; });
  if (epoch == epochs_.end()) return;  // clear() has forgotten it
  auto& members = it->late->members;
  epoch->out -= static_cast<int>(members.size());
  if (it->no_memory || it->failure) return epoch->failed.push_back(it);
  for (int i = 0; i < it->size; ++i) epoch->ready.push_back({it, i});
  for (LeftOut& l : std::exchange(it->left_out, {})) batches_.left_out.push_back(std::move(l));
  if (it->size == static_cast<int>(members.size())) return;
  const auto is_here = [&](const BroughtSample& m) {
    return std::any_of(it->origin.begin(), it->origin.end(), [&](const auto& o) { return o.number == m.place; });
  };
  for (const BroughtSample& m : members)
    if (!is_here(m)) batches_.left.push_back(m);
}

// The last batches of an epoch wait for what is out, and failures for their epoch.
void LateSamples::form(Jobs& made) {
  const auto size = static_cast<size_t>(context_.options.batch_size);
  while (!epochs_.empty()) {
    Epoch& e = epochs_.front();
    for (const auto& it : std::exchange(e.failed, {})) made.push_back(batches_.failed(*it));
    const bool all = e.closed && e.out == 0;
    while (e.ready.size() >= size && !(all && e.cut && e.ready.size() == size))
      made.push_back(batches_.take(e.ready, size));
    if (!all) return;
    if (e.cut) {
      if (context_.options.epoch_mode == EpochMode::drop && e.ready.size() < size) batches_.drop(e.ready);
      auto last = batches_.take(e.ready, e.ready.size());
      last->last_of_epoch = true;
      made.push_back(std::move(last));
    } else if (epochs_.size() > 1) {  // a batch may have samples of two epochs
      auto& next = epochs_[1].ready;
      next.insert(next.begin(), std::make_move_iterator(e.ready.begin()), std::make_move_iterator(e.ready.end()));
    } else if (!ends_) {
      return;
    } else if (!e.ready.empty()) {
      made.push_back(batches_.take(e.ready, e.ready.size()));
    }
    epochs_.pop_front();
  }
  if (!std::exchange(ends_, false)) return;
  std::deque<ReadySample> none;
  auto end = batches_.take(none, 0);
  end->end_of_data = true;
  made.push_back(std::move(end));
}

void LateSamples::taken(const Iteration& batch) { in_flight_ -= static_cast<int64_t>(batch.late->members.size()); }

void LateSamples::clear() {
  std::lock_guard lock(mutex_);
  epochs_.clear(), batches_.left_out.clear(), batches_.left.clear();
  ends_ = false;
  in_flight_ = 0;
  delivered.clear();
}

}  // namespace penstock
