// SPDX-License-Identifier: Apache-2.0
// Images of FITS files (FITS Standard 4.0): primary arrays, IMAGE extensions, and compressed images.
#pragma once
#include <functional>
#include <memory>

#include "base/dtype.h"
#include "base/shape.h"
#include "data/container.h"
#include "data/fits_tiles.h"

namespace penstock {

struct FitsImage {
  DType stored = DType::none;  // uint8, int16, int32, int64, float32, float64, big-endian
  // Of the values: stored, an integer of the other sign where BZERO says so, else float32 (of 8 and 16 bits and of
  // float32) or float64 where BSCALE and BZERO are to be applied.
  DType dtype = DType::none;
  Shape shape;                             // the axis that changes fastest last: NAXISn ... NAXIS1
  int64_t data = 0;                        // where the elements begin
  std::shared_ptr<const FitsTiles> tiles;  // instead, where the image is compressed
  double scale = 1, zero = 0;
  bool has_blank = false;
  int64_t blank = 0;  // the integer that stands for no value
  bool scaled() const { return is_float(dtype) && (scale != 1 || zero != 0 || !is_float(stored)); }
};

using ReadBytes = std::function<void(int64_t offset, int64_t length, uint8_t* out)>;

// The image of HDU `number`, counted from 1, the primary one. Error (data) where the file ends before it, it is no
// image (tables, random groups), is compressed in a way that is not known, has no elements, or is damaged.
FitsImage find_fits_image(const ReadBytes& read, int64_t file_bytes, int64_t number);

// The elements of the image, big-endian: volume() of `stored`.
void read_fits_elements(const ReadBytes& read, const FitsImage& image, uint8_t* out);

// Elements as they are in the file to values in the processor's order; no value becomes NaN where dtype is a floating
// type.
void convert_fits(const FitsImage& image, const uint8_t* from, void* to);

}  // namespace penstock
