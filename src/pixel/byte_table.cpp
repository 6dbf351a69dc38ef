// SPDX-License-Identifier: Apache-2.0
#include "pixel/byte_table.h"

#include <optional>

#include "base/intrinsics.h"

namespace penstock {
namespace {

// A table whose bytes before `second`, and those from it on, are each ((place & keep) ^ flip) + add: all the same, or
// by one more or less from place to place. Thresholds, inversions and clipped sums are such tables.
struct TwoPieces {
  struct Piece {
    uint8_t keep, flip, add;
  };
  Piece piece[2];
  int second;
};
std::optional<TwoPieces> two_pieces(const uint8_t* table) {
  const auto step = [&](int k) { return static_cast<uint8_t>(table[k + 1] - table[k]); };
  const auto simple = [](uint8_t by) { return by == 0 || by == 1 || by == 255; };
  const auto piece = [&](int first, int end) {
    const uint8_t by = end - first > 1 ? step(first) : 0;
    const uint8_t keep = by == 0 ? 0 : 255, flip = by == 255 ? 255 : 0;
    return TwoPieces::Piece{keep, flip, static_cast<uint8_t>(table[first] - ((first & keep) ^ flip))};
  };
  int second = 1;
  if (simple(step(0)))
    while (second < 256 && step(second - 1) == step(0)) ++second;
  if (second == 256) return TwoPieces{{piece(0, 256), piece(0, 256)}, 255};
  if (second < 255 && !simple(step(second))) return {};
  for (int k = second; k < 255; ++k)
    if (step(k) != step(second)) return {};
  return TwoPieces{{piece(0, second), piece(second, 256)}, second};
}

#define PENSTOCK_LOOPS_UP_TO_AVX2
#define PENSTOCK_LOOPS byte_tables
#define PENSTOCK_LOOPS_TEXT "pixel/byte_table.inc.h"
#include "base/foreach_target.h"

#if PENSTOCK_HAS_TARGETS
// One instruction takes bytes from 128 of them; the highest bit of a place says which half it means. Not a target of
// base/foreach_target.h: no other loop gains from these instructions.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi"))) int64_t by_permutations(const uint8_t* in, uint8_t* out,
                                                                                        int64_t n,
                                                                                        const uint8_t* table) {
  __m512i part[4];
  for (int k = 0; k < 4; ++k) part[k] = _mm512_loadu_si512(table + 64 * k);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i places = _mm512_loadu_si512(in + i);
    const __m512i low = _mm512_permutex2var_epi8(part[0], places, part[1]);
    const __m512i high = _mm512_permutex2var_epi8(part[2], places, part[3]);
    _mm512_storeu_si512(out + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(places), low, high));
  }
  return i;
}
#endif

}  // namespace

void look_up_bytes(Target target, const uint8_t* in, uint8_t* out, int64_t n, const uint8_t* table) {
  const auto whole_vectors = [&]() -> int64_t {
    constexpr int64_t kMany = 2048;  // fewer bytes are not worth the look at the table
    if (n >= kMany)
      if (const std::optional<TwoPieces> pieces = two_pieces(table))
        return PENSTOCK_FOR_TARGET(target, byte_tables, by_pieces(in, out, n, *pieces));
#if PENSTOCK_HAS_TARGETS
    static const bool permutes = __builtin_cpu_supports("avx512vbmi");
    if (permutes && target == Target::avx512) return by_permutations(in, out, n, table);
#endif
    return PENSTOCK_FOR_TARGET(target, byte_tables, by_shuffles(in, out, n, table));
  };
  for (int64_t i = whole_vectors(); i < n; ++i) out[i] = table[in[i]];
}

}  // namespace penstock
