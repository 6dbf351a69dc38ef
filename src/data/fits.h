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
  // The type of the values: stored; an integer of the other signedness if BZERO says so; float32 (for 8 and 16 bits and
  // float32) or float64 if BSCALE and BZERO must be applied.
  DType dtype = DType::none;
  Shape shape;                             // the fastest-changing axis last: NAXISn ... NAXIS1
  int64_t data = 0;                        // offset of the elements
  std::shared_ptr<const FitsTiles> tiles;  // instead, if the image is compressed
  double scale = 1, zero = 0;
  bool has_blank = false;
  int64_t blank = 0;  // the integer that means "no value"
  bool scaled() const { return is_float(dtype) && (scale != 1 || zero != 0 || !is_float(stored)); }
};

using ReadBytes = std::function<void(int64_t offset, int64_t length, uint8_t* out)>;

// The image of HDU `number`, counted from 1, the primary one. Error (data) if the file ends before it, it is not an
// image (tables, random groups), its compression is unknown, it has no elements, or it is damaged.
FitsImage find_fits_image(const ReadBytes& read, int64_t file_bytes, int64_t number);

// The elements of the image, big-endian: volume() of `stored`.
void read_fits_elements(const ReadBytes& read, const FitsImage& image, uint8_t* out);

// Converts elements as stored to values in the processor's byte order; "no value" becomes NaN if dtype is a floating
// type.
void convert_fits(const FitsImage& image, const uint8_t* from, void* to);

}  // namespace penstock
