// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/alike_rows.h"

namespace penstock {

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
