// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_sample.h"

#include "cuda/stages/stage_table.h"

namespace penstock {

void GpuGeometry::finish(const StageCode& code, StageSample& g) { choose_variant(code, g); }

// Other tables than those of tiled kernels hold taps, which are made of the weights.
bool GpuGeometry::free_weights(const StageSample& g) { return g.variant.kind == StageVariant::Kind::tiled; }

std::optional<FormTaps> GpuGeometry::form_taps(const StageCode& code, const StageSample& g) {
  using Path = StageVariant::Path;
  const StageVariant& v = g.variant;
  const bool few = v.path <= Path::direct || (v.path == Path::shared && g.tiling.gathers && g.tiling.x.taps <= 2);
  if (v.wide || v.kind != StageVariant::Kind::tiled || !few) return std::nullopt;
  return FormTaps{g.tiling.x, g.tiling.y, most_scale_of_bytes(code, g)};
}

void put_frame(const SampleGeometry& g, FrameSourceRow& to) {
  const FramePlanes& p = g.frame.planes;
  // Planes that are read begin at the first valid one; the kernel counts them from 0.
  const int64_t first = g.has_plane && g.plane_pick < 0 ? g.plane.lo * g.plane.in_stride[0] : 0;
  to = {{p.plane[0], p.plane[1], p.plane[2]},
        {p.pitch[0], p.pitch[1]},
        p.frame,
        g.frame.row_shift,
        g.frame.frame_shift,
        g.frame.at + first};
}

static void put_axis(const AlikeAxis& a, TileAxisRow& to, int64_t& stride) {
  to.taps.taps = a.taps, to.taps.in = a.in, to.taps.lo = a.lo, to.taps.scale = a.scale;
  to.begin = a.begin, to.step = a.step, to.hop = a.hop;
  stride = a.stride;
}

void put_alike(const AlikeSample& s, const StageRow<std::byte>& row) {
  put_axis(s.x, row.tile().x, row.dim(row.at.dims - 1).in_stride[0]);
  put_axis(s.y, row.tile().y, row.dim(row.at.dims - 2).in_stride[0]);
}

}  // namespace penstock
