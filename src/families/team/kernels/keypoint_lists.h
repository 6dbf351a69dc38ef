// SPDX-License-Identifier: Apache-2.0
// Teams that find keypoints in a scale space, put them in order and describe them.
#pragma once
#include "families/team/kernels/keypoints.h"
#include "families/team/kernels/scale_space.h"

namespace penstock {

struct KeypointCoef {
  SiftRule rule;
  int64_t capacity;  // of the list of extrema; that of keypoints has twice as many places
  int64_t columns;   // of the first octave
  int64_t octave;    // in which extrema are searched
  int64_t teams;     // that share the work on a list
  float threshold;   // of differences
  int32_t unused;
};

// What the kernels share.
struct KeypointLists {
  int32_t* counts;     // of the two lists
  Keypoint* settled;   // extrema, without an angle
  Keypoint* turned;    // keypoints, in no order
  int32_t* ends;       // of the keypoints that each column has
  int32_t* by_column;  // numbers of keypoints; then those that are kept, in order
  int32_t* in_order;   // then in order; -1: it is there already
  PENSTOCK_HD KeypointLists(void* memory, const KeypointCoef& c)
      : counts(static_cast<int32_t*>(memory)),
        settled(reinterpret_cast<Keypoint*>(counts + 2)),
        turned(settled + c.capacity),
        ends(reinterpret_cast<int32_t*>(turned + 2 * c.capacity)),
        by_column(ends + c.columns),
        in_order(by_column + 2 * c.capacity) {}
  PENSTOCK_HD static int64_t bytes(const KeypointCoef& c) {
    return (2 + c.columns + 4 * c.capacity) * 4 + 3 * c.capacity * static_cast<int64_t>(sizeof(Keypoint));
  }
};

struct DifferencesOfPlanes {
  const float* smooth;
  int64_t pixels;
  int32_t width;
  PENSTOCK_HD float at(int32_t layer, int32_t y, int32_t x) const {
    const float* const own = smooth + layer * pixels + (y * width + x);
    return own[pixels] - own[0];
  }
};

constexpr int kDirectionWords = 2 * kDirectionBins;  // of a team, beside the weights of its window
constexpr int kDescriptorWords = kHistogramNumbers + 2 * kSiftNumbers;
constexpr int kSelectWords = 256;
constexpr int64_t kPixelsOfExtremum = 8;  // of the first octave: the list of extrema has room for one of so many

}  // namespace penstock

namespace penstock::whole {

// The number before.
PENSTOCK_KERNEL int32_t added(int32_t* at, int32_t v) {
#ifdef __CUDACC__
  return atomicAdd(at, v);
#else
  const int32_t before = *at;  // threads run in turn
  *at = before + v;
  return before;
#endif
}

PENSTOCK_KERNEL bool is_extreme(const DifferencesOfPlanes& d, int32_t layer, int32_t y, int32_t x, float v) {
  for (int32_t l = layer - 1; l <= layer + 1; ++l) {
    for (int32_t row = y - 1; row <= y + 1; ++row) {
      for (int32_t column = x - 1; column <= x + 1; ++column) {
        const float other = d.at(l, row, column);
        if (v > 0 ? other > v : other < v) return false;
      }
    }
  }
  return true;
}
// Units are pixels of an octave inside of its border.
template <class Team>
PENSTOCK_KERNEL void find_extremes(const float* smooth, const OctavePlace& place, const KeypointLists& to,
                                   const KeypointCoef& c, const Team& team) {
  const DifferencesOfPlanes d{smooth, static_cast<int64_t>(place.height) * place.width, place.width};
  const int32_t columns = place.width - 2 * kKeypointBorder;
  for (int32_t u = static_cast<int32_t>(team.begin) + team.index; u < team.end; u += team.count) {
    const int32_t row = u / columns, y = row + kKeypointBorder, x = u - row * columns + kKeypointBorder;
    for (int32_t layer = 1; layer <= c.rule.layers; ++layer) {
      const float v = d.at(layer, y, x);
      if (!(abs(v) > c.threshold) || !is_extreme(d, layer, y, x, v)) continue;
      Keypoint point{static_cast<int32_t>(c.octave), layer, 0, 0, 0, 0, 0};
      if (!settled(d, place.height, place.width, c.rule, y, x, point)) continue;
      const int32_t at = added(to.counts, 1);
      if (at < c.capacity) to.settled[at] = point;
    }
  }
}

// The gradient at place p of a window, counted row by row: its row and column are those of the window.
struct PlacedGradient {
  int32_t row, column;
  Gradient gradient;
};
PENSTOCK_KERNEL PlacedGradient gradient_at(const float* plane, int32_t width, const GradientWindow& w, int32_t p) {
  const int32_t row = p / w.columns, i = w.first_row + row, j = w.first_column + (p - row * w.columns);
  const float* const own = plane + ((w.y + i) * width + w.x + j);
  return {i, j, gradient_of(own[1] - own[-1], own[-width] - own[width])};
}

// Units are numbers of teams, each of which takes one of so many extrema.
template <class Team>
PENSTOCK_KERNEL void turn_keypoints(const void* planes, const OctavePlace* places, const KeypointLists& to,
                                    const KeypointCoef& c, const Team& team) {
  int32_t* const sums = reinterpret_cast<int32_t*>(team.memory());
  float* const bins = reinterpret_cast<float*>(sums + kDirectionBins);
  float* const weights = bins + kDirectionBins;
  const int64_t count = min<int64_t>(to.counts[0], c.capacity);
  for (int64_t u = team.begin; u < team.end; ++u) {
    for (int64_t n = u; n < count; n += c.teams) {
      Keypoint point = to.settled[n];
      const OctavePlace place = places[point.octave];
      const float* const plane = place.plane(planes, point.layer);
      const DirectionRule rule(point);
      const GradientWindow w = window_around(point, rule.radius(), place.height, place.width);
      for (int32_t k = team.index; k < kDirectionBins; k += team.count) sums[k] = 0;
      for (int32_t k = team.index; k <= w.radius; k += team.count) weights[k] = rule.weight(k);
      team.sync();
      const int32_t pixels = (w.last_row - w.first_row + 1) * w.columns;
      for (int32_t p = team.index; p < pixels; p += team.count) {
        const PlacedGradient g = gradient_at(plane, place.width, w, p);
        const float weight = weights[g.row < 0 ? -g.row : g.row] * weights[g.column < 0 ? -g.column : g.column];
        added(sums + DirectionRule::bin_of(g.gradient.angle), rule.share(weight, g.gradient.magnitude));
      }
      team.sync();
      for (int32_t k = team.index; k < kDirectionBins; k += team.count) bins[k] = smooth_direction(sums, k);
      team.sync();
      for (int32_t k = team.index; k < kDirectionBins; k += team.count) {
        float largest = bins[0];
        for (int32_t b = 1; b < kDirectionBins; ++b) largest = max(largest, bins[b]);
        if (!is_direction(bins, k, largest, point.angle)) continue;
        const int32_t at = added(to.counts + 1, 1);
        if (at < 2 * c.capacity) to.turned[at] = point;
      }
      team.sync();
    }
  }
}

// One team: the least response that is kept, as the bits of a number, and how many keypoints of this one.
struct LeastResponse {
  uint32_t bits;
  int64_t count;
};
template <class Team>
PENSTOCK_KERNEL LeastResponse least_response(const KeypointLists& lists, int64_t count, int64_t most,
                                             const Team& team) {
  int32_t* const counts = reinterpret_cast<int32_t*>(team.memory());
  uint32_t bits = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    team.sync();
    for (int k = team.index; k < kSelectWords; k += team.count) counts[k] = 0;
    team.sync();
    for (int64_t s = team.index; s < count; s += team.count) {
      if (lists.in_order[s] < 0) continue;
      const uint32_t own = std::bit_cast<uint32_t>(lists.turned[lists.in_order[s]].response);
      if (shift == 24 || own >> (shift + 8) == bits >> (shift + 8)) added(counts + (own >> shift & 255), 1);
    }
    team.sync();
    int digit = 255;
    for (; digit > 0 && counts[digit] < most; --digit) most -= counts[digit];
    bits |= static_cast<uint32_t>(digit) << shift;
  }
  return {bits, most};
}

// One team. `numbers` gets how many are kept, and three addresses: of their list, of the keypoints and of the planes.
template <class Team>
PENSTOCK_KERNEL void order_keypoints(const KeypointLists& lists, const KeypointCoef& c, const void* planes,
                                     int64_t* numbers, const Team& team, Refusal& refusal) {
  if (lists.counts[0] > c.capacity || lists.counts[1] > 2 * c.capacity) {
    refusal.what = 1;
    refusal.whole[0] = c.capacity;
    return;
  }
  const int64_t count = lists.counts[1];
  const auto column_of = [&](int64_t i) {
    const float x = lists.turned[i].x * unit_of(lists.turned[i]);
    return clamp<int32_t>(static_cast<int32_t>(x), 0, static_cast<int32_t>(c.columns) - 1);
  };
  for (int64_t k = team.index; k < c.columns; k += team.count) lists.ends[k] = 0;
  team.sync();
  for (int64_t i = team.index; i < count; i += team.count) added(lists.ends + column_of(i), 1);
  team.sync();
  const Share columns = team.share(c.columns);
  int64_t own = 0, all = 0;
  for (int64_t k = columns.begin; k < columns.end; ++k) own += lists.ends[k];
  int64_t next = team.before(own, all);
  for (int64_t k = columns.begin; k < columns.end; ++k) {
    const int32_t here = lists.ends[k];
    lists.ends[k] = static_cast<int32_t>(next);
    next += here;
  }
  team.sync();
  for (int64_t i = team.index; i < count; i += team.count)
    lists.by_column[added(lists.ends + column_of(i), 1)] = static_cast<int32_t>(i);
  team.sync();
  for (int64_t s = team.index; s < count; s += team.count) {
    const int32_t i = lists.by_column[s], column = column_of(i);
    const int32_t begin = column == 0 ? 0 : lists.ends[column - 1], end = lists.ends[column];
    int32_t place = begin;
    bool again = false;
    for (int32_t t = begin; t < end; ++t) {
      const int32_t other = lists.by_column[t];
      const int32_t order = order_of(lists.turned[other], lists.turned[i]);
      const bool same = order == 0 && other < i;
      place += order < 0 || same;
      again |= same;
    }
    lists.in_order[place] = again ? -1 : i;
  }
  team.sync();
  LeastResponse least{0, count};
  const Share part = team.share(count);
  if (c.rule.most_features > 0) {
    int64_t different = 0;
    for (int64_t s = part.begin; s < part.end; ++s) different += lists.in_order[s] >= 0;
    team.before(different, all);
    if (all > c.rule.most_features) least = least_response(lists, count, c.rule.most_features, team);
  }
  // Of equal responses the first ones are kept.
  const auto response_of = [&](int64_t s) {
    const int32_t i = lists.in_order[s];
    return i < 0 ? -1 : static_cast<int64_t>(std::bit_cast<uint32_t>(lists.turned[i].response));
  };
  const int64_t limit = least.bits;
  int64_t equal = 0, more = 0;
  for (int64_t s = part.begin; s < part.end; ++s) {
    equal += response_of(s) == limit;
    more += response_of(s) > limit;
  }
  int64_t equals = team.before(equal, all);
  const int64_t left = max<int64_t>(0, min(equal, least.count - equals));
  next = team.before(more + left, all);
  for (int64_t s = part.begin; s < part.end; ++s) {
    const int64_t response = response_of(s);
    if (response < limit || (response == limit && equals++ >= least.count)) continue;
    lists.by_column[next++] = lists.in_order[s];
  }
  if (team.index != 0) return;
  numbers[0] = all;
  numbers[1] = reinterpret_cast<int64_t>(lists.by_column);
  numbers[2] = reinterpret_cast<int64_t>(lists.turned);
  numbers[3] = reinterpret_cast<int64_t>(planes);
}

// The sum of squares of a descriptor, in halves.
template <class Team> PENSTOCK_KERNEL float squares_of(const float* numbers, float* sums, const Team& team) {
  team.sync();
  for (int32_t k = team.index; k < kSiftNumbers; k += team.count) sums[k] = numbers[k] * numbers[k];
  for (int32_t half = kSiftNumbers / 2; half > 0; half /= 2) {
    team.sync();
    for (int32_t k = team.index; k < half; k += team.count) sums[k] += sums[k + half];
  }
  team.sync();
  return sums[0];
}
// Units are keypoints, for a whole team each: what sift returns of them, and their descriptors.
template <class Team>
PENSTOCK_KERNEL void describe_keypoints(const void* planes, const OctavePlace* places, const Keypoint* points,
                                        const int32_t* kept, bool expanded, float* rows, uint8_t* descriptors,
                                        const Team& team) {
  int32_t* const histograms = reinterpret_cast<int32_t*>(team.memory());
  float* const numbers = reinterpret_cast<float*>(histograms + kHistogramNumbers);
  float* const sums = numbers + kSiftNumbers;
  float* const weights = sums + kSiftNumbers;
  for (int64_t u = team.begin; u < team.end; ++u) {
    const Keypoint point = points[kept[u]];
    if (team.index == 0) write_keypoint(point, expanded, rows + 7 * u);
    const OctavePlace place = places[point.octave];
    const float* const plane = place.plane(planes, point.layer);
    const DescriptorRule rule(point);
    const GradientWindow w = window_around(point, rule.radius(place.height, place.width), place.height, place.width);
    for (int32_t k = team.index; k < kHistogramNumbers; k += team.count) histograms[k] = 0;
    for (int32_t k = team.index; k <= w.radius; k += team.count) weights[k] = rule.weight(k);
    team.sync();
    const int32_t pixels = (w.last_row - w.first_row + 1) * w.columns;
    for (int32_t p = team.index; p < pixels; p += team.count) {
      const PlacedGradient g = gradient_at(plane, place.width, w, p);
      const CellPlace cells =
          place_in_cells(rule, static_cast<float>(g.row), static_cast<float>(g.column), g.gradient.angle);
      if (!cells.counts()) continue;
      const float weight = weights[g.row < 0 ? -g.row : g.row] * weights[g.column < 0 ? -g.column : g.column];
      const CellShares shares = shares_of(cells, g.gradient.magnitude * weight * rule.factor);
      PENSTOCK_UNROLL
      for (int n = 0; n < 8; ++n)
        added(histograms + shares.at + CellShares::offset(n / 2) + n % 2, shares.part(n / 2, n % 2));
    }
    team.sync();
    for (int32_t k = team.index; k < kSiftNumbers; k += team.count) numbers[k] = number_of_cells(histograms, k);
    const float squares = squares_of(numbers, sums, team);
    team.sync();
    for (int32_t k = team.index; k < kSiftNumbers; k += team.count) numbers[k] = cut_number(numbers[k], squares);
    const float cut_squares = squares_of(numbers, sums, team);
    uint8_t* const to = descriptors + u * kSiftNumbers;
    for (int32_t k = team.index; k < kSiftNumbers; k += team.count) to[k] = scaled_number(numbers[k], cut_squares);
    team.sync();
  }
}

}  // namespace penstock::whole
