// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/point_rows.h"

namespace penstock {

namespace {
double turn(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}
// Leaves out points inside a rectangle that has a point beyond each of its corners: the hull has none of them.
void leave_out_inner(std::vector<PlanePoint>& points) {
  if (points.size() < 16) return;
  PlanePoint low_sum = points[0], high_sum = low_sum, low_rest = low_sum, high_rest = low_sum;  // x + y, x - y
  for (const PlanePoint& p : points) {
    if (p.x + p.y < low_sum.x + low_sum.y) low_sum = p;
    if (p.x + p.y > high_sum.x + high_sum.y) high_sum = p;
    if (p.x - p.y < low_rest.x - low_rest.y) low_rest = p;
    if (p.x - p.y > high_rest.x - high_rest.y) high_rest = p;
  }
  const double left = std::max(low_sum.x, low_rest.x), right = std::min(high_sum.x, high_rest.x);
  const double top = std::max(low_sum.y, high_rest.y), bottom = std::min(high_sum.y, low_rest.y);
  std::erase_if(points, [&](const PlanePoint& p) { return p.x > left && p.x < right && p.y > top && p.y < bottom; });
}
// The corners of the convex hull in order, without those on its edges (Andrew, 1979).
std::vector<PlanePoint> convex_hull(std::vector<PlanePoint> points) {
  leave_out_inner(points);
  std::sort(points.begin(), points.end(),
            [](const PlanePoint& a, const PlanePoint& b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  const auto same = [](const PlanePoint& a, const PlanePoint& b) { return a.x == b.x && a.y == b.y; };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  std::vector<PlanePoint> hull;
  for (const bool back : {false, true}) {
    const size_t start = hull.size();
    for (const PlanePoint& p : points) {
      while (hull.size() >= start + 2 && turn(hull[hull.size() - 2], hull.back(), p) <= 0) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();  // begins the other half
    if (!back) std::reverse(points.begin(), points.end());
  }
  return hull;
}

struct TurnedRect {
  double x, y, width, height, angle;
};
// The rectangle with a side along `along`, a vector of length 1.
TurnedRect rect_along(const std::vector<PlanePoint>& hull, const PlanePoint& along) {
  double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
  for (const PlanePoint& p : hull) {
    const double at[2] = {p.x * along.x + p.y * along.y, p.y * along.x - p.x * along.y};
    for (int a = 0; a < 2; ++a) low[a] = std::min(low[a], at[a]), high[a] = std::max(high[a], at[a]);
  }
  const double u = (low[0] + high[0]) / 2, v = (low[1] + high[1]) / 2;
  return {u * along.x - v * along.y, u * along.y + v * along.x, high[0] - low[0], high[1] - low[1],
          std::atan2(along.y, along.x) * 180 / std::numbers::pi};
}
// A side of the smallest one is along an edge of the hull (Freeman and Shapira, 1975).
TurnedRect smallest_rect(const std::vector<PlanePoint>& points) {
  const std::vector<PlanePoint> hull = convex_hull(points);
  if (hull.empty()) return {points[0].x, points[0].y, 0, 0, 0};
  TurnedRect best{0, 0, 1e300, 1e300, 0};
  for (size_t k = 0; k < hull.size(); ++k) {
    const PlanePoint& a = hull[k];
    const PlanePoint& b = hull[(k + 1) % hull.size()];
    PlanePoint along{b.x - a.x, b.y - a.y};
    const double length = std::hypot(along.x, along.y);
    if (!(length > 0)) continue;
    along = {along.x / length, along.y / length};
    while (along.x <= 0 || along.y < 0) along = {-along.y, along.x};  // from 0 to less than 90 degrees
    const TurnedRect r = rect_along(hull, along);
    if (r.width * r.height < best.width * best.height) best = r;
  }
  return best;
}
}  // namespace

struct MinAreaRect : WholeOperator {
  static Schema<MinAreaRect> schema() {
    return Schema<MinAreaRect>(
               "min_area_rect",
               "Finds the rotated rectangle of the smallest area around points.\n\nInput: float32 points, (N, 2), x "
               "and y. Output: five float32 numbers, center x, center y, width, height and the angle in degrees, from "
               "0 to less than 90, by which the side of the width is turned from x toward y: the numbers of OpenCV's "
               "RotatedRect, for cv2.boxPoints. Of equal areas the first edge of the convex hull counts. Without "
               "points all are 0.\n\nExample:\n>>> fn.min_area_rect(np.float32([[0, 0], [4, 0], [4, 2], [0, "
               "2]])).tolist()\n[2.0, 1.0, 4.0, 2.0, 0.0]")
        .input_names({"points"})
        .read_on_host({"points"})
        .float64("areas of thin rectangles are small differences of positions")
        .oracle("opencv");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_point_type(in[0], "points");
    out[0] = {DType::float32, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_point_shape(in[0], "points");
    out[0] = {5};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const std::vector<PlanePoint> points = read_points(in[0], "points", s.index);
    const TurnedRect r = points.empty() ? TurnedRect{} : smallest_rect(points);
    std::vector<float> numbers;
    for (const double v : {r.x, r.y, r.width, r.height, r.angle}) numbers.push_back(static_cast<float>(v));
    give_numbers(out[0], numbers, to);
  }
};
PENSTOCK_OPERATOR(MinAreaRect);

}  // namespace penstock
