// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/target.h"
#include "families/table/kernels/bins.h"
#include "operator/image_work.h"

namespace penstock::table {

// Counts of each plane of the image into `out`, [plane][bin]. Elements are uint8, uint16, int16 or float32.
void count_bins(const View& in, const View& out, const Bins& bins, SampleWork& to);

}  // namespace penstock::table
