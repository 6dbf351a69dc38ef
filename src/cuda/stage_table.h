// SPDX-License-Identifier: Apache-2.0
// The one block of memory that a launch reads: entries, where each entry's blocks begin, coefficients, fills, taps.
#pragma once
#include <vector>

#include "cuda/emit.h"
#include "cuda/stage_geometry.h"

namespace penstock {

// Which text suits this sample, alone.
StageVariant variant_of(const StageCode& code, const SampleGeometry& g);
// Samples whose variants agree after this share one text and one launch: dims and filters are made as many as `v` has.
bool unite(StageVariant& v, const StageVariant& other);

struct PackedTable {
  std::vector<std::byte> bytes;
  int64_t blocks = 0;
  size_t shared_bytes = 0;
};
// `faults`: the device's flags, one int32 for each entry's sample; null where the stage has none.
PackedTable pack_table(const StageCode& code, const StageVariant& v, std::span<const SampleGeometry* const> samples,
                       int32_t* faults, int multiprocessors);

}  // namespace penstock
