// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/robust_homography.h"

#include "ops/shared/linear_system.h"
#include "pixel/philox.h"

namespace penstock {
namespace {

using Four = std::array<size_t, 4>;

double area_of_turn(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}
// Whether a perspective may map four points to others: no three are on a line, and of all triples the sense of turning
// is kept, or of none.
bool may_correspond(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target, const Four& k) {
  int same = 0;
  for (size_t left = 0; left < 4; ++left) {
    const size_t a = k[(left + 1) % 4], b = k[(left + 2) % 4], c = k[(left + 3) % 4];
    const double turn = area_of_turn(source[a], source[b], source[c]);
    const double other = area_of_turn(target[a], target[b], target[c]);
    if (!(std::fabs(turn) > 1e-9) || !(std::fabs(other) > 1e-9)) return false;
    same += (turn > 0) == (other > 0);
  }
  return same == 0 || same == 4;
}

// The perspective of four pairs. The first point is the origin: it does not go to infinity.
bool fit_four(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target, const Four& four,
              Perspective& h) {
  const PlanePoint origin = source[four[0]];
  std::vector<double> rows;
  rows.reserve(8 * 9);
  for (const size_t k : four) {
    const double x = source[k].x - origin.x, y = source[k].y - origin.y, u = target[k].x, v = target[k].y;
    rows.insert(rows.end(), {x, y, 1, 0, 0, 0, -u * x, -u * y, u, 0, 0, 0, x, y, 1, -v * x, -v * y, v});
  }
  if (!solve(rows, 8, 1)) return false;
  for (size_t i = 0; i < 8; ++i) h[i] = rows[i * 9 + 8];
  h[8] = 1;
  for (size_t r = 0; r < 3; ++r) h[3 * r + 2] -= h[3 * r] * origin.x + h[3 * r + 1] * origin.y;
  return std::all_of(h.begin(), h.end(), [](double v) { return std::isfinite(v); });
}

std::vector<PlanePoint> points_at(const std::vector<PlanePoint>& points, std::span<const size_t> numbers) {
  std::vector<PlanePoint> some;
  for (const size_t k : numbers) some.push_back(points[k]);
  return some;
}

class Search {
 public:
  Search(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target, const RobustRule& rule)
      : source_(source),
        target_(target),
        rule_(rule),
        numbers_(random_stream({.seed = rule.seed})),
        apart_(source.size()) {}

  bool run() {
    int64_t choices = rule_.medians ? choices_for(0.45) : rule_.most_choices;
    for (int64_t k = 0; k < choices; ++k) {
      Four four;
      Perspective h;
      if (!choose(k, four)) continue;
      if (!fit_four(source_, target_, four, h)) continue;
      measure(h);
      const double cost = rule_.medians ? median() : -static_cast<double>(near(rule_.threshold * rule_.threshold));
      if (found_ && !(cost < best_cost_)) continue;
      found_ = true, best_cost_ = cost, best_apart_ = apart_;
      const double wrong = 1 + cost / static_cast<double>(source_.size());
      if (!rule_.medians) choices = std::min(choices, choices_for(wrong));
    }
    return found_;
  }
  // 1 for each pair that is near, as a perspective maps it.
  std::vector<uint8_t> inliers(const Perspective& h) {
    measure(h);
    return inliers_of(apart_);
  }
  std::vector<uint8_t> inliers() const { return inliers_of(best_apart_); }

 private:
  std::vector<uint8_t> inliers_of(const std::vector<double>& apart) const {
    double limit = rule_.threshold * rule_.threshold;
    if (rule_.medians) {  // the deviation of normal numbers that have this median, for few points enlarged
      const double few = 1 + 5 / static_cast<double>(std::max<size_t>(source_.size(), 5) - 4);
      const double deviation = std::max(2.5 * 1.4826 * few * std::sqrt(best_cost_), 1e-3);
      limit = deviation * deviation;
    }
    std::vector<uint8_t> inlier;
    for (const double v : apart) inlier.push_back(v <= limit);
    return inlier;
  }
  // Four different points; false: they determine nothing.
  bool choose(int64_t number, Four& four) const {
    const auto n = static_cast<uint64_t>(source_.size());
    size_t have = 0;
    for (uint32_t turn = 0; turn < 16 && have < 4; ++turn) {
      const PhiloxBlock bits = numbers_.block(static_cast<uint64_t>(number) * 16 + turn);
      for (int k = 0; k < 4 && have < 4; ++k) {
        const auto at = static_cast<size_t>(bits.word[k] * n >> 32);
        if (std::find(four.begin(), four.begin() + static_cast<ptrdiff_t>(have), at) ==
            four.begin() + static_cast<ptrdiff_t>(have))
          four[have++] = at;
      }
    }
    return have == 4 && may_correspond(source_, target_, four);
  }
  void measure(const Perspective& h) { squared_distances(source_, target_, h, apart_.data()); }
  int64_t near(double limit) const {
    return std::count_if(apart_.begin(), apart_.end(), [&](double v) { return v <= limit; });
  }
  double median() const {
    std::vector<double> sorted = apart_;
    const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
  // How many choices, if a part of the points is wrong.
  int64_t choices_for(double wrong) const {
    const double right = std::pow(1 - std::clamp(wrong, 0.0, 1.0), 4);
    if (right >= 1) return 0;
    const double needed = std::log(1 - rule_.confidence) / std::log1p(-right);
    return needed < static_cast<double>(rule_.most_choices) ? static_cast<int64_t>(std::ceil(needed))
                                                            : rule_.most_choices;
  }

  const std::vector<PlanePoint>&source_, &target_;
  const RobustRule rule_;
  const RandomStream numbers_;
  std::vector<double> apart_, best_apart_;  // squared distances from where the points should be
  double best_cost_ = 0;
  bool found_ = false;
};

bool fit_pairs(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target,
               const std::vector<uint8_t>& counts, int steps, Perspective& out) {
  std::vector<size_t> kept;
  for (size_t k = 0; k < counts.size(); ++k)
    if (counts[k]) kept.push_back(k);
  return kept.size() >= 4 && fit_perspective(points_at(source, kept), points_at(target, kept), out, steps);
}

}  // namespace

bool fit_robust_perspective(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target,
                            const RobustRule& rule, Perspective& out, std::vector<uint8_t>& inlier) {
  Search search(source, target, rule);
  if (!search.run()) return false;
  inlier = search.inliers();
  // A choice of four has their errors: the pairs near it give a better perspective, which is near more of them.
  constexpr int kRounds = 5, kSteps = 10;
  for (int round = 0; round < kRounds; ++round) {
    if (!fit_pairs(source, target, inlier, kSteps, out)) return false;
    const std::vector<uint8_t> more = search.inliers(out);
    if (round + 1 == kRounds || std::count(more.begin(), more.end(), 1) <= std::count(inlier.begin(), inlier.end(), 1))
      break;
    inlier = more;
  }
  return true;
}

}  // namespace penstock
