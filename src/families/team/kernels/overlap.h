// SPDX-License-Identifier: Apache-2.0
// Teams that compare boxes: how much two of them overlap, and the memory in which they suppress each other.
#pragma once
#include "families/team/kernels/team.h"
#include "pixel/transcendental32.h"

namespace penstock {

struct Corners {
  float left, top, right, bottom;
};
enum OverlapKind : int32_t { kIou, kGiou, kDiou };

// How a row says where a box is: the places of x and y in it, and of its second pair of numbers.
struct BoxForm {
  int32_t start[2], second[2];
  int32_t extents;   // the second pair is width and height
  int32_t centered;  // the first pair is the center
};
PENSTOCK_HD inline Corners corners_of(const float* row, const BoxForm& f) {
  float low[2], high[2];
  for (int a = 0; a < 2; ++a) {
    const float first = row[f.start[a]], second = row[f.second[a]];
    const float half = second * 0.5f;
    low[a] = f.centered ? first - half : first;
    high[a] = f.centered ? first + half : f.extents ? first + second : second;
  }
  return {low[0], low[1], high[0], high[1]};
}

PENSTOCK_HD inline float area_of(const Corners& c) { return (c.right - c.left) * (c.bottom - c.top); }
PENSTOCK_HD inline float common_area(const Corners& a, const Corners& b) {
  const float w = (a.right < b.right ? a.right : b.right) - (a.left > b.left ? a.left : b.left);
  const float h = (a.bottom < b.bottom ? a.bottom : b.bottom) - (a.top > b.top ? a.top : b.top);
  return (w > 0 ? w : 0.0f) * (h > 0 ? h : 0.0f);
}
// Intersection over union, less a penalty for boxes that are apart (Rezatofighi et al., 2019; Zheng et al., 2020). In
// float32 and in this order on all devices: results are compared with a threshold.
template <OverlapKind kind> PENSTOCK_HD inline float overlap_of(const Corners& a, const Corners& b) {
  const float common = common_area(a, b);
  const float both = area_of(a) + area_of(b) - common;
  const float iou = common / both;
  if constexpr (kind == kIou) return iou;
  const float w = (a.right > b.right ? a.right : b.right) - (a.left < b.left ? a.left : b.left);
  const float h = (a.bottom > b.bottom ? a.bottom : b.bottom) - (a.top < b.top ? a.top : b.top);
  if constexpr (kind == kGiou) return iou - (w * h - both) / (w * h);
  const float across = a.left + a.right - (b.left + b.right);
  const float down = a.top + a.bottom - (b.top + b.bottom);
  return iou - (across * across + down * down) / (4 * (w * w + h * h));
}
PENSTOCK_HD inline float overlap_of(const Corners& a, const Corners& b, int32_t kind) {
  return kind == kIou ? overlap_of<kIou>(a, b) : kind == kGiou ? overlap_of<kGiou>(a, b) : overlap_of<kDiou>(a, b);
}

// Scores as numbers of which the least has the highest score; equal scores are in the order of `i`.
PENSTOCK_HD inline int64_t score_key(float score, int64_t i) {
  const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);  // -0 is 0
  const uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<int64_t>(~rising) << 31 | i;
}

// The score that is left of one beside a box of a higher score. decay: 1: linear, 2: Gaussian.
PENSTOCK_HD inline float decayed(float score, float overlap, int32_t decay, float threshold, float sigma) {
  if (decay == 1) return overlap > threshold ? score * (1.0f - overlap) : score;
  return overlap > 0 ? score * single_precision::exp(-(overlap * overlap) / sigma) : score;
}

// Candidates are pairs of a box and a class, numbered box by box. Those that pass the threshold are kept in arrays.
struct Suppression {
  int64_t* passed;    // how many
  int64_t* taken;     // how many are kept
  uint64_t* removed;  // a bit for each that passes, in the order of scores
  uint64_t* meets;    // bits of some rows of the matrix of overlaps, word by word
  int64_t* labels;    // in the order of scores, as the next two
  Corners* corners;
  int32_t* order;      // candidates
  int32_t* passing;    // candidates, in their order
  int32_t* kept;       // the result: candidates
  float* kept_scores;  // and what is left of their scores, which follow
  float* scores;       // of those that pass: what is left
};
struct SuppressionSizes {
  int64_t candidates;
  int64_t rows;  // of the matrix at a time, a multiple of 64
  PENSTOCK_HD int64_t words() const { return (candidates + 63) / 64; }
  PENSTOCK_HD int64_t bytes() const { return 16 + words() * 8 * (rows + 1) + candidates * (8 + 16 + 5 * 4); }
  PENSTOCK_HD Suppression in(void* memory) const {
    Suppression s;
    s.passed = static_cast<int64_t*>(memory);
    s.taken = s.passed + 1;
    s.removed = reinterpret_cast<uint64_t*>(s.taken + 1);
    s.meets = s.removed + words();
    s.labels = reinterpret_cast<int64_t*>(s.meets + words() * rows);
    s.corners = reinterpret_cast<Corners*>(s.labels + candidates);
    s.order = reinterpret_cast<int32_t*>(s.corners + candidates);
    s.passing = s.order + candidates;
    s.kept = s.passing + candidates;
    s.kept_scores = reinterpret_cast<float*>(s.kept + candidates);
    s.scores = s.kept_scores + candidates;
    return s;
  }
};

struct SuppressionCoef {
  SuppressionSizes sizes;
  int64_t classes;  // that each box has a score for
  int64_t most;     // that are kept
  int64_t first;    // row of the matrix
  BoxForm form;
  float score_threshold;
  float overlap_threshold;
  float sigma;
  int32_t kind;
  int32_t decay;  // 0: boxes are removed
  int32_t labeled;
  int32_t limited;  // by score_threshold
  int32_t unused;
};

}  // namespace penstock
