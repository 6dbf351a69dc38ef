// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/inverse_field.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

using Point = InverseField::Point;

constexpr int kMostSteps = 60;
constexpr double kEnough = 1e-6;  // pixels
constexpr double kBound = 1e-3;   // a search that ends further away begins again elsewhere

double length_of(const Point& v) { return std::hypot(v[0], v[1]); }

// The element before a position along an axis, and how far the position is after it. The border's displacement goes on
// outside.
struct Cell {
  int64_t low, high;
  double share;
};
Cell cell_of(double at, int64_t n) {
  const double from_first = std::clamp(at - 0.5, 0.0, static_cast<double>(n - 1));
  const auto low = std::min(static_cast<int64_t>(from_first), std::max<int64_t>(n - 2, 0));
  return {low, std::min(low + 1, n - 1), from_first - static_cast<double>(low)};
}

}  // namespace

InverseField::InverseField(const View& field) {
  if (field.shape.size() != 3 || field.shape[0] != 2 || field.shape[1] < 1 || field.shape[2] < 1)
    bad_argument("displacements must have the shape (2, height, width) and not be empty, got {}", field.shape.text());
  height_ = field.shape[1], width_ = field.shape[2];
  x_ = field.as<const float>(), y_ = x_ + height_ * width_;
}

InverseField::Shown InverseField::shown(const Point& at) const {
  const Cell u = cell_of(at[0], width_), v = cell_of(at[1], height_);
  // A clamped position does not depend on where exactly it is outside.
  const bool along_x = at[0] >= 0.5 && at[0] <= static_cast<double>(width_) - 0.5;
  const bool along_y = at[1] >= 0.5 && at[1] <= static_cast<double>(height_) - 0.5;
  Shown s;
  const auto one = [&](const float* plane, double& value, double& dx, double& dy) {
    const float *top = plane + v.low * width_, *bottom = plane + v.high * width_;
    const double a = top[u.low], b = top[u.high], c = bottom[u.low], d = bottom[u.high];
    const double upper = a + (b - a) * u.share, lower = c + (d - c) * u.share;
    value += upper + (lower - upper) * v.share;
    dx = along_x ? (b - a) + ((d - c) - (b - a)) * v.share : 0;
    dy = along_y ? lower - upper : 0;
  };
  s.at = at;
  one(x_, s.at[0], s.by_x[0], s.by_x[1]);
  one(y_, s.at[1], s.by_y[0], s.by_y[1]);
  s.by_x[0] += 1, s.by_y[1] += 1;
  return s;
}

// Newton's steps, or those of the fixed-point iteration where the field folds. A step that leads further away is
// halved.
Point InverseField::search(Point from, const Point& wanted, double* away) const {
  Shown now = shown(from);
  Point rest{wanted[0] - now.at[0], wanted[1] - now.at[1]};
  for (int k = 0; k < kMostSteps && length_of(rest) > kEnough; ++k) {
    const double det = now.by_x[0] * now.by_y[1] - now.by_x[1] * now.by_y[0];
    Point step = rest;
    if (det > 0.02)
      step = {(now.by_y[1] * rest[0] - now.by_x[1] * rest[1]) / det,
              (now.by_x[0] * rest[1] - now.by_y[0] * rest[0]) / det};
    bool nearer = false;
    for (int halved = 0; halved < 12 && !nearer; ++halved, step[0] /= 2, step[1] /= 2) {
      const Point next{from[0] + step[0], from[1] + step[1]};
      const Shown there = shown(next);
      const Point left{wanted[0] - there.at[0], wanted[1] - there.at[1]};
      if (length_of(left) < length_of(rest)) nearer = true, from = next, now = there, rest = left;
    }
    if (!nearer) break;
  }
  *away = length_of(rest);
  return from;
}

// The center of the pixel that shows what is nearest.
Point InverseField::nearest(const Point& wanted) const {
  double least = INFINITY;
  Point best = wanted;
  for (int64_t y = 0, i = 0; y < height_; ++y)
    for (int64_t x = 0; x < width_; ++x, ++i) {
      const Point at{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
      const double dx = at[0] + x_[i] - wanted[0], dy = at[1] + y_[i] - wanted[1];
      if (const double d = dx * dx + dy * dy; d < least) least = d, best = at;
    }
  return best;
}

Point InverseField::moved(const Point& at) const {
  if (!std::isfinite(at[0]) || !std::isfinite(at[1])) return at;
  double away = 0;
  const Point first = search(at, at, &away);
  if (away <= kBound) return first;
  double other_away = 0;
  const Point other = search(nearest(at), at, &other_away);
  return other_away < away ? other : first;
}

}  // namespace penstock
