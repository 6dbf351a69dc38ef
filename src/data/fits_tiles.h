// SPDX-License-Identifier: Apache-2.0
// Compressed images of FITS files (FITS Standard 4.0, section 10): cut into tiles, one row of a table per tile.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace penstock {

// A column of the table. If `heap` is set, its cells hold the number of elements and their offset in the heap after the
// table.
struct FitsColumn {
  int64_t at = -1;                  // offset in a row; negative: the column is absent
  char type = 0;                    // B, I, J, K, E, D
  bool heap = false, wide = false;  // wide: 64-bit numbers
};

struct FitsTiles {
  std::string compression, dither = "NO_DITHER";
  Shape shape, tile;                                                     // the fastest-changing axis last
  DType stored = DType::none;                                            // type of the decoded elements
  int64_t table = 0, row_bytes = 0, rows = 0, heap = 0, heap_bytes = 0;  // offsets in the file
  int64_t block = 32, pixel_bytes = 4;                                   // RICE_1
  int64_t seed = 1;                                                      // for the dither
  bool has_blank = false;
  int64_t blank = 0;  // quantized value that means "no value"
  FitsColumn data, gzip_data, plain_data, scale, zero, blanks;
};

// All elements, big-endian, as in an image without compression. Error (data) if the tiles are damaged.
void read_fits_tiles(const std::function<void(int64_t offset, int64_t length, uint8_t* out)>& read,
                     const FitsTiles& tiles, uint8_t* out);

// Decodes a tile of HCOMPRESS_1 with `columns` columns: as many values as `to` has.
void decode_hcompress(std::span<const uint8_t> from, int64_t columns, std::vector<int64_t>& to);

}  // namespace penstock
