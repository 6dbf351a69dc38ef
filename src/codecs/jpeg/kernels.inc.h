// SPDX-License-Identifier: Apache-2.0
// The table of kernels, included once per target by kernels.cpp.

#if PENSTOCK_TARGET_FLOATS == 0
#include "codecs/jpeg/transform_scalar.inc.h"
#include "codecs/jpeg/color_scalar.inc.h"

static uint8_t* destuff(const uint8_t* from, const uint8_t* end, uint8_t* to, const uint8_t** stopped_at,
                        uint32_t* removed, uint32_t* removed_count) {
  uint8_t* const start = to;
  uint32_t count = 0;
  // About one byte in 250 is an FF: the library's search and copy are as fast here as our own vector code.
  while (from < end) {
    const void* const found = std::memchr(from, 0xFF, end - from);
    const size_t plain = (found ? static_cast<const uint8_t*>(found) : end) - from;
    std::memcpy(to, from, plain);
    from += plain, to += plain;
    if (end - from < 2 || from[1] != 0) break;
    if (removed) removed[count] = static_cast<uint32_t>(to - start);
    ++count;
    *to++ = 0xFF;
    from += 2;
  }
  *stopped_at = from;
  if (removed_count) *removed_count = count;
  return to;
}

#define PENSTOCK_COLOR_ROWS(up, function)                                                           \
  {function<up, RowOutput::rgb>, function<up, RowOutput::bgr>, function<up, RowOutput::rgb_planar>, \
   function<up, RowOutput::ycc_planar>}
#define PENSTOCK_ALL_COLOR_ROWS(function)                                                                        \
  {PENSTOCK_COLOR_ROWS(Upsampling::none, function), PENSTOCK_COLOR_ROWS(Upsampling::box_h2, function),           \
   PENSTOCK_COLOR_ROWS(Upsampling::fancy_h2v1, function), PENSTOCK_COLOR_ROWS(Upsampling::fancy_h1v2, function), \
   PENSTOCK_COLOR_ROWS(Upsampling::fancy_h2v2, function)}

constexpr Kernels kKernels = {
    {pair_of<inverse_dct_1x1>, pair_of<inverse_dct_2x2>, pair_of<inverse_dct_4x4>, pair_of<inverse_dct_8x8>},
    PENSTOCK_ALL_COLOR_ROWS(color_row),
    gray_row,
    destuff,
};
#else
#include "codecs/jpeg/lanes.inc.h"
#include "codecs/jpeg/vectors_256.inc.h"
#if PENSTOCK_TARGET_FLOATS == 16
#include "codecs/jpeg/vectors_512.inc.h"
using RowVector = V512;
#else
using RowVector = V256;
#endif
#include "codecs/jpeg/transform_vector.inc.h"
#include "codecs/jpeg/color_vector.inc.h"

template <Upsampling kUp, RowOutput kOut>
static void color_row(const ColorRow& row, uint8_t* const* out) {
  color_row_vector<RowVector, kUp, kOut>(row, out);
}
constexpr Kernels kKernels = {
    {inverse_dct_pair_1x1, inverse_dct_pair_2x2, inverse_dct_pair_4x4, inverse_dct_pair_8x8},
    PENSTOCK_ALL_COLOR_ROWS(color_row),
    gray_row_vector<RowVector>,
    kernels_scalar::destuff,
};
#endif
