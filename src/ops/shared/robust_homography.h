// SPDX-License-Identifier: Apache-2.0
// The perspective of points of which some are wrong: that of the best of many random choices of four.
#pragma once
#include "ops/shared/homography.h"

namespace penstock {

struct RobustRule {
  bool medians;       // the least median of squared distances counts (Rousseeuw, 1984), else the most points within
  double threshold;   // this distance (Fischler and Bolles, 1981)
  double confidence;  // that a choice without wrong points was made
  int64_t most_choices;
  uint64_t seed;
};
// False: no choice determines one. `inlier` has 1 for each point that is near where it should be; the perspective is
// the one that maps these nearest.
bool fit_robust_perspective(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target,
                            const RobustRule& rule, Perspective& out, std::vector<uint8_t>& inlier);

}  // namespace penstock
