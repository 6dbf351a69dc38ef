// SPDX-License-Identifier: Apache-2.0
// Circles for which the pixels of edges vote: each, along its gradient, for the centers that it may lie around (C.
// Kimme, D. Ballard and J. Sklansky, "Finding circles by an array of accumulators", 1975).
#pragma once
#include <cstdint>
#include <vector>

namespace penstock {

struct CircleRule {
  float scale;           // pixels of the image along a place for votes, at least 1
  float least_distance;  // between centers
  int edge_threshold;    // the larger one of Canny's method; the other is half of it
  int threshold;         // a center has more votes, and its circle more pixels of edges
  int least_radius, most_radius;
  int64_t most_circles;
};
struct VotedCircle {
  float x, y, radius;
  int32_t pixels;  // of edges, where its radius is
};
// Those with the most pixels first.
std::vector<VotedCircle> vote_for_circles(const uint8_t* image, int64_t height, int64_t width, const CircleRule& rule);

}  // namespace penstock
