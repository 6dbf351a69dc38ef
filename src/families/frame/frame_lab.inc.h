// SPDX-License-Identifier: Apache-2.0
// Pixels of red, green and blue to planes of lightness, a and b; a part of frame_rows.inc.h. Table lookups take most of
// the time: registers of a processor have no fast ones.
#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 16
#define PENSTOCK_VECTORS(operation) _mm512_##operation
#else
#define PENSTOCK_VECTORS(operation) _mm256_##operation
#endif
constexpr int64_t kLabRun = 256;  // the first cache has the tables too
struct Roots {
  alignas(64) uint16_t at[3][kLabRun];  // of x, y and z
};

// Plane 0, and the roots.
inline void to_roots(const LabTables& t, const uint8_t* in, Planes& p, Roots& roots, int64_t n) {
  const auto steps = [&](const uint8_t* pixel) __attribute__((always_inline)) {
    const auto part = [&](int c) __attribute__((always_inline)) {
      return _mm_load_si128(reinterpret_cast<const __m128i*>(t.light[c][pixel[c]]));
    };
    return _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(part(0), part(1)), part(2)), 12);
  };
  const auto put = [&](int64_t i, uint64_t three) __attribute__((always_inline)) {
    const uint64_t y = three >> 16 & 0xFFFF;
    roots.at[0][i] = t.root[three & 0xFFFF], roots.at[1][i] = t.root[y], roots.at[2][i] = t.root[three >> 32];
    p.at[0][i] = t.lightness[y];
  };
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    const __m128i both = _mm_packs_epi32(steps(in + 3 * i), steps(in + 3 * i + 3));
    put(i, static_cast<uint64_t>(_mm_cvtsi128_si64(both)));
    put(i + 1, static_cast<uint64_t>(_mm_extract_epi64(both, 1)));
  }
  if (i < n) {
    const __m128i one = steps(in + 3 * i);
    put(i, static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_packs_epi32(one, one))));
  }
}
// Planes 1 and 2: differences of roots times 500 and 200, rounded, which mulhrs does in parts of 32768. n pixels,
// rounded up to whole registers.
inline void of_roots(const Roots& roots, Planes& p, int64_t n) {
  constexpr int64_t kEach = PENSTOCK_TARGET_FLOATS * 2;
  const Reg zero = PENSTOCK_VECTORS(set1_epi16)(0), full = PENSTOCK_VECTORS(set1_epi16)(255);
  const Reg of_a = PENSTOCK_VECTORS(set1_epi16)(500), of_b = PENSTOCK_VECTORS(set1_epi16)(200);
  const Reg middle = PENSTOCK_VECTORS(set1_epi16)(128);
  const auto store = [&](uint8_t* to, Reg more, Reg less, Reg factor) {
    const Reg part = PENSTOCK_VECTORS(mulhrs_epi16)(PENSTOCK_VECTORS(sub_epi16)(more, less), factor);
    const Reg sum = PENSTOCK_VECTORS(add_epi16)(part, middle);
    store_bytes(to, PENSTOCK_VECTORS(min_epi16)(PENSTOCK_VECTORS(max_epi16)(sum, zero), full));
  };
  const auto load = [&](int k, int64_t i) { return load_whole(reinterpret_cast<const uint8_t*>(roots.at[k] + i)); };
  for (int64_t i = 0; i < n; i += kEach) {
    const Reg y = load(1, i);
    store(p.at[1] + i, load(0, i), y, of_a), store(p.at[2] + i, y, load(2, i), of_b);
  }
}
#undef PENSTOCK_VECTORS

inline bool lab_pixels(const LabTables& t, const uint8_t* in, uint8_t* out, int64_t n) {
  Planes p;
  Roots roots;
  for (int64_t i = 0; i < n; i += kLabRun) {
    const int64_t run = std::min(kLabRun, n - i);
    to_roots(t, in + 3 * i, p, roots, run);
    of_roots(roots, p, run);
    join_three(p.at[0], p.at[1], p.at[2], out + 3 * i, run);
  }
  return true;
}
#else
inline bool lab_pixels(const LabTables&, const uint8_t*, uint8_t*, int64_t) { return false; }
#endif
