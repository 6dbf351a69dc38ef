// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/circle_votes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/target.h"
#include "ops/shared/canny_edges.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS circling
#define PENSTOCK_LOOPS_TEXT "ops/shared/circle_votes.inc.h"
#include "base/foreach_target.h"

constexpr int kRadiusParts = 10;  // of a place's side, in which radii are counted
constexpr int kRayDigits = 10;    // binary, of positions along a ray

struct Edge {
  int32_t x, y, dx, dy;
};

// Sobel's derivatives at one pixel; outside the image its border goes on.
void derive_at(const uint8_t* image, int64_t height, int64_t width, Edge& e) {
  const int64_t x0 = std::max(e.x - 1, 0), x2 = std::min<int64_t>(e.x + 1, width - 1);
  const uint8_t* const up = image + std::max(e.y - 1, 0) * width;
  const uint8_t* const here = image + e.y * width;
  const uint8_t* const down = image + std::min<int64_t>(e.y + 1, height - 1) * width;
  e.dx = up[x2] - up[x0] + 2 * (here[x2] - here[x0]) + down[x2] - down[x0];
  e.dy = down[x0] - up[x0] + 2 * (down[e.x] - up[e.x]) + down[x2] - up[x2];
}

std::vector<Edge> edges_of(const uint8_t* image, int64_t height, int64_t width, int threshold) {
  std::vector<uint8_t> marks(static_cast<size_t>(height * width));
  canny_edges(image, marks.data(), {height, width, 1, 3, std::max(1, threshold / 2), threshold, false});
  std::vector<Edge> edges;
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* const row = marks.data() + y * width;
    for (int64_t x = 0; x < width; ++x) {
      if (uint64_t eight = 0; x + 8 <= width && (std::memcpy(&eight, row + x, 8), eight == 0)) {
        x += 7;
        continue;
      }
      if (!row[x]) continue;
      Edge e{static_cast<int32_t>(x), static_cast<int32_t>(y), 0, 0};
      derive_at(image, height, width, e);
      if (e.dx || e.dy) edges.push_back(e);
    }
  }
  return edges;
}

// Votes for centers, with a place around that stays 0.
class CenterVotes {
 public:
  CenterVotes(int64_t height, int64_t width, float scale)
      : inverse_(1.0f / scale),
        rows_(static_cast<int64_t>(std::ceil(static_cast<float>(height) * inverse_))),
        columns_(static_cast<int64_t>(std::ceil(static_cast<float>(width) * inverse_))),
        votes_(static_cast<size_t>((rows_ + 2) * stride())) {}

  void vote(const Edge& e, int least, int most) {
    const auto dx = static_cast<float>(e.dx), dy = static_cast<float>(e.dy), length = std::sqrt(dx * dx + dy * dy);
    const int64_t across = whole(dx * inverse_ / length), along = whole(dy * inverse_ / length);
    const int64_t x = whole(static_cast<float>(e.x) * inverse_), y = whole(static_cast<float>(e.y) * inverse_);
    walk(x + least * across, y + least * along, across, along, most - least + 1);
    walk(x - least * across, y - least * along, -across, -along, most - least + 1);
  }
  struct Center {
    int64_t x, y;
    int32_t votes;
  };
  // The largest ones around, with more than `threshold` votes, from the most on; as in OpenCV none in the first row or
  // column.
  std::vector<Center> centers(int threshold) const {
    std::vector<Center> found;
    for (int64_t y = 1; y < rows_; ++y)
      for (int64_t x = 1; x < columns_; ++x) {
        const int32_t* const v = &votes_[static_cast<size_t>((y + 1) * stride() + x + 1)];
        if (*v > threshold && *v > v[-1] && *v >= v[1] && *v > v[-stride()] && *v >= v[stride()])
          found.push_back({x, y, *v});
      }
    std::stable_sort(found.begin(), found.end(), [](const Center& a, const Center& b) { return a.votes > b.votes; });
    return found;
  }

 private:
  int64_t stride() const { return columns_ + 2; }
  static int64_t whole(float v) { return static_cast<int64_t>(std::nearbyint(v * (1 << kRayDigits))); }
  bool holds(int64_t x, int64_t y) const {
    const int64_t column = x >> kRayDigits, row = y >> kRayDigits;
    return column >= 0 && column < columns_ && row >= 0 && row < rows_;
  }
  void walk(int64_t x, int64_t y, int64_t across, int64_t along, int64_t steps) {
    // Where both ends of a ray are inside, so is all between them.
    const bool inside = holds(x, y) && holds(x + (steps - 1) * across, y + (steps - 1) * along);
    const int64_t stride = columns_ + 2;
    int32_t* const first = votes_.data() + stride + 1;
    const auto vote = [&] { ++first[(y >> kRayDigits) * stride + (x >> kRayDigits)]; };
    if (inside)
      for (; steps > 0; --steps, x += across, y += along) vote();
    else
      for (; steps > 0 && holds(x, y); --steps, x += across, y += along) vote();
  }
  float inverse_;
  int64_t rows_, columns_;
  std::vector<int32_t> votes_;
};

// Counts the pixels of edges by their distance from a center.
class RadiusCounts {
 public:
  RadiusCounts(const std::vector<Edge>& edges, const CircleRule& rule)
      : rule_(rule), places_(edges.size()), counts_(count_parts(rule)) {
    for (const Edge& e : edges) x_.push_back(static_cast<float>(e.x)), y_.push_back(static_cast<float>(e.y));
  }
  // The radius around which the width of a place has the most of them for its size; of equal ones the smallest.
  VotedCircle best(float x, float y) {
    std::fill(counts_.begin(), counts_.end(), 0);
    const auto least = static_cast<float>(rule_.least_radius), most = static_cast<float>(rule_.most_radius);
    PENSTOCK_FOR_TARGET(best_target(), circling,
                        bins_of(x_.data(), y_.data(), x, y, least, most, rule_.scale, kRadiusParts,
                                static_cast<int64_t>(x_.size()), places_.data()));
    const auto last = static_cast<int32_t>(counts_.size()) - 1;
    for (const int32_t place : places_)
      if (place >= 0) ++counts_[static_cast<size_t>(std::min(place, last))];
    VotedCircle found{x, y, 0, 0};
    for (int32_t at = last; at > 0; --at) {
      if (!counts_[static_cast<size_t>(at)]) continue;
      const int32_t outer = at;
      int32_t count = 0;
      for (; at > outer - kRadiusParts && at >= 0; --at) count += counts_[static_cast<size_t>(at)];
      const float middle = static_cast<float>(outer + at) / 2 / kRadiusParts;
      const float radius = middle * rule_.scale + least;
      const bool denser = static_cast<float>(count) * found.radius >= static_cast<float>(found.pixels) * radius;
      if (found.radius > 0 ? denser : count >= found.pixels) found.radius = radius, found.pixels = count;
    }
    return found;
  }

 private:
  static size_t count_parts(const CircleRule& rule) {
    const auto between = static_cast<float>(std::max(rule.most_radius - rule.least_radius, 0));
    return static_cast<size_t>(std::max(1.0f, std::nearbyint(between / rule.scale * kRadiusParts)));
  }
  const CircleRule& rule_;
  std::vector<float> x_, y_;
  std::vector<int32_t> places_, counts_;
};

bool comes_first(const VotedCircle& a, const VotedCircle& b) {
  if (a.pixels != b.pixels) return a.pixels > b.pixels;
  if (a.radius != b.radius) return a.radius > b.radius;
  return a.x != b.x ? a.x < b.x : a.y < b.y;
}

}  // namespace

std::vector<VotedCircle> vote_for_circles(const uint8_t* image, int64_t height, int64_t width, const CircleRule& rule) {
  if (height == 0 || width == 0) return {};
  const std::vector<Edge> edges = edges_of(image, height, width, rule.edge_threshold);
  CenterVotes votes(height, width, rule.scale);
  for (const Edge& e : edges) votes.vote(e, rule.least_radius, rule.most_radius);
  RadiusCounts radii(edges, rule);
  std::vector<VotedCircle> all, kept;
  for (const auto& c : votes.centers(rule.threshold)) {
    const VotedCircle circle =
        radii.best((static_cast<float>(c.x) + 0.5f) * rule.scale, (static_cast<float>(c.y) + 0.5f) * rule.scale);
    if (circle.pixels > rule.threshold) all.push_back(circle);
  }
  std::sort(all.begin(), all.end(), comes_first);
  for (const VotedCircle& c : all) {
    if (static_cast<int64_t>(kept.size()) == rule.most_circles) break;
    const auto far = [&](const VotedCircle& k) {
      const float dx = c.x - k.x, dy = c.y - k.y;
      return dx * dx + dy * dy >= rule.least_distance * rule.least_distance;
    };
    if (std::all_of(kept.begin(), kept.end(), far)) kept.push_back(c);
  }
  return kept;
}

}  // namespace penstock
