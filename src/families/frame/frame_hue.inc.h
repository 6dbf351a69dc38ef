// SPDX-License-Identifier: Apache-2.0
// Planes of red, green and blue to hue, saturation and value, and back; a part of frame_rows.inc.h. To hue, which
// channel is the largest, and differences, are bytes and words; only quotients are float32.
#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 16
#define PENSTOCK_VECTORS(operation) _mm512_##operation
#define PENSTOCK_HALVES(operation) _mm256_##operation
using Floats = __m512;
inline Floats reciprocal(Floats x) { return _mm512_rcp14_ps(x); }
inline Floats rounded_even(Floats x) { return _mm512_roundscale_ps(x, 8); }
inline Floats rounded_down(Floats x) { return _mm512_roundscale_ps(x, 9); }
inline HalfReg chosen(HalfReg no, HalfReg yes, HalfReg mask) { return _mm256_blendv_epi8(no, yes, mask); }
inline HalfReg without(HalfReg mask, HalfReg v) { return _mm256_andnot_si256(mask, v); }
inline Reg both(Reg a, Reg b) { return _mm512_and_si512(a, b); }
#else
#define PENSTOCK_VECTORS(operation) _mm256_##operation
#define PENSTOCK_HALVES(operation) _mm_##operation
using Floats = __m256;
inline Floats reciprocal(Floats x) { return _mm256_rcp_ps(x); }
inline Floats rounded_even(Floats x) { return _mm256_round_ps(x, 8); }
inline Floats rounded_down(Floats x) { return _mm256_round_ps(x, 9); }
inline HalfReg chosen(HalfReg no, HalfReg yes, HalfReg mask) { return _mm_blendv_epi8(no, yes, mask); }
inline HalfReg without(HalfReg mask, HalfReg v) { return _mm_andnot_si128(mask, v); }
inline Reg both(Reg a, Reg b) { return _mm256_and_si256(a, b); }
#endif
// factor / x, rounded: x is a whole number from 1 to 255, and no quotient is so near a half that 2e-7 of it decides.
inline Floats quotient(Floats factor, Floats x) {
  const Floats one = PENSTOCK_VECTORS(set1_ps)(1.0f), first = reciprocal(x);
  const Floats far = PENSTOCK_VECTORS(fnmadd_ps)(x, first, one);
  const Floats near = PENSTOCK_VECTORS(fmadd_ps)(first, PENSTOCK_VECTORS(fmadd_ps)(far, far, far), first);
  return rounded_even(PENSTOCK_VECTORS(mul_ps)(factor, near));
}
inline Floats floats_of(Reg v) { return PENSTOCK_VECTORS(cvtepi32_ps)(v); }
// (number * factor / x in parts of 4096 + a half) as a whole number. Numbers and x are the low or the high words.
template <bool low> inline Reg part_of(Reg numbers, Reg x, Floats factor) {
  const auto spread = [](Reg v) {  // with their signs
    const Reg twice = low ? PENSTOCK_VECTORS(unpacklo_epi16)(v, v) : PENSTOCK_VECTORS(unpackhi_epi16)(v, v);
    return floats_of(PENSTOCK_VECTORS(srai_epi32)(twice, 16));
  };
  const Floats half = PENSTOCK_VECTORS(set1_ps)(2048.0f);
  const Floats parts = PENSTOCK_VECTORS(fmadd_ps)(spread(numbers), quotient(factor, spread(x)), half);
  return PENSTOCK_VECTORS(srai_epi32)(PENSTOCK_VECTORS(cvtps_epi32)(parts), 12);
}
inline Reg part_of(Reg numbers, Reg x, Floats factor) {
  const Reg whole = PENSTOCK_VECTORS(set1_epi16)(1), above = PENSTOCK_VECTORS(max_epi16)(x, whole);
  return PENSTOCK_VECTORS(packs_epi32)(part_of<true>(numbers, above, factor), part_of<false>(numbers, above, factor));
}

// Planes 0, 1, 2 in place. n pixels, rounded up to whole registers.
inline void to_hue(const HueNumbers& m, Planes& p, int64_t n) {
  constexpr int64_t kEach = PENSTOCK_TARGET_FLOATS * 2;
  const Floats hue = PENSTOCK_VECTORS(set1_ps)(m.hue), saturation = PENSTOCK_VECTORS(set1_ps)(m.saturation);
  const Reg turn = PENSTOCK_VECTORS(set1_epi16)(static_cast<int16_t>(m.turn)), full = PENSTOCK_VECTORS(set1_epi16)(255);
  const auto words = [](HalfReg v) { return PENSTOCK_VECTORS(cvtepu8_epi16)(v); };
  uint8_t *const reds = p.at[m.blue_first > 0 ? 2 : 0], *const blues = p.at[m.blue_first > 0 ? 0 : 2];
  for (int64_t i = 0; i < n; i += kEach) {
    const HalfReg red = load_half(reds + i), green = load_half(p.at[1] + i), blue = load_half(blues + i);
    const HalfReg most = PENSTOCK_HALVES(max_epu8)(red, PENSTOCK_HALVES(max_epu8)(green, blue));
    const HalfReg least = PENSTOCK_HALVES(min_epu8)(red, PENSTOCK_HALVES(min_epu8)(green, blue));
    const HalfReg of_red = PENSTOCK_HALVES(cmpeq_epi8)(most, red), of_green = PENSTOCK_HALVES(cmpeq_epi8)(most, green);
    const HalfReg plus = chosen(chosen(red, blue, of_green), green, of_red);
    const HalfReg minus = chosen(chosen(green, red, of_green), blue, of_red);
    const HalfReg sixths = without(of_red, chosen(all_bytes(4), all_bytes(2), of_green));
    const Reg range = words(PENSTOCK_HALVES(subs_epu8)(most, least));
    const Reg number = PENSTOCK_VECTORS(add_epi16)(PENSTOCK_VECTORS(sub_epi16)(words(plus), words(minus)),
                                                   PENSTOCK_VECTORS(mullo_epi16)(words(sixths), range));
    const Reg turned = part_of(number, range, hue);
    const Reg whole = PENSTOCK_VECTORS(add_epi16)(turned, both(turn, PENSTOCK_VECTORS(srai_epi16)(turned, 15)));
    const Reg second = part_of(range, words(most), saturation);
    store_bytes(p.at[0] + i, PENSTOCK_VECTORS(min_epi16)(whole, full));
    store_bytes(p.at[1] + i, PENSTOCK_VECTORS(min_epi16)(second, full));
    store_bytes(p.at[2] + i, words(most));
  }
}

// The pixel function of HSV to RGB, operation by operation. Its results are from 0 to 255.
template <bool cuts, bool low> inline void colors_of(const TurnNumbers& m, Reg hues, Reg second, Reg third, Reg* to) {
  const auto spread = [](Reg v) {
    const Reg zero = both(v, PENSTOCK_VECTORS(set1_epi16)(0));
    return floats_of(low ? PENSTOCK_VECTORS(unpacklo_epi16)(v, zero) : PENSTOCK_VECTORS(unpackhi_epi16)(v, zero));
  };
  const auto all = [](float v) { return PENSTOCK_VECTORS(set1_ps)(v); };
  const auto minus = [](Floats a, Floats b) { return PENSTOCK_VECTORS(sub_ps)(a, b); };
  const auto times = [](Floats a, Floats b) { return PENSTOCK_VECTORS(mul_ps)(a, b); };
  const auto least = [](Floats a, Floats b) { return PENSTOCK_VECTORS(min_ps)(a, b); };
  const auto most = [](Floats a, Floats b) { return PENSTOCK_VECTORS(max_ps)(a, b); };
  const Floats one = all(1.0f), two = all(2.0f), four = all(4.0f), six = all(6.0f);
  const Floats turned = times(spread(hues), all(m.sixths));
  const Floats hue = minus(turned, times(rounded_down(times(turned, all(1.0f / 6))), six));
  const Floats saturation = times(spread(second), all(m.unit)), value = times(spread(third), all(m.unit));
  const auto channel = [&](Floats part) {
    const Floats cut = least(most(part, all(0.0f)), one);
    const Floats of_value = PENSTOCK_VECTORS(fnmadd_ps)(saturation, minus(one, cut), one);
    const Floats made = times(times(value, of_value), all(m.full));
    return cuts ? PENSTOCK_VECTORS(cvttps_epi32)(made) : PENSTOCK_VECTORS(cvtps_epi32)(made);
  };
  to[0] = channel(most(minus(two, hue), minus(hue, four)));
  to[1] = channel(least(hue, minus(four, hue)));
  to[2] = channel(least(minus(hue, two), minus(six, hue)));
}
template <bool cuts> inline void of_hue(const TurnNumbers& m, Planes& p, int64_t n) {
  constexpr int64_t kEach = PENSTOCK_TARGET_FLOATS * 2;
  const auto words = [](const uint8_t* at) { return PENSTOCK_VECTORS(cvtepu8_epi16)(load_half(at)); };
  const bool blue_first = m.blue_first > 0;
  for (int64_t i = 0; i < n; i += kEach) {
    const Reg hues = words(p.at[0] + i), second = words(p.at[1] + i), third = words(p.at[2] + i);
    Reg low[3], high[3];
    colors_of<cuts, true>(m, hues, second, third, low), colors_of<cuts, false>(m, hues, second, third, high);
    for (int k = 0; k < 3; ++k)
      store_bytes(p.at[blue_first ? 2 - k : k] + i, PENSTOCK_VECTORS(packs_epi32)(low[k], high[k]));
  }
}
#undef PENSTOCK_VECTORS
#undef PENSTOCK_HALVES

inline bool turn_pixels(const TurnNumbers& m, const uint8_t* in, uint8_t* out, int64_t n) {
  Planes p;
  for (int64_t i = 0; i < n; i += kRun) {
    const int64_t run = std::min(kRun, n - i);
    split_three(in + 3 * i, p.at[0], p.at[1], p.at[2], run);
    if (m.cuts > 0) of_hue<true>(m, p, run);
    else of_hue<false>(m, p, run);
    join_three(p.at[0], p.at[1], p.at[2], out + 3 * i, run);
  }
  return true;
}
inline bool hue_pixels(const HueNumbers& m, const uint8_t* in, uint8_t* out, int64_t n) {
  Planes p;
  for (int64_t i = 0; i < n; i += kRun) {
    const int64_t run = std::min(kRun, n - i);
    split_three(in + 3 * i, p.at[0], p.at[1], p.at[2], run);
    to_hue(m, p, run);
    join_three(p.at[0], p.at[1], p.at[2], out + 3 * i, run);
  }
  return true;
}
#else
inline bool turn_pixels(const TurnNumbers&, const uint8_t*, uint8_t*, int64_t) { return false; }
inline bool hue_pixels(const HueNumbers&, const uint8_t*, uint8_t*, int64_t) { return false; }
#endif
