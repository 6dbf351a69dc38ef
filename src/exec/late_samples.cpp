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

}  // namespace

LateSamples::LateSamples(const StepContext& context, DeliveredSamples& delivered)
    : context_(context),
      delivered_(delivered),
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
    receive(it, made);
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
    return add_failed(it, made);
  }
  if (it.end_of_data) {
    ends_ = true;
    return close_epoch();
  }
  const bool cuts = it.last_of_epoch && context_.options.epoch_mode != EpochMode::stream;
  const auto delivered = delivered_.brought(it.number, it.size, it.origin.back().epoch, it.states);
  const auto key_of = [&](int i) {
    const bool whole = context_.options.epoch_mode != EpochMode::stream;
    return whole ? epochs_cut_ : it.origin[static_cast<size_t>(i)].epoch;
  };
  for (int i = 0; i < it.size;) {
    const uint64_t key = key_of(i);
    Epoch& epoch = epoch_of(key);
    std::vector<int> places;
    for (; i < it.size && key_of(i) == key && static_cast<int>(places.size()) < together_; ++i) {
      if (delivered[static_cast<size_t>(i)]) --in_flight_;
      else places.push_back(i);
    }
    epoch.out += static_cast<int>(places.size());
    if (!places.empty()) made.push_back(part_of(it, std::move(places), key));
  }
  if (!cuts) return;
  epochs_.back().cut = true, ++epochs_cut_;
  close_epoch();
}

std::shared_ptr<Iteration> LateSamples::part_of(Iteration& it, std::vector<int> places, uint64_t key) const {
  auto part = make_iteration(context_.plan, context_.graph);
  part->late = std::make_unique<LatePart>(LatePart::Kind::samples);
  part->late->epoch_key = key;
  for (int i : places) part->late->members.push_back({it.number, i, it.origin[static_cast<size_t>(i)].epoch});
  part->number = it.number;
  part->has_number = part->leaves = part->unordered = true;
  split_iteration(context_, it, places, *part);
  return part;
}

void LateSamples::add_failed(Iteration& it, Jobs& made) {
  auto batch = empty_batch();
  if (it.failure) batch->failure = std::make_unique<Error>(*it.failure);  // by which that one ends as well
  batch->no_memory = it.no_memory.load();
  batch->finished = true;
  batch->late->members = it.late->members;
  made.push_back(std::move(batch));
}

// A few samples that are ready, or have failed.
void LateSamples::receive(const std::shared_ptr<Iteration>& it, Jobs& made) {
  const auto epoch = std::find_if(epochs_.begin(), epochs_.end(),
                                  [&](const Epoch& e) { return e.key == it->late->epoch_key && e.out > 0; });
  if (epoch == epochs_.end()) return;  // clear() has forgotten it
  auto& members = it->late->members;
  epoch->out -= static_cast<int>(members.size());
  if (it->no_memory || it->failure) return add_failed(*it, made);
  for (int i = 0; i < it->size; ++i) epoch->ready.push_back({it, i});
  for (LeftOut& l : std::exchange(it->left_out, {})) left_out_.push_back(std::move(l));
  if (it->size == static_cast<int>(members.size())) return;
  const auto is_here = [&](const BroughtSample& m) {
    return std::any_of(it->origin.begin(), it->origin.end(), [&](const auto& o) { return o.number == m.place; });
  };
  for (const BroughtSample& m : members)
    if (!is_here(m)) left_.push_back(m);
}

void LateSamples::taken(const Iteration& batch) { in_flight_ -= static_cast<int64_t>(batch.late->members.size()); }

void LateSamples::clear() {
  std::lock_guard lock(mutex_);
  epochs_.clear(), left_out_.clear(), left_.clear();
  ends_ = false;
  in_flight_ = 0;
  delivered_.clear();
}

}  // namespace penstock
