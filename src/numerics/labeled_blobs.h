// SPDX-License-Identifier: Apache-2.0
// Boxes around the connected parts of one label in a labeled array.
#pragma once
#include <functional>
#include <vector>

#include "batch/batch.h"

namespace penstock {

struct Blob {
  int64_t label;
  Shape start, end;  // of the box; `end` is exclusive
  double volume() const;
};

// In the order of their first elements. Elements are neighbors along axes, not across corners. Elements of other labels
// belong to no part.
std::vector<Blob> find_blobs(const View& labels, const std::function<bool(int64_t label)>& wanted);

}  // namespace penstock
