// SPDX-License-Identifier: Apache-2.0
// The perspective that maps points nearest to others.
#pragma once
#include <array>

#include "ops/shared/point_rows.h"

namespace penstock {

using Perspective = std::array<double, 9>;  // row by row

constexpr int kAllSteps = 30;
// False: the points determine none, for example where all are on a line. `source` and `target` are at least 4; `steps`:
// at most, toward the least squared distances.
bool fit_perspective(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target, Perspective& out,
                     int steps = kAllSteps);
// Of each pair, from where h maps its source to its target; infinity where that is not a number.
void squared_distances(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target,
                       const Perspective& h, double* apart);

}  // namespace penstock
