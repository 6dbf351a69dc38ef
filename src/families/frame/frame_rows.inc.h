// SPDX-License-Identifier: Apache-2.0
// Included once per target by frame_rows.cpp: rows of bytes go through planes in the cache, in runs of kRun pixels. The
// compiler vectorizes the arithmetic; shuffles take pixels of three bytes apart and join them.
struct Planes {
  alignas(64) uint8_t at[6][kRun + 64];  // colors, or luma and chroma
  alignas(64) uint8_t more[2 * kRun + 64];
};

#if PENSTOCK_TARGET_FLOATS
// Byte i of channel c is byte (3 i + c) % 16 of a register whose bytes are those of that channel alone: the place in
// part (3 i + c) / 16 of three of 16 bytes.
struct ThreeBytes {
  __m256i gather[3], scatter[3], of[3][2];  // of[k][j]: the bytes of part k that are channel j's
  ThreeBytes() {
    for (int c = 0; c < 3; ++c) {
      alignas(16) int8_t from[16], to[16], own[2][16];
      for (int i = 0; i < 16; ++i) {
        from[i] = static_cast<int8_t>((3 * i + c) % 16), to[(3 * i + c) % 16] = static_cast<int8_t>(i);
        for (int j = 0; j < 2; ++j) own[j][i] = static_cast<int8_t>((16 * c + i) % 3 == j ? -1 : 0);
      }
      gather[c] = twice(from), scatter[c] = twice(to), of[c][0] = twice(own[0]), of[c][1] = twice(own[1]);
    }
  }
  static __m256i twice(const int8_t* at) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(at)));
  }
};
inline const ThreeBytes& three_bytes() {
  static const ThreeBytes bytes;
  return bytes;
}
#endif

inline void split_three(const uint8_t* pixels, uint8_t* a, uint8_t* b, uint8_t* c, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  const ThreeBytes t = three_bytes();
  uint8_t* const to[3] = {a, b, c};
  for (; i + 32 <= n; i += 32) {
    __m256i part[3];
    const auto* const from = reinterpret_cast<const __m128i*>(pixels + 3 * i);
    for (int k = 0; k < 3; ++k)
      part[k] =
          _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(from + k)), _mm_loadu_si128(from + 3 + k), 1);
    // Of channel j in part k is what is channel j's there: parts differ in where a channel begins.
    const __m256i first = _mm256_blendv_epi8(_mm256_blendv_epi8(part[2], part[1], t.of[1][0]), part[0], t.of[0][0]);
    const __m256i second = _mm256_blendv_epi8(_mm256_blendv_epi8(part[2], part[1], t.of[1][1]), part[0], t.of[0][1]);
    const __m256i in_first = _mm256_or_si256(t.of[0][0], t.of[0][1]),
                  in_second = _mm256_or_si256(t.of[1][0], t.of[1][1]);
    const __m256i third = _mm256_blendv_epi8(part[0], _mm256_blendv_epi8(part[1], part[2], in_second), in_first);
    const __m256i whole[3] = {first, second, third};
    for (int k = 0; k < 3; ++k)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to[k] + i), _mm256_shuffle_epi8(whole[k], t.gather[k]));
  }
#endif
  for (; i < n; ++i) a[i] = pixels[3 * i], b[i] = pixels[3 * i + 1], c[i] = pixels[3 * i + 2];
}

inline void join_three(const uint8_t* a, const uint8_t* b, const uint8_t* c, uint8_t* pixels, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  const ThreeBytes t = three_bytes();
  const uint8_t* const from[3] = {a, b, c};
  for (; i + 32 <= n; i += 32) {
    __m256i own[3];
    for (int k = 0; k < 3; ++k)
      own[k] = _mm256_shuffle_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from[k] + i)), t.scatter[k]);
    auto* const to = reinterpret_cast<__m128i*>(pixels + 3 * i);
    for (int k = 0; k < 3; ++k) {
      const __m256i v = _mm256_blendv_epi8(_mm256_blendv_epi8(own[2], own[1], t.of[k][1]), own[0], t.of[k][0]);
      _mm_storeu_si128(to + k, _mm256_castsi256_si128(v));
      _mm_storeu_si128(to + 3 + k, _mm256_extracti128_si256(v, 1));
    }
  }
#endif
  for (; i < n; ++i) pixels[3 * i] = a[i], pixels[3 * i + 1] = b[i], pixels[3 * i + 2] = c[i];
}

inline void split_four(const uint8_t* pixels, uint8_t* const* planes, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  alignas(16) static constexpr int8_t kByChannel[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const __m256i by_channel = ThreeBytes::twice(kByChannel), halves = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (; i + 32 <= n; i += 32) {
    __m256i eight[4];  // of each channel, of eight pixels
    for (int k = 0; k < 4; ++k) {
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pixels + 4 * i) + k);
      eight[k] = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(v, by_channel), halves);
    }
    const __m256i ac[2] = {_mm256_unpacklo_epi64(eight[0], eight[1]), _mm256_unpacklo_epi64(eight[2], eight[3])};
    const __m256i bd[2] = {_mm256_unpackhi_epi64(eight[0], eight[1]), _mm256_unpackhi_epi64(eight[2], eight[3])};
    const auto put = [&](int p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(planes[p] + i), v); };
    put(0, _mm256_permute2x128_si256(ac[0], ac[1], 0x20)), put(2, _mm256_permute2x128_si256(ac[0], ac[1], 0x31));
    put(1, _mm256_permute2x128_si256(bd[0], bd[1], 0x20)), put(3, _mm256_permute2x128_si256(bd[0], bd[1], 0x31));
  }
#endif
  for (; i < n; ++i)
    for (int p = 0; p < 4; ++p) planes[p][i] = pixels[4 * i + p];
}
inline void join_four(const uint8_t* const* planes, uint8_t* pixels, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  for (; i + 32 <= n; i += 32) {
    __m256i v[4];
    for (int p = 0; p < 4; ++p) v[p] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planes[p] + i));
    const __m256i ab[2] = {_mm256_unpacklo_epi8(v[0], v[1]), _mm256_unpackhi_epi8(v[0], v[1])};
    const __m256i cd[2] = {_mm256_unpacklo_epi8(v[2], v[3]), _mm256_unpackhi_epi8(v[2], v[3])};
    // Pixels 0 to 3 and 16 to 19, and so on.
    const __m256i four[4] = {_mm256_unpacklo_epi16(ab[0], cd[0]), _mm256_unpackhi_epi16(ab[0], cd[0]),
                             _mm256_unpacklo_epi16(ab[1], cd[1]), _mm256_unpackhi_epi16(ab[1], cd[1])};
    auto* const to = reinterpret_cast<__m256i*>(pixels + 4 * i);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(four[0], four[1], 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(four[2], four[3], 0x20));
    _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(four[0], four[1], 0x31));
    _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(four[2], four[3], 0x31));
  }
#endif
  for (; i < n; ++i)
    for (int p = 0; p < 4; ++p) pixels[4 * i + p] = planes[p][i];
}
// Red and blue of pixels of four bytes change places.
inline void turn_four(const uint8_t* from, uint8_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t v;
    std::memcpy(&v, from + 4 * i, 4);
    v = (v & 0xFF00FF00u) | (v & 0xFFu) << 16 | (v >> 16 & 0xFFu);
    std::memcpy(to + 4 * i, &v, 4);
  }
}
inline void split_two(const uint8_t* __restrict pairs, uint8_t* __restrict a, uint8_t* __restrict b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) a[i] = pairs[2 * i], b[i] = pairs[2 * i + 1];
}
inline void join_two(const uint8_t* __restrict a, const uint8_t* __restrict b, uint8_t* __restrict pairs, int64_t n) {
  for (int64_t i = 0; i < n; ++i) pairs[2 * i] = a[i], pairs[2 * i + 1] = b[i];
}

inline const uint8_t* bytes_at(const Side& s, int p, int64_t y, int64_t x) {
  return static_cast<const uint8_t*>(s.plane[p]) + y * s.pitch[p] + x * s.step[p];
}
inline bool is_before(const Side& s, int a, int b) {
  return static_cast<const char*>(s.plane[a]) < static_cast<const char*>(s.plane[b]);
}
// The first byte of what lies side by side: pixels of colors, pairs of chroma, or these with luma.
inline uint8_t* first_of(const Side& s, int64_t y, int64_t x, int from, int to) {
  const uint8_t* first = bytes_at(s, from, y, x);
  for (int p = from + 1; p < to; ++p) first = std::min(first, bytes_at(s, p, y, x));
  return const_cast<uint8_t*>(first);
}

// A run of pixels of three or four bytes as planes: red, green, blue, alpha.
inline void load_colors(const Side& s, int64_t y, int64_t x, int64_t n, Planes& p) {
  uint8_t* const first = first_of(s, y, x, 0, 3);
  const bool turned = is_before(s, 2, 0);
  uint8_t *const a = p.at[turned ? 2 : 0], *const c = p.at[turned ? 0 : 2];
  uint8_t* const planes[4] = {a, p.at[1], c, p.at[3]};
  if (s.channels == 4) split_four(first, planes, n);
  else split_three(first, a, p.at[1], c, n);
}
inline void store_colors(const Side& s, int64_t y, int64_t x, int64_t n, const Planes& p) {
  uint8_t* const first = first_of(s, y, x, 0, 3);
  const bool turned = is_before(s, 2, 0);
  const uint8_t* const planes[4] = {p.at[turned ? 2 : 0], p.at[1], p.at[turned ? 0 : 2], p.at[3]};
  if (s.channels == 4) join_four(planes, first, n);
  else join_three(planes[0], planes[1], planes[2], first, n);
}

// A run of luma, and chroma for each pixel.
struct Run {
  const uint8_t *y, *u, *v;
};
inline const uint8_t* for_each_pixel(const uint8_t* __restrict samples, uint8_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n / 2; ++i) to[2 * i] = samples[i], to[2 * i + 1] = samples[i];
  return to;
}
inline Run load_chroma(const Side& s, int64_t y, int64_t x, int64_t n, Planes& p) {
  const int64_t cy = y >> s.half_y, cx = x >> s.half_x, m = n >> s.half_x;
  const uint8_t* light = bytes_at(s, 0, y, x);
  const uint8_t* pairs = s.step[1] == 1 ? nullptr : first_of(s, cy, cx, 1, 3);
  if (s.step[0] == 2) {
    const bool light_first = is_before(s, 0, 1) && is_before(s, 0, 2);
    split_two(first_of(s, y, x, 0, 1) - (light_first ? 0 : 1), p.at[light_first ? 0 : 5], p.at[light_first ? 5 : 0], n);
    light = p.at[0], pairs = p.at[5];
  }
  const uint8_t *u = p.at[1], *v = p.at[2];
  if (pairs) split_two(pairs, p.at[is_before(s, 1, 2) ? 1 : 2], p.at[is_before(s, 1, 2) ? 2 : 1], m);
  else u = bytes_at(s, 1, cy, cx), v = bytes_at(s, 2, cy, cx);
  if (s.half_x) u = for_each_pixel(u, p.at[3], n), v = for_each_pixel(v, p.at[4], n);
  return {light, u, v};
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
    const int32_t above = std::max(run.y[i] - m.black, 0), cb = run.u[i] - 128, cr = run.v[i] - 128;
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
inline HalfReg in_range(HalfReg v, HalfReg less) { return _mm_subs_epu8(v, less); }
inline HalfReg all_bytes(int v) { return _mm_set1_epi8(static_cast<char>(v)); }
inline HalfReg turned_sign(HalfReg v) { return _mm_xor_si128(v, _mm_set1_epi8(-128)); }
inline void store_bytes(uint8_t* to, Reg v) {
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(v, v), 0xD8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes));
}
#endif
// A product of nine bits and a factor of 22 is a sum of two products of 16 bits: of the number times 128 and the factor's
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
inline void to_colors(const Matrix& m, const Run& run, Planes& p, int64_t n) {
  constexpr int64_t kEach = PENSTOCK_TARGET_FLOATS * 2;
  const Factor luma(m.luma), rv(m.red_of_v), gu(m.green_of_u), gv(m.green_of_v), bu(m.blue_of_u);
  const Reg half = PENSTOCK_VECTORS(set1_epi32)(1 << (m.bits - 1));
  const HalfReg black = all_bytes(m.black);
  const auto add = [](Reg a, Reg b) { return PENSTOCK_VECTORS(add_epi32)(a, b); };
  const Reg zero = PENSTOCK_VECTORS(set1_epi16)(0), full = PENSTOCK_VECTORS(set1_epi16)(255);
  const auto store = [&](uint8_t* to, Reg low, Reg high) {
    const Reg words =
        PENSTOCK_VECTORS(packs_epi32)(PENSTOCK_VECTORS(srai_epi32)(low, 20), PENSTOCK_VECTORS(srai_epi32)(high, 20));
    store_bytes(to, PENSTOCK_VECTORS(min_epi16)(PENSTOCK_VECTORS(max_epi16)(words, zero), full));
  };
  int64_t i = 0;
  for (; i + kEach <= n; i += kEach) {
    const Pairs y(PENSTOCK_VECTORS(cvtepu8_epi16)(in_range(load_half(run.y + i), black)));
    const Pairs u(PENSTOCK_VECTORS(cvtepi8_epi16)(turned_sign(load_half(run.u + i))));
    const Pairs v(PENSTOCK_VECTORS(cvtepi8_epi16)(turned_sign(load_half(run.v + i))));
    const Reg low = add(luma.of(y.low), half), high = add(luma.of(y.high), half);
    store(p.at[0] + i, add(low, rv.of(v.low)), add(high, rv.of(v.high)));
    store(p.at[1] + i, add(low, add(gu.of(u.low), gv.of(v.low))), add(high, add(gu.of(u.high), gv.of(v.high))));
    store(p.at[2] + i, add(low, bu.of(u.low)), add(high, bu.of(u.high)));
  }
  rest_to_colors(m, run, p, i, n);
}
#undef PENSTOCK_VECTORS
#else
inline void to_colors(const Matrix& m, const Run& run, Planes& p, int64_t n) { rest_to_colors(m, run, p, 0, n); }
#endif

inline void to_gray(Planes& p, uint8_t* __restrict out, int64_t n) {
  const uint8_t* __restrict red = p.at[0], * __restrict green = p.at[1], * __restrict blue = p.at[2];
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<uint8_t>((red[i] * 9798 + green[i] * 19235 + blue[i] * 3735 + 16384) >> 15);
}

inline void to_luma(const Matrix& m, const Planes& p, uint8_t* __restrict out, int64_t n) {
  const uint8_t* __restrict red = p.at[0], * __restrict green = p.at[1], * __restrict blue = p.at[2];
  const int32_t r = m.y[0], g = m.y[1], b = m.y[2], offset = m.y_offset, bits = m.bits;
  for (int64_t i = 0; i < n; ++i) out[i] = byte_of((red[i] * r + green[i] * g + blue[i] * b + offset) >> bits);
}
// Of n samples of chroma, each for one pixel, for the first of two, or for the mean of two.
enum class Shared : uint8_t { none, first, mean };
template <Shared shared>
inline void to_chroma(const int32_t (&w)[3], const Matrix& m, const Planes& p, uint8_t* __restrict out, int64_t n) {
  const uint8_t* __restrict red = p.at[0], * __restrict green = p.at[1], * __restrict blue = p.at[2];
  constexpr int kShift = shared == Shared::mean ? 1 : 0, kStep = shared == Shared::none ? 1 : 2;
  const int32_t r = w[0], g = w[1], b = w[2], offset = m.c_offset << kShift, bits = m.bits + kShift;
  const auto value = [](const uint8_t* from, int64_t i) {
    return shared == Shared::mean ? from[2 * i] + from[2 * i + 1] : from[kStep * i] + 0;
  };
  for (int64_t i = 0; i < n; ++i)
    out[i] = byte_of((value(red, i) * r + value(green, i) * g + value(blue, i) * b + offset) >> bits);
}
inline void store_chroma(const FrameRow& r, int64_t y, int64_t x, int64_t n, Planes& p) {
  const Side& s = r.out;
  const int64_t cx = x >> s.half_x, cy = y >> s.half_y, m = n >> s.half_x;
  const bool packed = s.step[0] == 2, pairs = s.step[1] != 1;
  uint8_t* const light = packed ? p.at[3] : first_of(s, y, x, 0, 1);
  to_luma(r.matrix, p, light, n);
  if (s.half_y && y % 2) return;
  uint8_t* const u = pairs ? p.at[4] : first_of(s, cy, cx, 1, 2);
  uint8_t* const v = pairs ? p.at[5] : first_of(s, cy, cx, 2, 3);
  const auto make = [&](const int32_t (&weights)[3], uint8_t* to) {
    if (!s.half_x) to_chroma<Shared::none>(weights, r.matrix, p, to, m);
    else if (r.first_of_two) to_chroma<Shared::first>(weights, r.matrix, p, to, m);
    else to_chroma<Shared::mean>(weights, r.matrix, p, to, m);
  };
  make(r.matrix.u, u), make(r.matrix.v, v);
  if (!pairs) return;
  const bool u_first = is_before(s, 1, 2);
  uint8_t* const to = packed ? p.more : first_of(s, cy, cx, 1, 3);
  join_two(u_first ? u : v, u_first ? v : u, to, m);
  if (!packed) return;
  const bool light_first = is_before(s, 0, 1) && is_before(s, 0, 2);
  uint8_t* const first = first_of(s, y, x, 0, 1) - (light_first ? 0 : 1);
  join_two(light_first ? light : to, light_first ? to : light, first, n);
}

inline void convert_rows(const FrameRow& r, int64_t first, int64_t end) {
  Planes p;
  if (r.in.channels != 4) std::memset(p.at[3], 255, sizeof p.at[3]);
  for (int64_t y = first; y < end; ++y)
    for (int64_t x = 0; x < r.width; x += kRun) {
      const int64_t n = std::min(kRun, r.width - x);
      if (r.in.kind == chroma && r.out.kind == gray) {
        take_luma(r.in, y, x, n, first_of(r.out, y, x, 0, 1), p);
        continue;
      }
      if (r.in.channels == 4 && r.out.channels == 4 && is_before(r.in, 0, 2) != is_before(r.out, 0, 2)) {
        turn_four(first_of(r.in, y, x, 0, 3), first_of(r.out, y, x, 0, 3), n);
        continue;
      }
      if (r.in.kind == chroma) {
        const Run run = load_chroma(r.in, y, x, n, p);
        to_colors(r.matrix, run, p, n);
        if (r.out.channels == 4) std::memset(p.at[3], 255, static_cast<size_t>(n));
      } else {
        load_colors(r.in, y, x, n, p);
      }
      if (r.out.kind == gray) to_gray(p, first_of(r.out, y, x, 0, 1), n);
      else if (r.out.kind == chroma) store_chroma(r, y, x, n, p);
      else store_colors(r.out, y, x, n, p);
    }
}

// Whether convert_rows() has these formats.
inline bool has_loops(const FrameRow& r) {
  const bool in = r.in.kind == chroma || (r.in.kind == colors && r.in.step[0] == r.in.channels);
  const bool out = r.out.kind == gray || (r.out.kind == chroma && r.in.kind == colors) ||
                   (r.out.kind == colors && r.out.step[0] == r.out.channels);
  return in && out;
}
