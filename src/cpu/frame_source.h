// SPDX-License-Identifier: Apache-2.0
// The pixels that a stage reads of a frame of luma and chroma.
#pragma once
#include <vector>

#include "batch/batch.h"
#include "stage/geometry.h"

namespace penstock {

class FrameSource {
 public:
  // Of `frames`, which is any view, those that the placement reads. `shape`: of all its pixels.
  FrameSource(const StageCode& code, const View& frames, const Shape& shape, const Placement& placement);
  // What is read, as a view without memory; its first position in each dimension.
  const View& pixels() const { return pixels_; }
  void set_origin(int64_t* origin) const;
  // The same in memory.
  void* convert(std::vector<uint8_t>& memory) const;

 private:
  const PixelSource& source_;
  View frames_, pixels_;
  int h_;  // the dimension of rows
  int64_t y_ = 0, x_ = 0;
};

}  // namespace penstock
