// SPDX-License-Identifier: Apache-2.0
#include "families/table/lookup.h"

#include "base/intrinsics.h"

namespace penstock::table {
namespace {

#if PENSTOCK_HAS_TARGETS
// One instruction takes bytes from 128 of them; the highest bit of a place says which half it means. Not a target of
// base/foreach_target.h: no other loop gains from these instructions.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi"))) void look_up_64(const uint8_t* in, uint8_t* out,
                                                                                int64_t n, const uint8_t* table) {
  __m512i part[4];
  for (int k = 0; k < 4; ++k) part[k] = _mm512_loadu_si512(table + 64 * k);
  for (int64_t i = 0; i < n; i += 64) {
    const __mmask64 lanes = n - i >= 64 ? ~__mmask64{0} : (__mmask64{1} << (n - i)) - 1;
    const __m512i places = _mm512_maskz_loadu_epi8(lanes, in + i);
    const __m512i low = _mm512_permutex2var_epi8(part[0], places, part[1]);
    const __m512i high = _mm512_permutex2var_epi8(part[2], places, part[3]);
    _mm512_mask_storeu_epi8(out + i, lanes, _mm512_mask_blend_epi8(_mm512_movepi8_mask(places), low, high));
  }
}
#endif

}  // namespace

void look_up_bytes([[maybe_unused]] Target target, const uint8_t* in, uint8_t* out, int64_t n, const uint8_t* table) {
#if PENSTOCK_HAS_TARGETS
  static const bool has = __builtin_cpu_supports("avx512vbmi");
  if (has && target == Target::avx512) return look_up_64(in, out, n, table);
#endif
  look_up_words(in, out, n, table);
}

}  // namespace penstock::table
