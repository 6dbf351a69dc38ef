// SPDX-License-Identifier: Apache-2.0
// The sample processing of a baseline JPEG decoder: inverse transforms, chroma upsampling and color, per instruction
// set. Every target gives the same bytes. They are those of libjpeg-turbo 2.1 with its SIMD (JDCT_ISLOW), even if
// damaged or forged coefficients overflow.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/target.h"

namespace penstock::jpeg {

// Two blocks at a time: dequantizes, transforms, writes S rows of S samples for each, `stride` bytes apart, and clears
// both blocks. Coefficients in natural (row) order, 64 per block, aligned to 32 bytes. `quant`: 8 rows of 16 values, 8
// of block a and 8 of block b, aligned to 32 bytes; values of 16-bit tables as their low 16 bits. Writes only the
// samples. `b` may not be `a`; for a single block pass a block of zeros and its own target.
using InverseDctPair = void (*)(int16_t* a, int16_t* b, const int16_t* quant, uint8_t* to_a, ptrdiff_t stride_a,
                                uint8_t* to_b, ptrdiff_t stride_b);

// How the chroma samples of one row of pixels are found. With vertical interpolation (h1v2, h2v2) the caller chooses
// two chroma rows: for pixel row y the near one is y / 2, the far one is near - 1 (y even) or near + 1 (y odd), clamped
// to the rows of the picture's chroma (ceil(height / 2)). Without (box): row y / 2 and no far one.
// As in libjpeg-turbo: with do_fancy_upsampling, chroma of at most two columns under h2v1 and h2v2 is not interpolated
// (box_h2); 4:4:0 is always interpolated (fancy_h1v2); a decode at 1/8 never.
enum class Upsampling : uint8_t {
  none,        // one chroma sample per pixel: 4:4:4, and 4:4:0 without interpolation
  box_h2,      // each chroma sample twice: 4:2:2 and 4:2:0 without interpolation
  fancy_h2v1,  // 3/4, 1/4 of the two nearest columns
  fancy_h1v2,  // the same with rows
  fancy_h2v2,  // both
};
constexpr int kUpsamplings = 5;

// The method for chroma whose samples each cover h x v luma samples (1 or 2 each), after any scaling.
constexpr Upsampling upsampling_of(int h, int v, int32_t chroma_columns, bool fancy) {
  if (h == 1) return v == 2 && fancy ? Upsampling::fancy_h1v2 : Upsampling::none;
  if (!fancy || chroma_columns <= 2) return Upsampling::box_h2;
  return v == 2 ? Upsampling::fancy_h2v2 : Upsampling::fancy_h2v1;
}

// For a decode at 2^scale / 8 (scale 0 to 3): luma is transformed at `scale`, chroma at the result, which is twice the
// size where that makes upsampling unnecessary (4:2:0, which then is 4:4:4). A plane of one component has ceil(width *
// factor * 2^its scale / (largest factor * 8)) columns, and rows accordingly. `fancy` is false at scale 0.
constexpr int chroma_scale(int h, int v, int scale) { return h == 2 && v == 2 && scale < 3 ? scale + 1 : scale; }

enum class RowOutput : uint8_t {
  rgb,  // out[0]: 3 bytes per pixel
  bgr,
  rgb_planar,  // out[0], out[1], out[2]: one byte per pixel each
  ycc_planar,  // the same without conversion
};
constexpr int kRowOutputs = 4;

// A row function may read (and ignore) this many samples after the last needed one: they must be in our memory.
constexpr int kRowSlack = 64;

// One row of `width` >= 1 pixels. Reads luma[0 .. width), the chroma columns of these pixels and, for fancy_h2v1 and
// fancy_h2v2, one more column on either side if `left` says so and `chroma_columns` includes it; plus kRowSlack samples
// after each. Reads nothing before luma[0], nor before cb[0] (with `left`: cb[-1]).
struct ColorRow {
  const uint8_t* luma = nullptr;
  const uint8_t *cb = nullptr, *cr = nullptr;          // nearer row, at the chroma column of the first pixel
  const uint8_t *cb_far = nullptr, *cr_far = nullptr;  // the other row; fancy_h1v2 and fancy_h2v2 only
  int32_t width = 0;
  int32_t chroma_columns = 0;  // of the picture, from cb[0] on; the last one repeats
  bool odd = false;            // the first pixel is the right half of its chroma column (horizontal upsampling)
  bool left = false;           // cb[-1] is a column of the picture; if not, the first one repeats
  bool far_below = false;      // fancy_h1v2: the far row is below the near one (pixel row y is odd)
};
// Writes exactly `width` pixels. `out` may not overlap the inputs.
using ColorRowFn = void (*)(const ColorRow& row, uint8_t* const* out);

// Gray samples as three equal channels, interleaved. Reads up to kRowSlack after `luma`'s end.
using GrayRowFn = void (*)(const uint8_t* luma, int32_t width, uint8_t* out);

// Copies the entropy-coded bytes [from, end) without the zero after each FF. Stops before a marker (an FF with anything
// else after it, or at the end). Returns the end of the output, which needs end - from + 64 bytes. `*stopped_at`: the
// first byte not taken. `removed`, if not null, gets the output position of the FF of each dropped zero ((end - from) /
// 2 elements) and `*removed_count` their number.
using DestuffFn = uint8_t* (*)(const uint8_t* from, const uint8_t* end, uint8_t* to, const uint8_t** stopped_at,
                               uint32_t* removed, uint32_t* removed_count);

struct Kernels {
  InverseDctPair inverse_dct[4];  // by the logarithm of S: 1x1, 2x2, 4x4, 8x8
  ColorRowFn color_row[kUpsamplings][kRowOutputs];
  GrayRowFn gray_row;
  DestuffFn destuff;
};
const Kernels& kernels(Target target);

}  // namespace penstock::jpeg
