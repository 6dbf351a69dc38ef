// SPDX-License-Identifier: Apache-2.0
// Lines for which the pixels of edges vote: rho = x cos(theta) + y sin(theta) (R. Duda et al., 1972).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace penstock {

struct LineGrid {
  double rho, theta;  // steps
  double least_theta, most_theta;
  int angles() const;
  int distances(int64_t height, int64_t width) const;
  // Of each angle in steps of rho; `rising`: the angles are sums of float32 steps, else products.
  void tables(std::vector<float>& cosines, std::vector<float>& sines, bool rising) const;
};

struct VotedLine {
  float rho, theta;
  int32_t votes;
};
// The places with more than `threshold` votes that are the largest around them, by falling votes.
std::vector<VotedLine> vote_for_lines(const uint8_t* edges, int64_t height, int64_t width, const LineGrid& grid,
                                      int threshold);

struct VotedSegmentRule {
  int threshold;
  int least_length, most_gap;
  int64_t most_segments;
  uint64_t seed;
};
// Ends of segments, x and y, by pixels that vote in random order until a line has enough votes (J. Matas, C. Galambos
// and J. Kittler, "Robust detection of lines using the progressive probabilistic Hough transform", 2000).
std::vector<std::array<int32_t, 4>> vote_for_segments(const uint8_t* edges, int64_t height, int64_t width,
                                                      const LineGrid& grid, const VotedSegmentRule& rule);

}  // namespace penstock
