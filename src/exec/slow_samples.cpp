// SPDX-License-Identifier: Apache-2.0
#include "exec/slow_samples.h"

#include <algorithm>
#include <utility>

namespace penstock {

static bool quicker(const SlowSample& a, const SlowSample& b) { return a.ns < b.ns; }

SlowSample* SlowSamples::same(const SlowSample& s) {
  if (s.source.empty()) return nullptr;
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& k) { return k.source == s.source; });
  return found == kept_.end() ? nullptr : &*found;
}

void SlowSamples::add(SlowSample s) {
  if (s.least_ns == 0) s.least_ns = s.ns;
  if (SlowSample* const before = same(s)) {
    const int64_t visits = s.visits + before->visits, least = std::min(s.least_ns, before->least_ns);
    if (s.ns > before->ns) *before = std::move(s);
    before->visits = visits, before->least_ns = least;
  } else if (kept_.size() < kMost) {
    kept_.push_back(std::move(s));
  } else {
    SlowSample& last = *std::min_element(kept_.begin(), kept_.end(), quicker);
    if (quicker(last, s)) last = std::move(s);
  }
  least_ = std::min_element(kept_.begin(), kept_.end(), quicker)->ns;
}

std::vector<SlowSample> SlowSamples::sorted() const {
  std::vector<SlowSample> all = kept_;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return quicker(b, a); });
  return all;
}

}  // namespace penstock
