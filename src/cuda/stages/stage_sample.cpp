// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_sample.h"

#include "cuda/stages/stage_table.h"

namespace penstock {

void GpuGeometry::finish(const StageCode& code, StageSample& g) { choose_variant(code, g); }

// Other tables than those of tiled kernels hold taps, which are made of the weights.
bool GpuGeometry::free_weights(const StageSample& g) { return g.variant.kind == StageVariant::Kind::tiled; }

std::optional<FormTaps> GpuGeometry::form_taps(const StageCode& code, const StageSample& g) {
  const StageVariant& v = g.variant;
  if (v.wide || v.kind != StageVariant::Kind::tiled || v.path > StageVariant::Path::direct) return std::nullopt;
  return FormTaps{g.tiling.x, g.tiling.y, most_scale_of_bytes(code, g)};
}

}  // namespace penstock
