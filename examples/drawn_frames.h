// SPDX-License-Identifier: Apache-2.0
// Frames for examples that have no camera, drawn by integers alone, so that Python draws the same.
#pragma once
#include <cstdint>
#include <vector>

#include "penstock/penstock.hpp"

namespace examples {

// Row by row, `channels` bytes for each pixel.
inline std::vector<uint8_t> drawn_frame(int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> frame;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < channels; ++c)
        frame.push_back(static_cast<uint8_t>((x * (c + 1) + y * (3 - c)) / 4 + (x ^ y) % 16));
  return frame;
}

// A batch over the program's memory, which is not copied; each frame has its own size.
inline penstock::Batch over(std::vector<std::vector<uint8_t>>& memory, const std::vector<penstock::Shape>& shapes) {
  std::vector<uint8_t*> pixels;
  for (std::vector<uint8_t>& frame : memory) pixels.push_back(frame.data());
  return penstock::Batch::wrap(pixels, shapes, "HWC");
}

}  // namespace examples
