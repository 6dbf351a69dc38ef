// SPDX-License-Identifier: Apache-2.0
#include "exec/delivered_samples.h"

#include <algorithm>
#include <utility>

namespace penstock {

std::vector<char> DeliveredSamples::brought(uint64_t number, int samples, uint64_t last_epoch, States states) {
  std::lock_guard lock(mutex_);
  Record r;
  r.before = std::exchange(last_, std::make_shared<const States>(std::move(states)));
  r.after = last_;
  r.delivered.assign(static_cast<size_t>(samples), 0);
  r.last_epoch = last_epoch;
  if (!resumed_.empty()) {
    for (const auto& [first, last] : resumed_.front())
      for (int i = first; i <= last && i < samples; ++i) r.delivered[static_cast<size_t>(i)] = 1;
    resumed_.pop_front();
  }
  r.left = static_cast<int>(std::count(r.delivered.begin(), r.delivered.end(), 0));
  return records_.emplace(number, std::move(r)).first->second.delivered;
}

std::optional<DeliveredSamples::States> DeliveredSamples::deliver(std::span<const BroughtSample> samples) {
  std::lock_guard lock(mutex_);
  for (const BroughtSample& s : samples) {
    const auto at = records_.find(s.brought);
    if (at == records_.end()) continue;
    Record& r = at->second;
    if (std::exchange(r.delivered[static_cast<size_t>(s.place)], 1) == 0) --r.left;
    const bool last = s.epoch == r.last_epoch;  // of a batch with two epochs the user may know only the first
    if (s.brought > furthest_number_ || (last && s.brought == furthest_number_)) furthest_ = last ? r.after : r.before;
    furthest_number_ = std::max(furthest_number_, s.brought);
  }
  std::shared_ptr<const States> passed;
  for (auto first = records_.begin(); first != records_.end() && first->second.left == 0;) {
    passed = first->second.after;
    first = records_.erase(first);
  }
  return passed ? std::optional(*passed) : std::nullopt;
}

std::optional<DeliveredSamples::States> DeliveredSamples::furthest() const {
  std::lock_guard lock(mutex_);
  return furthest_ ? std::optional(*furthest_) : std::nullopt;
}

void DeliveredSamples::clear() {
  std::lock_guard lock(mutex_);
  records_.clear();
  resumed_.clear();
  last_ = furthest_ = nullptr;
  furthest_number_ = 0;
}

std::vector<std::vector<DeliveredSamples::Range>> DeliveredSamples::list() const {
  std::lock_guard lock(mutex_);
  std::vector<std::vector<Range>> all;
  for (const auto& [number, r] : records_) {
    std::vector<Range> ranges;
    for (int i = 0; i < static_cast<int>(r.delivered.size()); ++i) {
      if (!r.delivered[static_cast<size_t>(i)]) continue;
      if (!ranges.empty() && ranges.back().second == i - 1) ranges.back().second = i;
      else ranges.emplace_back(i, i);
    }
    all.push_back(std::move(ranges));
  }
  for (const auto& ranges : resumed_) all.push_back(ranges);
  while (!all.empty() && all.back().empty()) all.pop_back();
  return all;
}

void DeliveredSamples::resume(std::vector<std::vector<Range>> delivered) {
  std::lock_guard lock(mutex_);
  count_ = 0;
  for (const auto& ranges : delivered)
    for (const auto& [first, last] : ranges) count_ += std::max(0, last - first + 1);
  resumed_.assign(std::make_move_iterator(delivered.begin()), std::make_move_iterator(delivered.end()));
}

}  // namespace penstock
