// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/suppression.h"

#include <algorithm>

#include "base/target.h"

namespace penstock {
namespace {

constexpr int kTogether = 32;  // boxes that one is compared with at once
#define PENSTOCK_LOOPS suppression
#define PENSTOCK_LOOPS_TEXT "ops/shared/suppression.inc.h"
#include "base/foreach_target.h"

int64_t label_of(const BoxCandidates& from, const SuppressionCoef& c, int64_t i) {
  const int64_t box = i / c.classes;
  if (!c.labeled) return i - box * c.classes;
  int64_t label = 0;
  dispatch(from.labels.dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) label = static_cast<int64_t>(from.labels.as<const T>()[box]);
  });
  return label;
}

std::vector<int64_t> passing(const BoxCandidates& from, const SuppressionCoef& c) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < c.sizes.candidates; ++i)
    if (PassingScores::passes(from.scores[i], c)) found.push_back(i);
  return found;
}

// Labels as 0, 1, ... in their order.
std::vector<int32_t> numbered(const std::vector<int64_t>& labels, size_t& count) {
  std::vector<int64_t> distinct = labels;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  count = distinct.size();
  std::vector<int32_t> to(labels.size());
  for (size_t k = 0; k < labels.size(); ++k)
    to[k] = static_cast<int32_t>(std::lower_bound(distinct.begin(), distinct.end(), labels[k]) - distinct.begin());
  return to;
}

// The kept boxes of each class, kTogether at a time: their left sides, then their tops, and so on. What has no box
// meets none.
class KeptSides {
 public:
  KeptSides(const std::vector<int32_t>& classes, size_t count) : begin_(count + 1), kept_(count) {
    for (const int32_t c : classes) ++begin_[static_cast<size_t>(c) + 1];
    for (size_t k = 0; k < count; ++k)
      begin_[k + 1] = begin_[k] + (begin_[k + 1] + kTogether - 1) / kTogether * kTogether;
    sides_.assign(static_cast<size_t>(begin_[count]) * 4, std::numeric_limits<float>::quiet_NaN());
  }
  bool meet(const Corners& box, size_t of, const SuppressionCoef& c) const {
    const float* const sides = sides_.data() + 4 * begin_[of];
    return PENSTOCK_FOR_TARGET(target_, suppression, meets(box, sides, kept_[of], c.overlap_threshold, c.kind));
  }
  void add(const Corners& box, size_t of) {
    const int64_t at = begin_[of] + kept_[of]++, group = at / kTogether * kTogether;
    float* const side = sides_.data() + 4 * group + (at - group);
    side[0] = box.left, side[kTogether] = box.top, side[2 * kTogether] = box.right, side[3 * kTogether] = box.bottom;
  }

 private:
  const Target target_ = best_target();
  std::vector<int64_t> begin_, kept_;
  std::vector<float> sides_;
};

KeptCandidates remove(const BoxCandidates& from, const SuppressionCoef& c) {
  std::vector<int64_t> keys = passing(from, c);
  for (int64_t& i : keys) i = score_key(from.scores[i], i);
  std::sort(keys.begin(), keys.end());
  const bool alike = !c.labeled && c.classes == 1;
  std::vector<int64_t> labels;
  for (const int64_t key : keys)
    if (!alike) labels.push_back(label_of(from, c, key & 0x7FFFFFFF));
  size_t count = 1;
  const std::vector<int32_t> classes = alike ? std::vector<int32_t>(keys.size(), 0) : numbered(labels, count);
  KeptSides sides(classes, count);
  KeptCandidates to;
  for (size_t k = 0; k < keys.size() && static_cast<int64_t>(to.numbers.size()) < c.most; ++k) {
    const int64_t i = keys[k] & 0x7FFFFFFF;
    const Corners box = corners_of(from.boxes + 4 * (i / c.classes), c.form);
    const auto of = static_cast<size_t>(classes[k]);
    if (sides.meet(box, of, c)) continue;
    sides.add(box, of);
    to.numbers.push_back(static_cast<int32_t>(i)), to.scores.push_back(from.scores[i]);
  }
  return to;
}

struct DecayingBox {
  int64_t candidate, label;
  Corners corners;
  float score;
};

KeptCandidates decay(const BoxCandidates& from, const SuppressionCoef& c) {
  std::vector<DecayingBox> left;  // in the order of candidates
  for (const int64_t i : passing(from, c))
    left.push_back({i, label_of(from, c, i), corners_of(from.boxes + 4 * (i / c.classes), c.form), from.scores[i]});
  KeptCandidates to;
  size_t best = 0;
  for (size_t k = 0; k < left.size(); ++k)
    if (left[k].score > left[best].score) best = k;
  while (!left.empty() && static_cast<int64_t>(to.numbers.size()) < c.most) {
    const DecayingBox taken = left[best];
    to.numbers.push_back(static_cast<int32_t>(taken.candidate)), to.scores.push_back(taken.score);
    size_t stay = 0, highest = 0;
    for (size_t k = 0; k < left.size(); ++k) {
      DecayingBox& b = left[k];
      if (k == best) continue;
      if (b.label == taken.label) {
        const float v = overlap_of(taken.corners, b.corners, c.kind);
        b.score = decayed(b.score, v, c.decay, c.overlap_threshold, c.sigma);
        if (!PassingScores::passes(b.score, c)) continue;
      }
      if (stay != k) left[stay] = b;
      if (left[stay].score > left[highest].score) highest = stay;
      ++stay;
    }
    left.resize(stay), best = highest;
  }
  return to;
}

}  // namespace

KeptCandidates suppress(const BoxCandidates& from, const SuppressionCoef& c) {
  return c.decay ? decay(from, c) : remove(from, c);
}

}  // namespace penstock
