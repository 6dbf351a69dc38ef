// SPDX-License-Identifier: Apache-2.0
// Luma and chroma of a run to planes of colors, and these to gray; a part of frame_rows.inc.h.

// A run of luma, and its chroma: for each pixel or for two; in planes, or as pairs.
struct Run {
  const uint8_t *y, *u, *v, *pairs;
  bool half, u_first;
  int32_t u_at(int64_t i) const { return pairs ? pairs[2 * (i / 2) + !u_first] : u[half ? i / 2 : i]; }
  int32_t v_at(int64_t i) const { return pairs ? pairs[2 * (i / 2) + u_first] : v[half ? i / 2 : i]; }
};
inline Run load_chroma(const Side& s, int64_t y, int64_t x, int64_t n, Planes& p) {
  const int64_t cy = y >> s.half_y, cx = x >> s.half_x;
  const bool u_first = is_before(s, 1, 2);
  if (s.step[0] == 2) {
    const bool light_first = is_before(s, 0, 1) && is_before(s, 0, 2);
    split_two(first_of(s, y, x, 0, 1) - (light_first ? 0 : 1), p.at[light_first ? 0 : 5], p.at[light_first ? 5 : 0], n);
    return {p.at[0], nullptr, nullptr, p.at[5], true, u_first};
  }
  const uint8_t* const light = bytes_at(s, 0, y, x);
  if (s.step[1] == 1) return {light, bytes_at(s, 1, cy, cx), bytes_at(s, 2, cy, cx), nullptr, s.half_x == 1, u_first};
  const uint8_t* const pairs = first_of(s, cy, cx, 1, 3);
  if (s.half_x) return {light, nullptr, nullptr, pairs, true, u_first};
  split_two(pairs, p.at[u_first ? 1 : 2], p.at[u_first ? 2 : 1], n);
  return {light, p.at[1], p.at[2], nullptr, false, u_first};
}
inline void take_luma(const Side& s, int64_t y, int64_t x, int64_t n, uint8_t* to, Planes& p) {
  const uint8_t* const light = bytes_at(s, 0, y, x);
  if (s.step[0] == 1) {
    std::memcpy(to, light, static_cast<size_t>(n));
    return;
  }
  const bool first = is_before(s, 0, 1) && is_before(s, 0, 2);
  split_two(light - (first ? 0 : 1), first ? to : p.at[5], first ? p.at[5] : to, n);
}
inline uint8_t byte_of(int32_t v) { return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v); }
// One pixel at a time, from `i` on.
inline void rest_to_colors(const Matrix& m, const Run& run, Planes& p, int64_t i, int64_t n) {
  const int32_t half = 1 << (m.bits - 1);
  for (; i < n; ++i) {
    const int32_t above = std::max(run.y[i] - m.black, 0), cb = run.u_at(i) - 128, cr = run.v_at(i) - 128;
    const int32_t light = above * m.luma + half;
    p.at[0][i] = byte_of((light + cr * m.red_of_v) >> m.bits);
    p.at[1][i] = byte_of((light + cr * m.green_of_v + cb * m.green_of_u) >> m.bits);
    p.at[2][i] = byte_of((light + cb * m.blue_of_u) >> m.bits);
  }
}
#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 16
#define PENSTOCK_VECTORS(operation) _mm512_##operation
using Reg = __m512i;
using HalfReg = __m256i;
inline HalfReg load_half(const uint8_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }
inline Reg load_whole(const uint8_t* at) { return _mm512_loadu_si512(at); }
inline void store_whole(uint8_t* to, Reg v) { _mm512_storeu_si512(to, v); }
inline Reg in_range(Reg v, Reg less) { return _mm512_subs_epu8(v, less); }
inline Reg lower_bytes(Reg words) { return _mm512_and_si512(words, _mm512_set1_epi16(255)); }
// Words of 0 to 255 as the lower and the upper bytes of words; others saturate.
inline Reg bytes_of_two(Reg lower, Reg upper) {
  alignas(16) static constexpr int8_t kByTurns[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  const Reg by_turns = _mm512_broadcast_i64x4(ThreeBytes::twice(kByTurns));
  return _mm512_shuffle_epi8(_mm512_packus_epi16(lower, upper), by_turns);
}
inline HalfReg load_words(const uint8_t* at) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
// The lower or the upper byte of each word twice.
inline HalfReg low_twice(HalfReg v) {
  const HalfReg low = _mm256_and_si256(v, _mm256_set1_epi16(255));
  return _mm256_or_si256(low, _mm256_slli_epi16(low, 8));
}
inline HalfReg high_twice(HalfReg v) {
  return _mm256_or_si256(_mm256_andnot_si256(_mm256_set1_epi16(255), v), _mm256_srli_epi16(v, 8));
}
inline HalfReg in_range(HalfReg v, HalfReg less) { return _mm256_subs_epu8(v, less); }
inline HalfReg all_bytes(int v) { return _mm256_set1_epi8(static_cast<char>(v)); }
inline HalfReg turned_sign(HalfReg v) { return _mm256_xor_si256(v, _mm256_set1_epi8(-128)); }
inline void store_bytes(uint8_t* to, Reg v) {  // of words that are 0 to 255
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(v));
}
#else
#define PENSTOCK_VECTORS(operation) _mm256_##operation
using Reg = __m256i;
using HalfReg = __m128i;
inline HalfReg load_half(const uint8_t* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
inline Reg load_whole(const uint8_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }
inline void store_whole(uint8_t* to, Reg v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }
inline Reg in_range(Reg v, Reg less) { return _mm256_subs_epu8(v, less); }
inline Reg lower_bytes(Reg words) { return _mm256_and_si256(words, _mm256_set1_epi16(255)); }
// Words of 0 to 255 as the lower and the upper bytes of words; others saturate.
inline Reg bytes_of_two(Reg lower, Reg upper) {
  alignas(16) static constexpr int8_t kByTurns[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  return _mm256_shuffle_epi8(_mm256_packus_epi16(lower, upper), ThreeBytes::twice(kByTurns));
}
inline HalfReg load_words(const uint8_t* at) {
  return _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
}
inline HalfReg low_twice(HalfReg v) {
  const HalfReg low = _mm_and_si128(v, _mm_set1_epi16(255));
  return _mm_or_si128(low, _mm_slli_epi16(low, 8));
}
inline HalfReg high_twice(HalfReg v) {
  return _mm_or_si128(_mm_andnot_si128(_mm_set1_epi16(255), v), _mm_srli_epi16(v, 8));
}
inline HalfReg in_range(HalfReg v, HalfReg less) { return _mm_subs_epu8(v, less); }
inline HalfReg all_bytes(int v) { return _mm_set1_epi8(static_cast<char>(v)); }
inline HalfReg turned_sign(HalfReg v) { return _mm_xor_si128(v, _mm_set1_epi8(-128)); }
inline void store_bytes(uint8_t* to, Reg v) {
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(v, v), 0xD8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes));
}
#endif
// A product of nine bits and 22 is a sum of two products of 16 bits: of the number times 128 and the factor's
// upper bits, and of the number and its lower seven. Numbers are in 16 bits, as pairs with 128 times themselves.
struct Pairs {
  Reg low, high;
  explicit Pairs(Reg v) {
    const Reg more = PENSTOCK_VECTORS(slli_epi16)(v, 7);
    low = PENSTOCK_VECTORS(unpacklo_epi16)(more, v), high = PENSTOCK_VECTORS(unpackhi_epi16)(more, v);
  }
};
struct Factor {
  Reg pair;
  explicit Factor(int32_t f) : pair(PENSTOCK_VECTORS(set1_epi32)((f >> 7 & 0xFFFF) | (f & 127) << 16)) {}
  Reg of(Reg pairs) const { return PENSTOCK_VECTORS(madd_epi16)(pairs, pair); }
};
enum class Chroma : uint8_t { for_each, for_two, pairs };
template <Chroma chroma> inline HalfReg load_u(const Run& run, int64_t i) {
  if (chroma == Chroma::for_each) return load_half(run.u + i);
  if (chroma == Chroma::for_two) return low_twice(load_words(run.u + i / 2));
  return run.u_first ? low_twice(load_half(run.pairs + i)) : high_twice(load_half(run.pairs + i));
}
template <Chroma chroma> inline HalfReg load_v(const Run& run, int64_t i) {
  if (chroma == Chroma::for_each) return load_half(run.v + i);
  if (chroma == Chroma::for_two) return low_twice(load_words(run.v + i / 2));
  return run.u_first ? high_twice(load_half(run.pairs + i)) : low_twice(load_half(run.pairs + i));
}
struct ColorFactors {
  Factor luma, red_of_v, green_of_u, green_of_v, blue_of_u;
  Reg half;
  explicit ColorFactors(const Matrix& m)
      : luma(m.luma),
        red_of_v(m.red_of_v),
        green_of_u(m.green_of_u),
        green_of_v(m.green_of_v),
        blue_of_u(m.blue_of_u),
        half(PENSTOCK_VECTORS(set1_epi32)(1 << (m.bits - 1))) {}
};
inline Reg sum_of(Reg a, Reg b) { return PENSTOCK_VECTORS(add_epi32)(a, b); }
inline Reg words_of(Reg low, Reg high) {  // of sums of words in the order of Pairs
  return PENSTOCK_VECTORS(packs_epi32)(PENSTOCK_VECTORS(srai_epi32)(low, 20), PENSTOCK_VECTORS(srai_epi32)(high, 20));
}
// Where two pixels share chroma, its products are made once. The even pixels are the lower bytes of words, the odd ones
// the upper. Returns how many pixels are done.
template <Chroma chroma>
inline int64_t twos_to_colors(const Matrix& m, const ColorFactors& f, const Run& run, Planes& p, int64_t n) {
  constexpr int64_t kEach = PENSTOCK_TARGET_FLOATS * 4;
  const Reg black = PENSTOCK_VECTORS(set1_epi8)(static_cast<char>(m.black));
  const Reg middle = PENSTOCK_VECTORS(set1_epi16)(128);
  const auto words = [](const uint8_t* at) { return PENSTOCK_VECTORS(cvtepu8_epi16)(load_half(at)); };
  int64_t i = 0;
  for (; i + kEach <= n; i += kEach) {
    const Reg light = in_range(load_whole(run.y + i), black);
    Reg first, second;
    if constexpr (chroma == Chroma::pairs) {
      const Reg both = load_whole(run.pairs + i);
      first = lower_bytes(both), second = PENSTOCK_VECTORS(srli_epi16)(both, 8);
    } else {
      first = words(run.u + i / 2), second = words(run.v + i / 2);
    }
    const bool turned = chroma == Chroma::pairs && !run.u_first;
    const Pairs u(PENSTOCK_VECTORS(sub_epi16)(turned ? second : first, middle));
    const Pairs v(PENSTOCK_VECTORS(sub_epi16)(turned ? first : second, middle));
    const Pairs even(lower_bytes(light)), odd(PENSTOCK_VECTORS(srli_epi16)(light, 8));
    const Reg lights[4] = {sum_of(f.luma.of(even.low), f.half), sum_of(f.luma.of(even.high), f.half),
                           sum_of(f.luma.of(odd.low), f.half), sum_of(f.luma.of(odd.high), f.half)};
    const auto store = [&](uint8_t* to, Reg low, Reg high) {
      store_whole(to, bytes_of_two(words_of(sum_of(lights[0], low), sum_of(lights[1], high)),
                                   words_of(sum_of(lights[2], low), sum_of(lights[3], high))));
    };
    store(p.at[0] + i, f.red_of_v.of(v.low), f.red_of_v.of(v.high));
    store(p.at[1] + i, sum_of(f.green_of_u.of(u.low), f.green_of_v.of(v.low)),
          sum_of(f.green_of_u.of(u.high), f.green_of_v.of(v.high)));
    store(p.at[2] + i, f.blue_of_u.of(u.low), f.blue_of_u.of(u.high));
  }
  return i;
}
template <Chroma chroma> inline void vectors_to_colors(const Matrix& m, const Run& run, Planes& p, int64_t n) {
  constexpr int64_t kEach = PENSTOCK_TARGET_FLOATS * 2;
  const ColorFactors f(m);
  const HalfReg black = all_bytes(m.black);
  const Reg zero = PENSTOCK_VECTORS(set1_epi16)(0), full = PENSTOCK_VECTORS(set1_epi16)(255);
  const auto store = [&](uint8_t* to, Reg low, Reg high) {
    store_bytes(to, PENSTOCK_VECTORS(min_epi16)(PENSTOCK_VECTORS(max_epi16)(words_of(low, high), zero), full));
  };
  int64_t i = 0;
  if constexpr (chroma != Chroma::for_each) i = twos_to_colors<chroma>(m, f, run, p, n);
  for (; i + kEach <= n; i += kEach) {
    const Pairs y(PENSTOCK_VECTORS(cvtepu8_epi16)(in_range(load_half(run.y + i), black)));
    const Pairs u(PENSTOCK_VECTORS(cvtepi8_epi16)(turned_sign(load_u<chroma>(run, i))));
    const Pairs v(PENSTOCK_VECTORS(cvtepi8_epi16)(turned_sign(load_v<chroma>(run, i))));
    const Reg low = sum_of(f.luma.of(y.low), f.half), high = sum_of(f.luma.of(y.high), f.half);
    store(p.at[0] + i, sum_of(low, f.red_of_v.of(v.low)), sum_of(high, f.red_of_v.of(v.high)));
    store(p.at[1] + i, sum_of(low, sum_of(f.green_of_u.of(u.low), f.green_of_v.of(v.low))),
          sum_of(high, sum_of(f.green_of_u.of(u.high), f.green_of_v.of(v.high))));
    store(p.at[2] + i, sum_of(low, f.blue_of_u.of(u.low)), sum_of(high, f.blue_of_u.of(u.high)));
  }
  rest_to_colors(m, run, p, i, n);
}
inline void to_colors(const Matrix& m, const Run& run, Planes& p, int64_t n) {
  if (run.pairs) vectors_to_colors<Chroma::pairs>(m, run, p, n);
  else if (run.half) vectors_to_colors<Chroma::for_two>(m, run, p, n);
  else vectors_to_colors<Chroma::for_each>(m, run, p, n);
}
// Two products of 16 bits are one instruction: of red and green, and of blue with the half.
inline int64_t vectors_to_gray(const Planes& p, uint8_t* out, int64_t n) {
  constexpr int64_t kEach = PENSTOCK_TARGET_FLOATS * 2;
  const Reg red_green = PENSTOCK_VECTORS(set1_epi32)(9798 | 19235 << 16),
            blue_half = PENSTOCK_VECTORS(set1_epi32)(3735 | 16384 << 16);
  const Reg one = PENSTOCK_VECTORS(set1_epi16)(1);
  const auto sum = [&](Reg rg, Reg b) {
    return PENSTOCK_VECTORS(srli_epi32)(PENSTOCK_VECTORS(add_epi32)(PENSTOCK_VECTORS(madd_epi16)(rg, red_green),
                                                                    PENSTOCK_VECTORS(madd_epi16)(b, blue_half)),
                                        15);
  };
  int64_t i = 0;
  for (; i + kEach <= n; i += kEach) {
    const Reg red = PENSTOCK_VECTORS(cvtepu8_epi16)(load_half(p.at[0] + i));
    const Reg green = PENSTOCK_VECTORS(cvtepu8_epi16)(load_half(p.at[1] + i));
    const Reg blue = PENSTOCK_VECTORS(cvtepu8_epi16)(load_half(p.at[2] + i));
    const Reg low = sum(PENSTOCK_VECTORS(unpacklo_epi16)(red, green), PENSTOCK_VECTORS(unpacklo_epi16)(blue, one));
    const Reg high = sum(PENSTOCK_VECTORS(unpackhi_epi16)(red, green), PENSTOCK_VECTORS(unpackhi_epi16)(blue, one));
    store_bytes(out + i, PENSTOCK_VECTORS(packs_epi32)(low, high));
  }
  return i;
}
#undef PENSTOCK_VECTORS
#else
inline void to_colors(const Matrix& m, const Run& run, Planes& p, int64_t n) { rest_to_colors(m, run, p, 0, n); }
#endif

inline void to_gray(Planes& p, uint8_t* __restrict out, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  i = vectors_to_gray(p, out, n);
#endif
  const uint8_t* __restrict red = p.at[0], * __restrict green = p.at[1], * __restrict blue = p.at[2];
  for (; i < n; ++i) out[i] = static_cast<uint8_t>((red[i] * 9798 + green[i] * 19235 + blue[i] * 3735 + 16384) >> 15);
}
