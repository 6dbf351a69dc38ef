// SPDX-License-Identifier: Apache-2.0
// An infinite fill, of which a blend makes NaN: it is the result wherever it has a share, and is not read elsewhere. So
// do the CPU's loops (cpu/affine_rows.inc.h).
#pragma once
#include "pixel/affine.h"

namespace penstock {

// Whether a blend has a share of what is outside the source.
template <class V, int dims> PENSTOCK_HD inline bool reads_outside(const AffinePoint<dims>& p, const int64_t* extent) {
  bool outside = false;
  for (int a = 0; a < dims; ++a) {
    const int64_t at = affine_at(p.axis[a]), end = at + (affine_weight<V>(p.axis[a]) != 0);
    outside |= at < 0 || end >= extent[a];
  }
  return outside;
}
template <int dims, class V, class Load>
PENSTOCK_HD inline V covered_linear(AffineChannel<dims, V, Load> channel, const AffinePoint<dims>& p) {
  if (channel.border_fill && !(channel.fill - channel.fill == 0)) {
    if (reads_outside<V>(p, channel.extent)) return channel.fill;
    channel.border_fill = false;
  }
  return channel.linear(p);
}

}  // namespace penstock
