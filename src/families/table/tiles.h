// SPDX-License-Identifier: Apache-2.0
// Local histograms by the family's kernels: of one channel, or of each by itself. Elsewhere the rules do.
#pragma once
#include "families/table/kernels/tiles.h"
#include "families/table/local_histograms.h"
#include "operator/kernel_step.h"

namespace penstock::table {

// A cell has a table of its own, so that small ones are left to the rules.
inline bool has_tile_kernels(const ImageRule::Extents& e, const TileTableRule::Coef& c) {
  constexpr int64_t kFewPixels = 1024, kMost = int64_t{1} << 30;
  return !c.light && c.tile_height * c.tile_width >= kFewPixels && e.height < kMost && e.width < kMost;
}
// Two steps; `host` does all at once.
inline void equalize_by_tiles(const uint8_t* in, uint8_t* out, const ImageRule::Extents& e,
                              const TileTableRule::Coef& c, const LightnessRule::TileMix& mix, SampleWork& to,
                              std::function<void()> host) {
  constexpr const char* kHeader = "families/table/kernels/tiles.h";
  const auto small = [](int64_t n) { return static_cast<int32_t>(n); };
  const TilesRow row{in,
                     out,
                     c.tables,
                     small(e.height),
                     small(e.width),
                     small(c.tile_height),
                     small(c.tile_width),
                     small(c.tiles_y),
                     small(c.tiles_x),
                     c.bins,
                     c.shift,
                     c.limit,
                     c.scale,
                     mix.per_height,
                     mix.per_width};
  const int64_t planes = e.outer * e.inner;
  const int inner = static_cast<int>(e.inner);
  to.kernel({{kHeader, "table::tile_tables", {}, {inner}, nullptr, 1},
             row_bytes(row),
             planes * c.tiles_y * c.tiles_x,
             static_cast<size_t>(kTablesBytes),
             nullptr,
             0,
             [] {}});
  to.then();
  to.kernel({{kHeader, "table::mix_tiles", {}, {inner}, nullptr, 1},
             row_bytes(row),
             planes * (c.tiles_y + 1) * (c.tiles_x + 1),
             static_cast<size_t>(kMixedBytes),
             nullptr,
             0,
             std::move(host)});
}

}  // namespace penstock::table
