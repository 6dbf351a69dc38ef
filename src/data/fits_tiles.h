// SPDX-License-Identifier: Apache-2.0
// Compressed images of FITS files (FITS Standard 4.0, section 10): cut into tiles, a row of a table for each.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace penstock {

// A column of the table. Where `heap` is set its cells hold the number of elements and the place of them behind the
// table.
struct FitsColumn {
  int64_t at = -1;                  // in a row; negative: there is no such column
  char type = 0;                    // B, I, J, K, E, D
  bool heap = false, wide = false;  // wide: 64-bit numbers
};

struct FitsTiles {
  std::string compression, dither = "NO_DITHER";
  Shape shape, tile;                                                     // the axis that changes fastest last
  DType stored = DType::none;                                            // of the elements that come out
  int64_t table = 0, row_bytes = 0, rows = 0, heap = 0, heap_bytes = 0;  // places in the file
  int64_t block = 32, pixel_bytes = 4;                                   // RICE_1
  int64_t seed = 1;                                                      // of the dither
  bool has_blank = false;
  int64_t blank = 0;  // of quantized numbers that are none
  FitsColumn data, gzip_data, plain_data, scale, zero, blanks;
};

// All elements, big-endian, as an image that is not compressed has them. Error (data) where the tiles are damaged.
void read_fits_tiles(const std::function<void(int64_t offset, int64_t length, uint8_t* out)>& read,
                     const FitsTiles& tiles, uint8_t* out);

// A tile of HCOMPRESS_1 of so many columns: as many values as `to` has.
void decode_hcompress(std::span<const uint8_t> from, int64_t columns, std::vector<int64_t>& to);

}  // namespace penstock
