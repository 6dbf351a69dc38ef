// SPDX-License-Identifier: Apache-2.0
#include "data/replacement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "data/hash.h"
#include "data/storage.h"
#include "pixel/philox.h"

namespace penstock {

int64_t replacement_position(uint64_t seed, uint64_t epoch, int64_t position, uint32_t attempt, int64_t size) {
  if (size < 1 || position < 0) fail(ErrorKind::internal, "a replacement for position {} of {}", position, size);
  if (size == 1) return 0;
  const RandomStream random =
      random_stream({.seed = seed, .epoch = static_cast<uint32_t>(epoch), .sample = static_cast<uint64_t>(position)},
                    RandomPurpose::replacement);
  // Repeated samples have positions of size and more: any sample will do for them.
  if (position >= size) return static_cast<int64_t>(below(random.draw64(attempt), size));
  const auto other = static_cast<int64_t>(below(random.draw64(attempt), size - 1));
  return other + (other >= position);
}

struct ErrorBudget::State {
  int64_t most;
  mutable std::mutex mutex;
  std::map<uint64_t, std::set<int64_t>> positions;  // of the last epochs, by epoch
  int64_t total = 0;
  std::vector<LeftOut> list;
};

ErrorBudget::ErrorBudget(int64_t most) : state_(new State{most, {}, {}, 0, {}}) {}
ErrorBudget::ErrorBudget(ErrorBudget&&) noexcept = default;
ErrorBudget& ErrorBudget::operator=(ErrorBudget&&) noexcept = default;
ErrorBudget::~ErrorBudget() = default;

ErrorBudget ErrorBudget::unlimited() { return ErrorBudget(INT64_MAX); }

ErrorBudget ErrorBudget::count(int64_t most) {
  if (most < 0) bad_argument("the error budget must not be negative, got {}", most);
  return ErrorBudget(most);
}

ErrorBudget ErrorBudget::fraction(double most, int64_t size) {
  if (!(most >= 0 && most <= 1)) bad_argument("an error budget as a fraction must be in [0, 1], got {}", most);
  return ErrorBudget(static_cast<int64_t>(std::floor(most * static_cast<double>(size) + 1e-9)));
}

void ErrorBudget::add(LeftOut sample) {
  const std::lock_guard lock(state_->mutex);
  std::set<int64_t>& lost = state_->positions[sample.epoch];
  if (!lost.insert(sample.position).second) return;
  ++state_->total;
  const auto count = static_cast<int64_t>(lost.size());
  if (static_cast<int64_t>(state_->list.size()) < list_limit) state_->list.push_back(sample);
  // Prefetching runs in at most two epochs at a time; older ones can get no more losses.
  while (state_->positions.size() > 3) state_->positions.erase(state_->positions.begin());
  if (count <= state_->most) return;
  fail_on(sample.source, ErrorKind::data,
          "epoch {} has lost {} samples, more than the error budget of {}; the last: {}", sample.epoch, count,
          state_->most, sample.message);
}

int64_t ErrorBudget::total() const {
  const std::lock_guard lock(state_->mutex);
  return state_->total;
}

std::vector<LeftOut> ErrorBudget::list() const {
  std::vector<LeftOut> list;
  {
    const std::lock_guard lock(state_->mutex);
    list = state_->list;
  }
  std::sort(list.begin(), list.end(), [](const LeftOut& a, const LeftOut& b) {
    return std::tie(a.epoch, a.position) < std::tie(b.epoch, b.position);
  });
  return list;
}

}  // namespace penstock
