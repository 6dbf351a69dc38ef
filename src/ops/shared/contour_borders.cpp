// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/contour_borders.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace penstock {
namespace {

// Directions counterclockwise, from the right one on.
constexpr std::array<int, 8> kRight{1, 1, 0, -1, -1, -1, 0, 1}, kDown{0, -1, -1, -1, 0, 1, 1, 1};

class BorderSearch {
 public:
  BorderSearch(const uint8_t* mask, int64_t height, int64_t width, bool corners)
      : height_(height),
        width_(width),
        stride_(width + 2),
        corners_(corners),
        mask_(mask),
        marks_(std::make_unique_for_overwrite<int32_t[]>(static_cast<size_t>((height + 2) * stride_))),
        set_(static_cast<size_t>(width) + 2, 0) {
    for (const int64_t y : {int64_t{-1}, height}) std::fill_n(&mark(y, -1), stride_, 0);
    for (int64_t y = 0; y < height; ++y) {
      int32_t* const row = &mark(y, 0);
      for (int64_t x = 0; x < width; ++x) row[x] = mask[y * width + x] != 0;
      row[-1] = row[width] = 0;
    }
    for (size_t d = 0; d < 8; ++d) step_[d] = kDown[d] * stride_ + kRight[d];
  }
  RegionBorders run() {
    for (int64_t y = 0; y < height_; ++y) scan_row(y);
    return std::move(found_);
  }

 private:
  // 0 outside regions, 1 inside; on a border its number + 2, minus that where the right neighbor is outside.
  int32_t& mark(int64_t y, int64_t x) { return marks_[static_cast<size_t>((y + 1) * stride_ + x + 1)]; }

  // A border begins at the left end of a run of pixels or, around a hole, at its right end.
  void scan_row(int64_t y) {
    int32_t* const row = &mark(y, 0);
    const uint8_t* const from = mask_ + y * width_;
    uint8_t* const set = set_.data();  // a 0 is after the last
    for (int64_t x = 0; x < width_; ++x) set[x] = from[x] != 0;
    int32_t near = 1;  // the border that was met last, 1: the frame
    for (int64_t x = 0; x < width_;) {
      const auto* const first = static_cast<const uint8_t*>(std::memchr(set + x, 1, static_cast<size_t>(width_ - x)));
      if (!first) return;
      x = first - set;
      const auto* const after = static_cast<const uint8_t*>(std::memchr(first, 0, static_cast<size_t>(width_ - x + 1)));
      const int64_t last = after - set - 1;
      if (row[x] == 1) follow(y, x, false, near);
      if (row[last] > 0) {
        int64_t met = last;
        while (row[met] == 1) --met;  // ends at the left end of the run
        follow(y, last, true, std::abs(row[met]));
      }
      near = std::abs(row[last]);
      x = last + 1;
    }
  }
  int32_t parent_of(bool hole, int32_t near) const {
    if (near == 1) return -1;
    const RegionBorder& met = found_.all[static_cast<size_t>(near - 2)];
    return met.hole == hole ? met.parent : near - 2;
  }
  void follow(int64_t y, int64_t x, bool hole, int32_t near) {
    const int32_t parent = parent_of(hole, near);
    const auto number = static_cast<int32_t>(found_.all.size()) + 2;
    const size_t begin = found_.points.size();
    int32_t* const start = &mark(y, x);
    const int outside = hole ? 0 : 4;  // the direction of a pixel that is not in the region
    int d = outside;
    do d = (d + 7) & 7;
    while (start[step_[static_cast<size_t>(d)]] == 0 && d != outside);
    BorderPoint at{static_cast<int32_t>(x), static_cast<int32_t>(y)};
    if (d == outside) {
      *start = -number;
      found_.points.push_back(at);
    } else {
      go_around(start, d, number, at);
    }
    found_.all.push_back({hole, parent, begin, found_.points.size()});
  }
  // `d` leads to the last pixel of the border.
  void go_around(int32_t* start, int d, int32_t number, BorderPoint at) {
    const int32_t* const last = start + step_[static_cast<size_t>(d)];
    int arrived = d ^ 4;  // the direction of the step before
    for (int32_t* pixel = start;;) {
      bool right_is_outside = false;
      for (d = (d + 1) & 7; pixel[step_[static_cast<size_t>(d)]] == 0; d = (d + 1) & 7) right_is_outside |= d == 0;
      if (right_is_outside) *pixel = -number;
      else if (*pixel == 1) *pixel = number;
      if (!corners_ || d != arrived) found_.points.push_back(at);
      int32_t* const next = pixel + step_[static_cast<size_t>(d)];
      if (next == start && pixel == last) return;
      at.x += kRight[static_cast<size_t>(d)], at.y += kDown[static_cast<size_t>(d)];
      pixel = next, arrived = d, d ^= 4;
    }
  }

  const int64_t height_, width_, stride_;
  const bool corners_;
  const uint8_t* const mask_;
  std::unique_ptr<int32_t[]> marks_;  // with a pixel around the image
  std::vector<uint8_t> set_;          // which pixels of a row are in a region
  std::array<int64_t, 8> step_{};
  RegionBorders found_;
};

}  // namespace

RegionBorders find_borders(const uint8_t* mask, int64_t height, int64_t width, bool corners) {
  return BorderSearch(mask, height, width, corners).run();
}

}  // namespace penstock
