// SPDX-License-Identifier: Apache-2.0
// Where the windows of an image lie.
#pragma once
#include <algorithm>

#include "operator/image_work.h"

namespace penstock::window {

// A rectangle around each element of an image, channel by channel: any size, any border of ImageBorder.
struct Window {
  ImageRule::Extents image;  // image_extents(); without depth
  int64_t width, height;     // of the rectangle
  int64_t x, y;              // the anchor: the element of the rectangle that lies over the output's element
  int border;
};

// A window along one axis: `count` elements, from `before` elements before the output's one.
struct Reach {
  int64_t before, count;
};
// The part of a window of `size` elements, anchored at `at`, that sees each of n elements of an axis that the whole
// sees, in the same order of first sight. It is as long as a few axes at most.
inline Reach seen(int64_t n, int64_t size, int64_t at, int border) {
  if (border == kBorderConstant || border == kBorderClamp) {
    const int64_t before = std::min(at, n - 1);
    return {before, before + 1 + std::min(size - 1 - at, n - 1)};
  }
  const int64_t period = border == kBorderWrap         ? n
                         : border == kBorderReflect101 ? std::max<int64_t>(2 * (n - 1), 1)
                                                       : 2 * n;
  return {at % period, std::min(size, period)};
}

}  // namespace penstock::window
