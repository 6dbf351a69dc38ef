// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/kernels.h"

#include <algorithm>
#include <cstring>

#include "codecs/jpeg/transform.h"

namespace penstock::jpeg {

namespace kernels_scalar {
#include "codecs/jpeg/transform_scalar.inc.h"
#include "codecs/jpeg/color_scalar.inc.h"

uint8_t* destuff(const uint8_t* from, const uint8_t* end, uint8_t* to, const uint8_t** stopped_at, uint32_t* removed,
                 uint32_t* removed_count) {
  uint8_t* const start = to;
  uint32_t count = 0;
  while (from < end) {
    if (*from == 0xFF) {
      if (end - from < 2 || from[1] != 0) break;
      if (removed) removed[count++] = static_cast<uint32_t>(to - start);
      *to++ = *from;
      from += 2;
    } else {
      *to++ = *from++;
    }
  }
  *stopped_at = from;
  if (removed_count) *removed_count = count;
  return to;
}

template <Upsampling kUp>
void set_rows(ColorRowFn* rows) {
  rows[0] = color_row<kUp, RowOutput::rgb>;
  rows[1] = color_row<kUp, RowOutput::bgr>;
  rows[2] = color_row<kUp, RowOutput::rgb_planar>;
  rows[3] = color_row<kUp, RowOutput::ycc_planar>;
}

Kernels make() {
  Kernels k = {};
  k.inverse_dct[0] = pair_of<inverse_dct_1x1>;
  k.inverse_dct[1] = pair_of<inverse_dct_2x2>;
  k.inverse_dct[2] = pair_of<inverse_dct_4x4>;
  k.inverse_dct[3] = pair_of<inverse_dct_8x8>;
  set_rows<Upsampling::none>(k.color_row[0]);
  set_rows<Upsampling::box_h2>(k.color_row[1]);
  set_rows<Upsampling::fancy_h2v1>(k.color_row[2]);
  set_rows<Upsampling::fancy_h1v2>(k.color_row[3]);
  set_rows<Upsampling::fancy_h2v2>(k.color_row[4]);
  k.gray_row = gray_row;
  k.destuff = destuff;
  return k;
}
}  // namespace kernels_scalar

const Kernels& kernels(Target) {
  static const Kernels scalar = kernels_scalar::make();
  return scalar;
}

}  // namespace penstock::jpeg
