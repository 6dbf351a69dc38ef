// SPDX-License-Identifier: Apache-2.0
// Regions of images that are put onto a canvas in their order. What is seen of them is cut into pieces that share no
// pixel, so that each pixel of the canvas is written once.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "batch/view_part.h"
#include "operator/sample_work.h"

namespace penstock {

struct CanvasWindow {
  int64_t begin[2], end[2];  // y, x
  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1]; }
};
inline CanvasWindow common_part(const CanvasWindow& a, const CanvasWindow& b) {
  CanvasWindow c;
  for (int d = 0; d < 2; ++d) c.begin[d] = std::max(a.begin[d], b.begin[d]), c.end[d] = std::min(a.end[d], b.end[d]);
  return c;
}

struct VisiblePiece {
  int64_t owner;  // the number of the window; -1: the canvas
  CanvasWindow window;
};

// Adds the parts of `a` outside `hole`, which is inside it: above, below, to the left and to the right.
inline void add_outside(const CanvasWindow& a, const CanvasWindow& hole, std::vector<CanvasWindow>& to) {
  const CanvasWindow parts[] = {{{a.begin[0], a.begin[1]}, {hole.begin[0], a.end[1]}},
                                {{hole.end[0], a.begin[1]}, {a.end[0], a.end[1]}},
                                {{hole.begin[0], a.begin[1]}, {hole.end[0], hole.begin[1]}},
                                {{hole.begin[0], hole.end[1]}, {hole.end[0], a.end[1]}}};
  for (const CanvasWindow& p : parts)
    if (!p.empty()) to.push_back(p);
}

// None: there are too many pieces; the windows cost less one over the other.
inline std::optional<std::vector<VisiblePiece>> visible_pieces(const CanvasWindow& canvas,
                                                               std::span<const CanvasWindow> windows) {
  const size_t most = 4 * windows.size() + 4;
  std::vector<VisiblePiece> pieces;
  std::vector<CanvasWindow> free{canvas}, left;  // what no later window covers
  for (size_t k = windows.size(); k-- > 0; std::swap(free, left)) {
    left.clear();
    for (const CanvasWindow& f : free) {
      const CanvasWindow seen = common_part(f, windows[k]);
      if (seen.empty()) {
        left.push_back(f);
        continue;
      }
      pieces.push_back({static_cast<int64_t>(k), seen});
      add_outside(f, seen, left);
    }
    if (pieces.size() + left.size() > most) return {};
  }
  for (const CanvasWindow& f : free)
    if (!f.empty()) pieces.push_back({-1, f});
  return pieces;
}

// `regions` are as large as their windows on the canvas, and of its type or converted as `cast` does. Height and width
// are the dimensions `lead` and the next.
inline void paste_regions(const View& canvas, int lead, std::span<const View> regions,
                          std::span<const CanvasWindow> windows, SampleWork& to) {
  if (canvas.volume() == 0) return;
  const CanvasWindow whole{{0, 0}, {canvas.shape[lead], canvas.shape[lead + 1]}};
  const auto cut = [&](const View& v, const CanvasWindow& own, const CanvasWindow& w) {
    const View rows = part(v, lead, w.begin[0] - own.begin[0], w.end[0] - w.begin[0]);
    return part(rows, lead + 1, w.begin[1] - own.begin[1], w.end[1] - w.begin[1]);
  };
  if (const auto pieces = visible_pieces(whole, windows)) {
    for (const auto& [owner, w] : *pieces)
      if (const View there = cut(canvas, whole, w); owner < 0) to.fill(there, {{0.0f}, {}});
      else to.copy(cut(regions[owner], windows[owner], w), there);
    return;
  }
  to.fill(canvas, {{0.0f}, {}});
  for (size_t k = 0; k < regions.size(); ++k)
    if (!windows[k].empty()) to.then(), to.copy(regions[k], cut(canvas, whole, windows[k]));
}

// A fraction of an extent in pixels. One whose float32 product is next to a pixel border means that border.
inline int64_t pixels_of_fraction(float fraction, int64_t extent, bool up) {
  const double exact = static_cast<double>(fraction) * static_cast<double>(extent);
  if (!(std::fabs(exact) < 1e15)) bad_argument("a region of {}", fraction);
  const double near = std::rint(exact), v = std::fabs(exact - near) < 1e-6 * (1 + std::fabs(exact)) ? near : exact;
  return static_cast<int64_t>(up ? std::ceil(v) : std::floor(v));
}

}  // namespace penstock
