// SPDX-License-Identifier: Apache-2.0
// The loops of byte_table.cpp, included once per target. All return how many bytes are done.

constexpr int64_t kBytes = PENSTOCK_TARGET_FLOATS ? 4 * PENSTOCK_TARGET_FLOATS : 16;
typedef uint8_t Bytes __attribute__((vector_size(kBytes)));

inline int64_t by_pieces(const uint8_t* in, uint8_t* out, int64_t n, const TwoPieces& p) {
  const auto all = [](uint8_t v) { return Bytes{} + v; };
  const Bytes second = all(static_cast<uint8_t>(p.second));
  const Bytes keep0 = all(p.piece[0].keep), flip0 = all(p.piece[0].flip), add0 = all(p.piece[0].add);
  const Bytes keep1 = all(p.piece[1].keep), flip1 = all(p.piece[1].flip), add1 = all(p.piece[1].add);
  int64_t i = 0;
  for (; i + kBytes <= n; i += kBytes) {
    Bytes v;
    std::memcpy(&v, in + i, sizeof v);
    const auto late = reinterpret_cast<Bytes>(v >= second);
    const Bytes a = ((v & keep0) ^ flip0) + add0, b = ((v & keep1) ^ flip1) + add1;
    const Bytes found = (a & ~late) | (b & late);
    std::memcpy(out + i, &found, sizeof found);
  }
  return i;
}

#if PENSTOCK_TARGET_FLOATS
// A shuffle takes bytes from 16 of the table, and makes 0 where the place is negative. So the table is kept as 16 rows,
// each the difference (exclusive or) from the one before it: all rows up to that of the place together give its byte.
// Places from 128 on are negative at first; without their highest bit they are those of the second half.
inline int64_t by_shuffles(const uint8_t* in, uint8_t* out, int64_t n, const uint8_t* table) {
  constexpr int kTogether = 4;
  alignas(32) uint8_t rows[16][32];
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 16; ++k) {
      const int before = row % 8 == 0 ? 0 : table[16 * (row - 1) + k];
      rows[row][k] = rows[row][k + 16] = static_cast<uint8_t>(table[16 * row + k] ^ before);
    }
  const __m256i sixteen = _mm256_set1_epi8(16), half = _mm256_set1_epi8(-128);
  int64_t i = 0;
  for (; i + 32 * kTogether <= n; i += 32 * kTogether) {
    __m256i places[2][kTogether], found[kTogether];
    for (int k = 0; k < kTogether; ++k) {
      places[0][k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i + 32 * k));
      places[1][k] = _mm256_xor_si256(places[0][k], half);
      found[k] = _mm256_setzero_si256();
    }
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h)
#pragma GCC unroll 8
      for (int row = 0; row < 8; ++row) {
        const __m256i part = _mm256_load_si256(reinterpret_cast<const __m256i*>(rows[8 * h + row]));
#pragma GCC unroll 4
        for (int k = 0; k < kTogether; ++k) {
          found[k] = _mm256_xor_si256(found[k], _mm256_shuffle_epi8(part, places[h][k]));
          places[h][k] = _mm256_subs_epi8(places[h][k], sixteen);
        }
      }
    for (int k = 0; k < kTogether; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 32 * k), found[k]);
  }
  return i;
}
#else
inline int64_t by_shuffles(const uint8_t* in, uint8_t* out, int64_t n, const uint8_t* table) {
  look_up_words(in, out, n, table);
  return n;
}
#endif
