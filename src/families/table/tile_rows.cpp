// SPDX-License-Identifier: Apache-2.0
#include "families/table/tile_rows.h"

#include <algorithm>
#include <vector>

#include "base/intrinsics.h"

namespace penstock::table {
namespace {

// Of a column: where the packed results of its two tiles are, and what each of the two weighs.
struct Columns {
  std::vector<int32_t> first;
  std::vector<float> left, right;
};

#define PENSTOCK_LOOPS tile
#define PENSTOCK_LOOPS_TEXT "families/table/tile_rows.inc.h"
#include "base/foreach_target.h"

Columns columns_of(const LightnessRule::TileMix& mix, int64_t width) {
  const auto n = static_cast<size_t>(width);
  Columns c{std::vector<int32_t>(n), std::vector<float>(n), std::vector<float>(n)};
  for (int64_t x = 0; x < width; ++x) {
    const float at = static_cast<float>(x) * mix.per_width - 0.5f, before = std::floor(at);
    const auto i = static_cast<size_t>(x);
    c.first[i] = (static_cast<int32_t>(before) + 1) * mix.bins;
    c.right[i] = at - before, c.left[i] = 1 - c.right[i];
  }
  return c;
}

// Neighbors are counted apart: a count does not wait for the one before it.
void count(const uint8_t* row, int64_t n, int32_t* counts) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) ++counts[k * 256 + row[i + k]];
  for (; i < n; ++i) ++counts[row[i]];
}

// The tables of a plane, which begin with that of group `first`.
void make_tables(const uint8_t* plane, const TileTableRule::Coef& c, int64_t first) {
  std::vector<int32_t> counts(1024);
  for (int64_t j = 0; j < c.tiles_y; ++j)
    for (int64_t i = 0; i < c.tiles_x; ++i) {
      std::ranges::fill(counts, 0);
      const int64_t left = i * c.tile_width, inside = std::clamp<int64_t>(c.width - left, 0, c.tile_width);
      for (int64_t y = j * c.tile_height; y < (j + 1) * c.tile_height; ++y) {
        const uint8_t* const row = plane + TileTableRule::inside(y, c.height) * c.width;
        count(row + left, inside, counts.data());
        for (int64_t x = left + inside; x < left + c.tile_width; ++x) ++counts[row[TileTableRule::inside(x, c.width)]];
      }
      int32_t sums[256] = {};
      for (int v = 0; v < 1024; ++v) sums[(v & 255) >> c.shift] += counts[v];
      TileTableRule::finish(c, first + j * c.tiles_x + i, sums);
    }
}

// The four results around each place between the tiles of two rows, one byte each.
void pack_tables(const LightnessRule::TileMix& mix, int64_t plane, int64_t above, std::vector<uint32_t>& to) {
  const uint8_t* const all = mix.tables + plane * mix.tiles_y * mix.tiles_x * mix.bins;
  const auto at = [&](int64_t y, int64_t x) {
    return all +
           (std::clamp<int64_t>(y, 0, mix.tiles_y - 1) * mix.tiles_x + std::clamp<int64_t>(x, 0, mix.tiles_x - 1)) *
               mix.bins;
  };
  uint32_t* word = to.data();
  for (int64_t x = -1; x < mix.tiles_x; ++x) {
    const uint8_t* const four[] = {at(above, x), at(above, x + 1), at(above + 1, x), at(above + 1, x + 1)};
    for (int v = 0; v < mix.bins; ++v)
      *word++ = four[0][v] | four[1][v] << 8 | four[2][v] << 16 | static_cast<uint32_t>(four[3][v]) << 24;
  }
}

}  // namespace

void equalize_tiles(Target target, const uint8_t* in, uint8_t* out, const ImageRule::Extents& image,
                    const TileTableRule::Coef& c, const LightnessRule::TileMix& mix) {
  const int64_t width = image.width, positions = image.height * width, inner = image.inner;
  const int64_t planes = c.light ? 1 : inner;
  const Columns columns = columns_of(mix, width);
  const auto n = static_cast<size_t>(positions);
  std::vector<uint8_t> values(inner == 1 ? 0 : n), row(static_cast<size_t>(inner == 1 ? 0 : width));
  std::vector<int8_t> a(c.light ? n : 0), b(a.size());
  std::vector<uint32_t> packed(static_cast<size_t>((mix.tiles_x + 1) * mix.bins));
  for (int64_t k = 0; k < image.outer * planes; ++k) {
    const uint8_t* const from = in + k / planes * positions * inner + k % planes;
    uint8_t* const to = out + (from - in);
    const uint8_t* plane = inner == 1 ? from : values.data();
    if (c.light)
      PENSTOCK_FOR_TARGET(target, tile, lab_of(c.colors, from, values.data(), a.data(), b.data(), positions));
    else if (inner > 1)
      for (int64_t i = 0; i < positions; ++i) values[static_cast<size_t>(i)] = from[i * inner];
    make_tables(plane, c, k * c.tiles_y * c.tiles_x);
    int64_t above = -2;
    for (int64_t y = 0; y < image.height; ++y) {
      const float at = static_cast<float>(y) * mix.per_height - 0.5f, before = std::floor(at);
      if (static_cast<int64_t>(before) != above)
        above = static_cast<int64_t>(before), pack_tables(mix, k, above, packed);
      uint8_t* const mixed = inner == 1 ? to + y * width : row.data();
      PENSTOCK_FOR_TARGET(target, tile,
                          mix_row(packed.data(), columns, plane + y * width, mixed, width, mix.shift, at - before));
      if (c.light) {
        PENSTOCK_FOR_TARGET(
            target, tile,
            colors_of(c.colors, mixed, a.data() + y * width, b.data() + y * width, to + y * width * 3, width));
      } else if (inner > 1) {
        for (int64_t x = 0; x < width; ++x) to[(y * width + x) * inner] = row[static_cast<size_t>(x)];
      }
    }
  }
}

}  // namespace penstock::table
