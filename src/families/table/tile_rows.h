// SPDX-License-Identifier: Apache-2.0
// The rules of local histograms on the host, row by row.
#pragma once
#include "base/target.h"
#include "families/table/local_histograms.h"

namespace penstock::table {

// All steps at once; `tables.tables` has the memory for the tables.
void equalize_tiles(Target target, const uint8_t* in, uint8_t* out, const ImageRule::Extents& image,
                    const TileTableRule::Coef& tables, const LightnessRule::TileMix& mix);

}  // namespace penstock::table
