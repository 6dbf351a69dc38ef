// SPDX-License-Identifier: Apache-2.0
// The family draw: operators that draw over images of bytes. An operator says on the host what it draws, as patches
// of pixels with an ink, in order; outlines.h and glyphs.h make patches of boxes, lines, circles and text. Both devices
// paint the same patches, so geometry needs no second form. Patches of one shape do not overlap: an ink that is not
// opaque covers each pixel once.
#pragma once
#include <algorithm>
#include <vector>

#include "families/draw/kernels/tiles.h"
#include "operator/image_work.h"
#include "operator/kernel_step.h"

namespace penstock::draw {

class Drawing {
 public:
  Drawing(int64_t width, int64_t height) : width_(width), height_(height) {}
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  // For what is added after.
  void take(const Ink& ink) { inks_.push_back(ink); }
  // Only the part inside the image is kept.
  void add(int64_t left, int64_t top, int64_t right, int64_t bottom) {
    left = std::max<int64_t>(left, 0), top = std::max<int64_t>(top, 0);
    right = std::min(right, width_), bottom = std::min(bottom, height_);
    if (left >= right || top >= bottom || inks_.back().opacity == 0) return;
    patches_.push_back({static_cast<int32_t>(left), static_cast<int32_t>(top), static_cast<int32_t>(right),
                        static_cast<int32_t>(bottom), static_cast<int32_t>(inks_.size()) - 1});
  }
  // Room for about so many more patches.
  void expect(size_t patches) {
    const size_t all = patches_.size() + patches;
    if (all > patches_.capacity()) patches_.reserve(std::max(all, 2 * patches_.capacity()));
  }
  const std::vector<Patch>& patches() const { return patches_; }
  const std::vector<Ink>& inks() const { return inks_; }

 private:
  int64_t width_, height_;
  std::vector<Patch> patches_;
  std::vector<Ink> inks_;
};

// Where the images of a sample are in memory; channels are first or last.
struct Canvas {
  int64_t images, height, width, channels;
  int64_t pixel, plane, image;  // from a pixel, a channel, an image to the next one
};
Canvas canvas_of(const View& v);

// `out` has the layout of the image. It becomes `in` with the drawing over it; `in` may be `out`.
void draw(const View& in, const View& out, Drawing drawing, SampleWork& to);

}  // namespace penstock::draw
