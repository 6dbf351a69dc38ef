// SPDX-License-Identifier: Apache-2.0
// Tiles of an image that change their places: shuffle_tiles, and what moves points and boxes as it does.
#pragma once
#include <algorithm>
#include <vector>

#include "operator/operator.h"

namespace penstock {

struct TileMove {
  int64_t left, top, width, height;  // in the input
  int64_t new_left, new_top;         // in the output
};

// The arguments of these operators.
struct TileArguments {
  PerSample<std::vector<int64_t>> columns, rows, order;

  // Throws unless the tiles cover an image of these extents and each finds a place of its size.
  std::vector<TileMove> moves(int sample, int64_t height, int64_t width) const {
    const std::vector<int64_t> x = columns[sample], y = rows[sample], to = order[sample];
    check_lines("columns", x, width), check_lines("rows", y, height);
    const size_t across = x.size() - 1, tiles = across * (y.size() - 1);
    if (to.size() != tiles) bad_argument("order has {} numbers, but there are {} tiles", to.size(), tiles);
    std::vector<bool> taken(tiles, false);
    std::vector<TileMove> made;
    for (size_t k = 0; k < tiles; ++k) {
      const size_t i = k / across, j = k % across;
      if (to[k] < 0 || to[k] >= static_cast<int64_t>(tiles) || taken[static_cast<size_t>(to[k])])
        bad_argument("order must have each number from 0 to {} once, got {} at {}", tiles - 1, to[k], k);
      const auto place = static_cast<size_t>(to[k]);
      taken[place] = true;
      const size_t row = place / across, column = place % across;
      const int64_t wide = x[j + 1] - x[j], tall = y[i + 1] - y[i];
      if (x[column + 1] - x[column] != wide || y[row + 1] - y[row] != tall)
        bad_argument("order moves tile {} of {} x {} to the place of tile {}, which is {} x {}", k, tall, wide, place,
                     y[row + 1] - y[row], x[column + 1] - x[column]);
      made.push_back({x[j], y[i], wide, tall, x[column], y[row]});
    }
    return made;
  }

 private:
  static void check_lines(const char* name, const std::vector<int64_t>& lines, int64_t extent) {
    if (lines.size() < 2 || lines.size() > 4097 || lines.front() != 0 || lines.back() != extent)
      bad_argument("{} must go from 0 to {}, the extent of the image", name, extent);
    if (!std::ranges::is_sorted(lines)) bad_argument("{} must ascend", name);
  }
};

template <class Op> Schema<Op>&& tile_arguments(Schema<Op>&& s) {
  return std::move(s)
      .required("columns", &Op::columns, "Where tiles begin along x, in pixels, from 0 on, and the width at the end.")
      .required("rows", &Op::rows, "Where tiles begin along y, and the height at the end.")
      .required("order", &Op::order,
                "The place of each tile, as the number of the tile that was there; tiles are counted row by row.");
}

}  // namespace penstock
