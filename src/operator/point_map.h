// SPDX-License-Identifier: Apache-2.0
// Where the points of an image lie after an operator: the matrix of its map, from positions of the input to those of
// the output.
#pragma once
#include "operator/placement.h"

namespace penstock {

// dims + 1 rows of dims + 1 numbers, for columns (x, y[, z], 1). (0, 0) is the outer corner of the first element.
struct PointMap {
  int dims = 2;
  double m[16] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
};

// The spatial dimensions of a layout, x first: those of W, H[, D].
int spatial_dims(const Layout& layout, int* dims);

// The map that moves nothing. Throws for a layout that is not that of an image or a volume.
PointMap unmoved_points(const Layout& layout);

// The map of an operator that does what the placement says and nothing else. Throws where its map cannot be inverted.
PointMap point_map(const Placement& p);

// Throws for a singular matrix.
PointMap inverse(const PointMap& map);

}  // namespace penstock
