// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/kernels.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns of its own AVX-512 header
#include <immintrin.h>
#endif

#include "codecs/jpeg/transform.h"

namespace penstock::jpeg {

namespace kernels_scalar {
#include "codecs/jpeg/transform_scalar.inc.h"
#include "codecs/jpeg/color_scalar.inc.h"

static uint8_t* destuff(const uint8_t* from, const uint8_t* end, uint8_t* to, const uint8_t** stopped_at,
                        uint32_t* removed, uint32_t* removed_count) {
  uint8_t* const start = to;
  uint32_t count = 0;
  // One byte in about 250 is an FF: the library's search and copy are as fast as vectors of our own here.
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

#define PENSTOCK_COLOR_ROWS(up, function) \
  {function<up, RowOutput::rgb>, function<up, RowOutput::bgr>, function<up, RowOutput::rgb_planar>, \
   function<up, RowOutput::ycc_planar>}
#define PENSTOCK_ALL_COLOR_ROWS(function) \
  {PENSTOCK_COLOR_ROWS(Upsampling::none, function), PENSTOCK_COLOR_ROWS(Upsampling::box_h2, function), \
   PENSTOCK_COLOR_ROWS(Upsampling::fancy_h2v1, function), PENSTOCK_COLOR_ROWS(Upsampling::fancy_h1v2, function), \
   PENSTOCK_COLOR_ROWS(Upsampling::fancy_h2v2, function)}

constexpr Kernels kKernels = {
    {pair_of<inverse_dct_1x1>, pair_of<inverse_dct_2x2>, pair_of<inverse_dct_4x4>, pair_of<inverse_dct_8x8>},
    PENSTOCK_ALL_COLOR_ROWS(color_row),
    gray_row,
    destuff,
};
}  // namespace kernels_scalar

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2,bmi2")
namespace kernels_avx2 {
#include "codecs/jpeg/lanes.inc.h"
#include "codecs/jpeg/vectors_256.inc.h"
#include "codecs/jpeg/transform_vector.inc.h"
#include "codecs/jpeg/color_vector.inc.h"
template <Upsampling kUp, RowOutput kOut>
static void color_row(const ColorRow& row, uint8_t* const* out) {
  color_row_vector<V256, kUp, kOut>(row, out);
}
constexpr Kernels kKernels = {
    {inverse_dct_pair_1x1, inverse_dct_pair_2x2, inverse_dct_pair_4x4, inverse_dct_pair_8x8},
    PENSTOCK_ALL_COLOR_ROWS(color_row),
    gray_row_vector<V256>,
    kernels_scalar::destuff,
};
}  // namespace kernels_avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,prefer-vector-width=512")
namespace kernels_avx512 {
#include "codecs/jpeg/lanes.inc.h"
#include "codecs/jpeg/vectors_256.inc.h"
#include "codecs/jpeg/vectors_512.inc.h"
#include "codecs/jpeg/transform_vector.inc.h"
#include "codecs/jpeg/color_vector.inc.h"
template <Upsampling kUp, RowOutput kOut>
static void color_row(const ColorRow& row, uint8_t* const* out) {
  color_row_vector<V512, kUp, kOut>(row, out);
}
constexpr Kernels kKernels = {
    {inverse_dct_pair_1x1, inverse_dct_pair_2x2, inverse_dct_pair_4x4, inverse_dct_pair_8x8},
    PENSTOCK_ALL_COLOR_ROWS(color_row),
    gray_row_vector<V512>,
    kernels_scalar::destuff,
};
}  // namespace kernels_avx512
#pragma GCC pop_options
#else
namespace kernels_avx2 = kernels_scalar;
namespace kernels_avx512 = kernels_scalar;
#endif

const Kernels& kernels(Target t) {
  return t == Target::avx512 ? kernels_avx512::kKernels
         : t == Target::avx2 ? kernels_avx2::kKernels
                             : kernels_scalar::kKernels;
}

}  // namespace penstock::jpeg
