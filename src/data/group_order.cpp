// SPDX-License-Identifier: Apache-2.0
#include "data/group_order.h"

#include <algorithm>

#include "data/permutation.h"

namespace penstock {

GroupOrder::GroupOrder(std::vector<int64_t> first, int64_t window) : first_(std::move(first)), window_(window) {}

void GroupOrder::set(uint64_t seed, uint64_t epoch) const {
  if (now_.seed == seed && now_.epoch == epoch) return;
  const auto groups = static_cast<int64_t>(first_.size()) - 1;
  const Permutation order(groups, seed, static_cast<uint32_t>(epoch), 1);
  now_ = {seed, epoch, {}, {0}};
  int64_t places = 0;
  for (int64_t k = 0; k < groups; ++k) {
    const auto group = static_cast<int>(order(k));
    now_.groups.push_back(group);
    places += first_[group + 1] - first_[group];
    if ((k + 1) % window_ == 0 || k + 1 == groups) now_.first.push_back(places);
  }
}

int64_t GroupOrder::at(uint64_t seed, uint64_t epoch, int64_t place) const {
  const std::lock_guard lock(mutex_);
  set(seed, epoch);
  const auto window = std::upper_bound(now_.first.begin(), now_.first.end(), place) - now_.first.begin() - 1;
  const Permutation inside(now_.first[window + 1] - now_.first[window], seed, static_cast<uint32_t>(epoch),
                           static_cast<uint32_t>(2 + window));
  int64_t sample = inside(place - now_.first[window]);
  for (int64_t k = window * window_;; ++k) {
    const int64_t begin = first_[now_.groups[k]], size = first_[now_.groups[k] + 1] - begin;
    if (sample < size) return begin + sample;
    sample -= size;
  }
}

std::vector<int> GroupOrder::near(uint64_t epoch, int group) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(now_.groups.begin(), now_.groups.end(), group);
  if (now_.epoch != epoch || found == now_.groups.end()) return {};
  const int64_t begin = (found - now_.groups.begin()) / window_ * window_;
  const int64_t end = std::min(begin + 2 * window_, static_cast<int64_t>(now_.groups.size()));
  std::vector<int> groups(now_.groups.begin() + begin, now_.groups.begin() + end);
  std::erase(groups, group);
  return groups;
}

}  // namespace penstock
