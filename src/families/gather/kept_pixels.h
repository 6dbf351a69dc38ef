// SPDX-License-Identifier: Apache-2.0
// The nearest pixels of all outputs, found once for images of one size that follow each other.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "families/gather/rows.h"

namespace penstock::gather {

// Of one operator, whose positions depend on the image's size alone, with a constant border: positions of 16 bits are
// clamped, and stay outside. Threads may share it.
class KeptPixels {
 public:
  // Those for outputs of this size. Null where the size was another one before, is too large, or another thread finds
  // them: the caller then finds its own. `nearest` of the loops is used.
  std::shared_ptr<const PixelPlanes> planes(int32_t height, int32_t width, const PositionLoops& loops);

 private:
  std::mutex mutex_;
  int32_t height_ = 0, width_ = 0;  // of the last images
  bool begun_ = false;              // a thread finds these, or has found them
  std::shared_ptr<const PixelPlanes> planes_;
};

}  // namespace penstock::gather
