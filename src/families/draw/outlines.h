// SPDX-License-Identifier: Apache-2.0
// Boxes, lines and circles as patches. Positions are pixels. What is one pixel thick, boxes of any thickness and filled
// circles are OpenCV's; thicker lines and circles are the pixels whose centers are at most (thickness + 1) / 2 away,
// which is how thick OpenCV's are.
#pragma once
#include "families/draw/drawing.h"

namespace penstock::draw {

struct Point {
  int64_t x, y;
};
constexpr int64_t kMostThick = 255;     // of outlines
constexpr int64_t kFarthest = 1 << 20;  // position of a pixel

// Both corners belong to it. thickness: at least 1.
void add_box(Drawing& to, Point low, Point high, int64_t thickness);
void add_line(Drawing& to, Point from, Point end, int64_t thickness);
// thickness 0: filled.
void add_circle(Drawing& to, Point center, int64_t radius, int64_t thickness);

}  // namespace penstock::draw
