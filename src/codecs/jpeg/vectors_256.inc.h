// SPDX-License-Identifier: Apache-2.0
// A register of two 128-bit lanes, with the names that the kernels use. Numbers in names are bits per element; packs
// and unpacks work within each lane.

struct V256 {
  using Reg = __m256i;
  static constexpr int kBytes = 32;
  static Reg load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static void store(void* p, Reg v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  // kBytes / 2 samples as 16-bit elements.
  static Reg widen(const uint8_t* p) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static Reg zero() { return _mm256_setzero_si256(); }
  static Reg all8(int v) { return _mm256_set1_epi8(static_cast<char>(v)); }
  static Reg all16(int v) { return _mm256_set1_epi16(static_cast<short>(v)); }
  static Reg all32(int v) { return _mm256_set1_epi32(v); }
  static Reg every_lane(__m128i v) { return _mm256_broadcastsi128_si256(v); }
  static Reg add16(Reg a, Reg b) { return _mm256_add_epi16(a, b); }
  static Reg sub16(Reg a, Reg b) { return _mm256_sub_epi16(a, b); }
  static Reg add32(Reg a, Reg b) { return _mm256_add_epi32(a, b); }
  static Reg sub32(Reg a, Reg b) { return _mm256_sub_epi32(a, b); }
  static Reg multiply16(Reg a, Reg b) { return _mm256_mullo_epi16(a, b); }
  static Reg multiply_rounded16(Reg a, Reg b) { return _mm256_mulhrs_epi16(a, b); }  // (a * b + 2^14) >> 15
  static Reg multiply_pairs(Reg a, Reg b) { return _mm256_madd_epi16(a, b); }
  static Reg both(Reg a, Reg b) { return _mm256_and_si256(a, b); }
  static Reg either(Reg a, Reg b) { return _mm256_or_si256(a, b); }
  static Reg differ(Reg a, Reg b) { return _mm256_xor_si256(a, b); }
  template <int kShift> static Reg left16(Reg v) { return _mm256_slli_epi16(v, kShift); }
  template <int kShift> static Reg left32(Reg v) { return _mm256_slli_epi32(v, kShift); }
  template <int kShift> static Reg right16(Reg v) { return _mm256_srai_epi16(v, kShift); }
  template <int kShift> static Reg right32(Reg v) { return _mm256_srai_epi32(v, kShift); }
  template <int kShift> static Reg right_unsigned16(Reg v) { return _mm256_srli_epi16(v, kShift); }
  static Reg unpack_low8(Reg a, Reg b) { return _mm256_unpacklo_epi8(a, b); }
  static Reg unpack_high8(Reg a, Reg b) { return _mm256_unpackhi_epi8(a, b); }
  static Reg unpack_low16(Reg a, Reg b) { return _mm256_unpacklo_epi16(a, b); }
  static Reg unpack_high16(Reg a, Reg b) { return _mm256_unpackhi_epi16(a, b); }
  static Reg unpack_low32(Reg a, Reg b) { return _mm256_unpacklo_epi32(a, b); }
  static Reg unpack_high32(Reg a, Reg b) { return _mm256_unpackhi_epi32(a, b); }
  static Reg unpack_low64(Reg a, Reg b) { return _mm256_unpacklo_epi64(a, b); }
  static Reg unpack_high64(Reg a, Reg b) { return _mm256_unpackhi_epi64(a, b); }
  static Reg pack_signed32(Reg a, Reg b) { return _mm256_packs_epi32(a, b); }
  static Reg pack_signed16(Reg a, Reg b) { return _mm256_packs_epi16(a, b); }
  static Reg pack_unsigned16(Reg a, Reg b) { return _mm256_packus_epi16(a, b); }
  static Reg shuffle8(Reg v, Reg index) { return _mm256_shuffle_epi8(v, index); }
  // Lane k of `a` if bit k is set, else of `b`.
  static Reg choose_lanes(uint32_t bits, Reg a, Reg b) {
    const Reg lanes = _mm256_setr_epi64x(bits & 1 ? -1 : 0, bits & 1 ? -1 : 0, bits & 2 ? -1 : 0, bits & 2 ? -1 : 0);
    return _mm256_blendv_epi8(b, a, lanes);
  }
  static bool is_zero(Reg v) { return _mm256_testz_si256(v, v); }

  // Interleaves three registers that have, in each lane, eight even samples and then eight odd ones.
  static void store_interleaved(uint8_t* to, Reg first, Reg second, Reg third) {
    const Reg c[3] = {first, second, third};
    Reg out[3];
    for (int k = 0; k < 3; ++k)
      out[k] =
          either(shuffle8(c[0], every_lane(kInterleave[k][0])),
                 either(shuffle8(c[1], every_lane(kInterleave[k][1])), shuffle8(c[2], every_lane(kInterleave[k][2]))));
    for (int k = 0; k < 3; ++k) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * k), _mm256_castsi256_si128(out[k]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 48 + 16 * k), _mm256_extracti128_si256(out[k], 1));
    }
  }
  static void store_samples(uint8_t* to, Reg even_odd) { store(to, shuffle8(even_odd, every_lane(kZip))); }
};
