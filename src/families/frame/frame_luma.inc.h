// SPDX-License-Identifier: Apache-2.0
// Planes of luma and of the chromas of red and blue to colors; a part of frame_rows.inc.h.
#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 16
#define PENSTOCK_VECTORS(operation) _mm512_##operation
#else
#define PENSTOCK_VECTORS(operation) _mm256_##operation
#endif
// A number times a factor in parts of 16384, plus a half, rounded down: mulhrs does it for parts of 32768 and twice the
// number. A factor that no word holds is halved.
struct RoundedPart {
  int shift;
  Reg factor;
  explicit RoundedPart(int32_t f)
      : shift(f > 32767 ? 2 : 1), factor(PENSTOCK_VECTORS(set1_epi16)(static_cast<int16_t>(f > 32767 ? f / 2 : f))) {}
  Reg of(Reg words) const { return PENSTOCK_VECTORS(mulhrs_epi16)(PENSTOCK_VECTORS(slli_epi16)(words, shift), factor); }
};

// Planes 0, 1, 2 in place. n pixels, rounded up to whole registers.
inline void of_luma(const LumaNumbers& m, Planes& p, int64_t n) {
  constexpr int64_t kEach = PENSTOCK_TARGET_FLOATS * 2;
  const Reg zero = PENSTOCK_VECTORS(set1_epi16)(0), full = PENSTOCK_VECTORS(set1_epi16)(255);
  const Reg half = PENSTOCK_VECTORS(set1_epi32)(8192);
  const Reg of_green = PENSTOCK_VECTORS(set1_epi32)((m.green_blue & 0xFFFF) | m.green_red * 65536);
  const RoundedPart of_red(m.red), of_blue(m.blue);
  uint8_t *const reds = p.at[m.blue_first ? 2 : 0], *const blues = p.at[m.blue_first ? 0 : 2];
  const auto green_part = [&](Reg pairs) {
    return PENSTOCK_VECTORS(srai_epi32)(
        PENSTOCK_VECTORS(add_epi32)(PENSTOCK_VECTORS(madd_epi16)(pairs, of_green), half), 14);
  };
  for (int64_t i = 0; i < n; i += kEach) {
    const Reg luma = PENSTOCK_VECTORS(cvtepu8_epi16)(load_half(p.at[0] + i));
    const Reg cr = PENSTOCK_VECTORS(cvtepi8_epi16)(turned_sign(load_half(p.at[m.red_first ? 1 : 2] + i)));
    const Reg cb = PENSTOCK_VECTORS(cvtepi8_epi16)(turned_sign(load_half(p.at[m.red_first ? 2 : 1] + i)));
    const Reg green = PENSTOCK_VECTORS(packs_epi32)(green_part(PENSTOCK_VECTORS(unpacklo_epi16)(cb, cr)),
                                                    green_part(PENSTOCK_VECTORS(unpackhi_epi16)(cb, cr)));
    const auto store = [&](uint8_t* to, Reg part) {
      const Reg sum = PENSTOCK_VECTORS(add_epi16)(luma, part);
      store_bytes(to + i, PENSTOCK_VECTORS(min_epi16)(PENSTOCK_VECTORS(max_epi16)(sum, zero), full));
    };
    store(p.at[1], green), store(reds, of_red.of(cr)), store(blues, of_blue.of(cb));
  }
}
#undef PENSTOCK_VECTORS

inline bool luma_pixels(const LumaNumbers& m, const uint8_t* in, uint8_t* out, int64_t n) {
  Planes p;
  for (int64_t i = 0; i < n; i += kRun) {
    const int64_t run = std::min(kRun, n - i);
    split_three(in + 3 * i, p.at[0], p.at[1], p.at[2], run);
    of_luma(m, p, run);
    join_three(p.at[0], p.at[1], p.at[2], out + 3 * i, run);
  }
  return true;
}
#else
inline bool luma_pixels(const LumaNumbers&, const uint8_t*, uint8_t*, int64_t) { return false; }
#endif
