// SPDX-License-Identifier: Apache-2.0
// Canny's edges of an image of bytes.
#pragma once
#include <cstdint>

namespace penstock {

struct CannyRule {
  int64_t height, width, channels;  // interleaved; of a pixel the channel with the largest gradient counts
  int window_size;                  // of the derivatives: 3, 5 or 7, which are divided by 16
  int32_t low, high;                // an edge has more than low; more than high begins one
  bool squared;                     // gradients are sums of squares, else of magnitudes
};
// 255 where an edge is, else 0.
void canny_edges(const uint8_t* image, uint8_t* edges, const CannyRule& rule);

}  // namespace penstock
