// SPDX-License-Identifier: Apache-2.0
// Which texts a batch needs: one for each group of samples that can share it.
#pragma once
#include "cuda/kernels/emit.h"
#include "cuda/stages/stage_sample.h"

namespace penstock {

// The largest tile that fits, of samples that go this way; width 0: none does.
Tile choose_tile(const StageSample& g, StageVariant::Path path);
// Sets g.variant and, of a tiled kernel, g.tiling.
void choose_variant(const StageCode& code, StageSample& g);
// Up to which scale of x a sample like this one has the same StageVariant::resamples_bytes.
double most_scale_of_bytes(const StageCode& code, const StageSample& g);
// The dimension that the CPU filters vertically: the second of the filtered ones and one more, from the innermost. -1:
// none.
int vertical_dim(const SampleGeometry& g);
// Whether all positions of a warp are so near that none is cut (kAffineReach).
bool is_near(const SampleGeometry& g);
// Samples whose variants agree after this share one text and one launch: dims and filters are made as many as `v` has.
bool unite(StageVariant& v, const StageVariant& other);

}  // namespace penstock
