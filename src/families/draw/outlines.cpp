// SPDX-License-Identifier: Apache-2.0
#include "families/draw/outlines.h"

#include <cmath>
#include <set>

namespace penstock::draw {
namespace {

// The points of an eighth of a circle around (0, 0), from (radius, 0) on: the midpoint algorithm (Bresenham, 1977).
std::vector<Point> eighth(int64_t radius) {
  std::vector<Point> points;
  int64_t error = 0, x = radius;
  for (int64_t y = 0; x >= y; ++y) {
    points.push_back({x, y});
    error += 2 * y + 1;
    if (error > 0) error -= 2 * x - 1, --x;
  }
  return points;
}
// Of each row from 0 to the radius, how far a filled circle extends to both sides.
std::vector<int64_t> disc_rows(int64_t radius) {
  std::vector<int64_t> reach(static_cast<size_t>(radius) + 1, 0);
  for (const Point p : eighth(radius)) {
    const auto x = static_cast<size_t>(p.x), y = static_cast<size_t>(p.y);
    reach[y] = std::max(reach[y], p.x), reach[x] = std::max(reach[x], p.y);
  }
  return reach;
}

// Cuts a line to the image, as OpenCV does before it draws: toward 0, one end after the other. False: it is outside.
bool cut(Point& a, Point& b, int64_t width, int64_t height) {
  const Point last{width - 1, height - 1};
  const auto side = [](int64_t v, int64_t most) { return v < 0 ? -1 : v > most ? 1 : 0; };
  const auto apart = [&](int64_t u, int64_t v, int64_t most) { return side(u, most) * side(v, most) > 0; };
  const auto along = [](int64_t by, int64_t rise, int64_t run) {
    return static_cast<int64_t>(static_cast<double>(by) * static_cast<double>(rise) / static_cast<double>(run));
  };
  const auto to_row = [&](Point& p) {
    if (side(p.y, last.y) == 0) return;
    const int64_t edge = p.y < 0 ? 0 : last.y;
    p.x += along(edge - p.y, b.x - a.x, b.y - a.y), p.y = edge;
  };
  const auto to_column = [&](Point& p) {
    if (side(p.x, last.x) == 0) return;
    const int64_t edge = p.x < 0 ? 0 : last.x;
    p.y += along(edge - p.x, b.y - a.y, b.x - a.x), p.x = edge;
  };
  const auto outside = [&] { return apart(a.x, b.x, last.x) || apart(a.y, b.y, last.y); };
  if (outside()) return false;
  to_row(a), to_row(b);
  if (outside()) return false;
  to_column(a), to_column(b);
  return side(a.y, last.y) == 0 && side(b.y, last.y) == 0;
}

// The line of Bresenham as runs along its longer axis: between the first and the last one they have `whole` pixels or
// one more.
void add_thin_line(Drawing& to, Point a, Point b) {
  if (!cut(a, b, to.width(), to.height())) return;
  if (b.x < a.x) std::swap(a, b);
  const int64_t across = b.x - a.x, down = std::abs(b.y - a.y), turn = b.y < a.y ? -1 : 1;
  const bool steep = down > across;
  const int64_t major = steep ? down : across, minor = steep ? across : down;
  to.expect(static_cast<size_t>(minor) + 1);
  const auto add_run = [&](int64_t begin, int64_t end, int64_t aside) {
    if (!steep) return to.add(a.x + begin, a.y + turn * aside, a.x + end, a.y + turn * aside + 1);
    const int64_t first = a.y + turn * begin, last = a.y + turn * (end - 1);
    to.add(a.x + aside, std::min(first, last), a.x + aside + 1, std::max(first, last) + 1);
  };
  if (minor == 0) return add_run(0, major + 1, 0);
  const int64_t whole = major / minor, rest = 2 * (major % minor);
  int64_t error = major - 2 * minor;
  int64_t at = 1 + (error >= 0 ? error / (2 * minor) + 1 : 0);  // the end of a run
  error -= (at - 1) * 2 * minor;                                // -2 minor to -1, where the line turns
  add_run(0, std::min(at, major + 1), 0);
  for (int64_t aside = 1; at <= major; ++aside) {
    const int64_t begin = at, next = error + rest;
    at += whole + (next >= 0 ? 1 : 0);
    error = next >= 0 ? next - 2 * minor : next;
    add_run(begin, std::min(at, major + 1), aside);
  }
}

// Pixels of row y whose centers are at most `reach` from a segment: one run, found between bounds of it.
void add_thick_row(Drawing& to, Point a, Point b, double reach, int64_t y) {
  const auto dx = static_cast<double>(b.x - a.x), dy = static_cast<double>(b.y - a.y), square = dx * dx + dy * dy;
  const auto covers = [&](int64_t x) {
    const auto u = static_cast<double>(x - a.x), v = static_cast<double>(y - a.y);
    const double part = square > 0 ? std::clamp((u * dx + v * dy) / square, 0.0, 1.0) : 0.0;
    const double p = u - part * dx, q = v - part * dy;
    return p * p + q * q <= reach * reach;
  };
  double first = 0, second = 1;  // parts of the segment that may be near
  if (dy != 0) {
    const auto part = [&](double at) { return std::clamp((at - static_cast<double>(a.y)) / dy, 0.0, 1.0); };
    first = part(static_cast<double>(y) - reach), second = part(static_cast<double>(y) + reach);
  }
  const double left = static_cast<double>(a.x) + std::min(first * dx, second * dx) - reach;
  const double right = static_cast<double>(a.x) + std::max(first * dx, second * dx) + reach;
  auto begin = std::max<int64_t>(0, std::llround(std::floor(left)));
  auto end = std::min<int64_t>(to.width() - 1, std::llround(std::ceil(right)));
  while (begin <= end && !covers(begin)) ++begin;
  while (begin <= end && !covers(end)) --end;
  to.add(begin, y, end + 1, y + 1);
}

// Half the width of a row at `y` of a circle, rounded down; -1: it does not meet the row.
int64_t half_row(double radius, int64_t y) {
  const double square = radius * radius - static_cast<double>(y) * static_cast<double>(y);
  return radius < 0 || square < 0 ? -1 : static_cast<int64_t>(std::sqrt(square));
}

}  // namespace

void add_box(Drawing& to, Point low, Point high, int64_t thickness) {
  const int64_t r = thickness > 1 ? (thickness + 1) / 2 : 0;
  const std::vector<int64_t> reach = disc_rows(r);
  const Point hole_low{low.x + r + 1, low.y + r + 1}, hole_high{high.x - r, high.y - r};  // its end
  const bool hollow = hole_low.x < hole_high.x && hole_low.y < hole_high.y;
  const auto row = [&](int64_t y, int64_t wide) { to.add(low.x - wide, y, high.x + wide + 1, y + 1); };
  for (int64_t k = r; k > 0; --k) row(low.y - k, reach[static_cast<size_t>(k)]);
  if (hollow) {
    to.add(low.x - r, low.y, high.x + r + 1, hole_low.y);
    to.add(low.x - r, hole_low.y, hole_low.x, hole_high.y);
    to.add(hole_high.x, hole_low.y, high.x + r + 1, hole_high.y);
    to.add(low.x - r, hole_high.y, high.x + r + 1, high.y + 1);
  } else {
    to.add(low.x - r, low.y, high.x + r + 1, high.y + 1);
  }
  for (int64_t k = 1; k <= r; ++k) row(high.y + k, reach[static_cast<size_t>(k)]);
}

void add_line(Drawing& to, Point from, Point end, int64_t thickness) {
  if (thickness <= 1) return add_thin_line(to, from, end);
  const double reach = static_cast<double>(thickness + 1) / 2;
  const auto far = static_cast<int64_t>(reach);
  const int64_t first = std::max<int64_t>(0, std::min(from.y, end.y) - far);
  const int64_t last = std::min(to.height() - 1, std::max(from.y, end.y) + far);
  for (int64_t y = first; y <= last; ++y) add_thick_row(to, from, end, reach, y);
}

void add_circle(Drawing& to, Point center, int64_t radius, int64_t thickness) {
  const auto row = [&](int64_t y, int64_t begin, int64_t end) {
    to.add(center.x + begin, center.y + y, center.x + end, center.y + y + 1);
  };
  if (thickness == 0) {
    const std::vector<int64_t> reach = disc_rows(radius);
    for (int64_t y = -radius; y <= radius; ++y) {
      const int64_t wide = reach[static_cast<size_t>(std::abs(y))];
      row(y, -wide, wide + 1);
    }
    return;
  }
  if (thickness == 1) {
    std::set<std::pair<int64_t, int64_t>> points;
    for (const Point p : eighth(radius))
      for (const int64_t u : {-1, 1})
        for (const int64_t v : {-1, 1}) points.insert({v * p.y, u * p.x}), points.insert({v * p.x, u * p.y});
    for (const auto& [y, x] : points) row(y, x, x + 1);
    return;
  }
  const double outer = static_cast<double>(radius) + static_cast<double>(thickness + 1) / 2;
  const double inner = static_cast<double>(radius) - static_cast<double>(thickness + 1) / 2;
  const int64_t most = half_row(outer, 0);
  for (int64_t y = -most; y <= most; ++y) {
    const int64_t wide = half_row(outer, y);
    int64_t hole = half_row(inner, y);  // pixels nearer than `inner`
    if (hole >= 0 && static_cast<double>(hole * hole + y * y) >= inner * inner) --hole;
    if (hole < 0) {
      row(y, -wide, wide + 1);
      continue;
    }
    row(y, -wide, -hole), row(y, hole + 1, wide + 1);
  }
}

}  // namespace penstock::draw
