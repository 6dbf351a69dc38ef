// SPDX-License-Identifier: Apache-2.0
// Tiles each of whose outputs is one sample of the source.
#pragma once
#include "cuda/kernels/tiles.h"

namespace penstock {

template <class Stage> __device__ inline void tile_indexed(const char* table) {
  using Index = typename Stage::Index;
  const StageTile<Stage> t(table);
  const TapsOfTile<Stage> taps(t);
  t.template groups<kReadTogether<Stage>>(0, t.ny, [&](int x, int y, int j, auto& source) {
    int tap_x, tap_y;
    const bool some = t.tap_place(x, y, j, tap_x, tap_y);
    const Index corner =
        some ? static_cast<Index>(taps.first_y[tap_y]) * t.step_y + static_cast<Index>(taps.first_x[tap_x]) * t.step_x
             : 0;
    for (int p = 0; p < Stage::kPlanes; ++p)
      source[p] =
          some ? number_of<typename Stage::template In<0>, typename Stage::SourceNumber>(t.in[corner + t.plane(p)])
               : typename Stage::SourceNumber(0);
  });
}

}  // namespace penstock
