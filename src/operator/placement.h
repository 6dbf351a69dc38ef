// SPDX-License-Identifier: Apache-2.0
// The origin of the output's samples: for each dimension an integer window, at most one filter or warp, another window.
// Integer windows compose exactly; a filter runs once, at its place in the order.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/fixed_vector.h"
#include "base/layout.h"
#include "base/shape.h"
#include "pixel/filter.h"

namespace penstock {

struct DimMap {
  int64_t in = 0;               // extent of the source
  int64_t start = 0, step = 1;  // window in the source: position i reads start + step * i; step is 1 or -1
  int64_t extent = 0;           // of the window before the filter
  std::optional<AxisFilter> filter;
  int64_t after_start = 0, after_step = 1;  // window in the output of the filter, or of the warp
  int64_t out = 0;                          // extent of the result
  // Positions [begin, end) of the source (of the filter's or warp's output) that all windows so far include: a window
  // that extends beyond an earlier one gets the fill, not what the earlier one truncated.
  int64_t begin = 0, end = 0;
  bool warped = false;  // the affine map gives this dimension

  bool resampled() const { return filter || warped; }  // windows now cut the result of that
  // Outputs [lo, hi) read the source (or the filter's output); the others are fill.
  void valid(int64_t& lo, int64_t& hi) const {
    // Position p(o) = s + t * o must lie in [begin, end).
    const int64_t s = resampled() ? after_start : start, t = resampled() ? after_step : step;
    lo = std::clamp<int64_t>(t > 0 ? begin - s : s - end + 1, 0, out);
    hi = std::clamp<int64_t>(t > 0 ? end - s : s - begin + 1, lo, out);
  }
  bool identity() const { return !filter && start == 0 && step == 1 && out == in; }
};

// A 2-d affine resampling: output (x, y) reads the source at (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]) with
// pixel centers at integers + 0.5; 3-d: 3 rows of 4. Ends the separable part of a stage.
struct AffineMap {
  int dims = 2;
  double m[12] = {};
  int64_t out[3] = {};                   // D, H, W (dims 3) or H, W in the last two
  FilterKind kind = FilterKind::linear;  // nearest or linear
  bool border_fill = true;               // outside reads `fill`, else the nearest edge sample
};

class Placement {
 public:
  Placement(const Shape& in, Layout layout) : layout_(layout) { begin(in); }
  // Resets it for an input of this shape and the same layout.
  void begin(const Shape& in) {
    dims_.clear();
    for (int64_t e : in) {
      DimMap& d = dims_.emplace_back();
      d.in = d.extent = d.out = d.end = e;
    }
    fill(0.0f);
    affine_.reset();
  }
  int ndim() const { return dims_.size(); }
  const Layout& layout() const { return layout_; }
  int dim(char letter) const { return layout_.find(letter); }
  int64_t extent(int dim) const { return dims_[dim].out; }

  // Output o reads position start + step * o of the current result; positions outside become fill.
  void window(int dim, int64_t start, int64_t extent, int step = 1);
  // Resamples or convolves the dimension; throws an internal error if it is already filtered (stages break before
  // that).
  void filter(int dim, AxisFilter f);
  void affine(const AffineMap& a);
  // The source of the filtered dimension is available at eighths / 8 of its size instead: the positions of its samples
  // stay the same, to a fraction of a sample.
  void shrink_source(int dim, int eighths);
  // Value of positions outside; one entry or one per channel. In the units of the stage's output.
  void fill(float value) { fill_ = value, fills_.clear(); }
  void fill(std::span<const float> values);

  const DimMap& operator[](int dim) const { return dims_[dim]; }
  std::span<const float> fill_values() const {
    return fills_.empty() ? std::span(&fill_, 1) : std::span<const float>(fills_);
  }
  bool warps() const { return affine_.has_value(); }
  const AffineMap& affine_map() const { return *affine_; }
  Shape shape() const;

 private:
  Layout layout_;
  FixedVector<DimMap, Shape::kMaxDims> dims_;
  float fill_ = 0.0f;
  std::vector<float> fills_;  // if there are several
  std::optional<AffineMap> affine_;
};

}  // namespace penstock
