// SPDX-License-Identifier: Apache-2.0
// Rows of an affine resampling: the source is in memory, each output pixel reads its neighbors. Coordinates follow
// from the output's index alone, in double; the arithmetic is the same on every target.
#pragma once
#include <vector>

#include "cpu/convert.h"

namespace penstock {

struct AffineSource {
  const void* data = nullptr;
  DType dtype = DType::none;
  int64_t depth = 1, height = 0, width = 0;
  int channels = 1;
  int64_t stride_z = 0, stride_y = 0, stride_x = 0, stride_c = 0;  // elements
};

// Outputs x, x + step, ... of a row; step is 1 or -1.
struct AffineOutputs {
  int64_t x = 0, step = 1;
};

// planes[c][i], i in [0, n): values in the compute type at output (outputs.x + outputs.step * i, y, z); may write up to
// 15 values past n.
// `fill` has one entry or one per channel. The source is not empty and spans less than 2^31 elements. `to_bytes`:
// results made of bytes become bytes again.
class AffineRows {
 public:
  AffineRows(Target target, const AffineMap& map, std::span<const float> fill, Lane lane, bool to_bytes = false);
  void row(const AffineSource& s, AffineOutputs outputs, int64_t y, int64_t z, int64_t n, void* const* planes) const;
  // Whether rows of this source are copies of its pixels: two axes, the nearest one, of a type that float32 holds.
  bool copies(const AffineSource& s) const;
  // Then the pixels of a row, side by side, as stored. `fill`: fill_pixel(s).
  void copied_row(const AffineSource& s, AffineOutputs outputs, int64_t y, int64_t n, const std::vector<char>& fill,
                  void* out) const;
  std::vector<char> fill_pixel(const AffineSource& s) const;  // empty: the border repeats

 private:
  using Fn = void (*)(const AffineRows&, const AffineSource&, AffineOutputs, int64_t, int64_t, int64_t, void* const*);
  friend struct AffineAccess;
  const Conversions& convert_;
  const AffineMap& map_;
  std::span<const float> fill_;
  Lane lane_;
  bool in_integers_;
  bool covers_;  // the fill is infinite or NaN, and outputs are blends
  Fn fn_;
  Target target_;
};

}  // namespace penstock
