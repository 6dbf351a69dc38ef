// SPDX-License-Identifier: Apache-2.0
// The same as V256 with four lanes; the row functions use it.

struct V512 {
  using Reg = __m512i;
  static constexpr int kBytes = 64;
  static Reg load(const void* p) { return _mm512_loadu_si512(p); }
  static void store(void* p, Reg v) { _mm512_storeu_si512(p, v); }
  static Reg widen(const uint8_t* p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static Reg all8(int v) { return _mm512_set1_epi8(static_cast<char>(v)); }
  static Reg all16(int v) { return _mm512_set1_epi16(static_cast<short>(v)); }
  static Reg all32(int v) { return _mm512_set1_epi32(v); }
  static Reg every_lane(__m128i v) { return _mm512_broadcast_i32x4(v); }
  static Reg add16(Reg a, Reg b) { return _mm512_add_epi16(a, b); }
  static Reg sub16(Reg a, Reg b) { return _mm512_sub_epi16(a, b); }
  static Reg add32(Reg a, Reg b) { return _mm512_add_epi32(a, b); }
  static Reg multiply_rounded16(Reg a, Reg b) { return _mm512_mulhrs_epi16(a, b); }
  static Reg multiply_pairs(Reg a, Reg b) { return _mm512_madd_epi16(a, b); }
  static Reg both(Reg a, Reg b) { return _mm512_and_si512(a, b); }
  static Reg differ(Reg a, Reg b) { return _mm512_xor_si512(a, b); }
  template <int kShift> static Reg right16(Reg v) { return _mm512_srai_epi16(v, kShift); }
  template <int kShift> static Reg right32(Reg v) { return _mm512_srai_epi32(v, kShift); }
  template <int kShift> static Reg right_unsigned16(Reg v) { return _mm512_srli_epi16(v, kShift); }
  static Reg unpack_low16(Reg a, Reg b) { return _mm512_unpacklo_epi16(a, b); }
  static Reg unpack_high16(Reg a, Reg b) { return _mm512_unpackhi_epi16(a, b); }
  static Reg pack_signed32(Reg a, Reg b) { return _mm512_packs_epi32(a, b); }
  static Reg pack_signed16(Reg a, Reg b) { return _mm512_packs_epi16(a, b); }
  static Reg pack_unsigned16(Reg a, Reg b) { return _mm512_packus_epi16(a, b); }
  static Reg shuffle8(Reg v, Reg index) { return _mm512_shuffle_epi8(v, index); }

  static void store_interleaved(uint8_t* to, Reg first, Reg second, Reg third) {
    const Reg a = shuffle8(first, every_lane(kScatter[0])), b = shuffle8(second, every_lane(kScatter[1]));
    const Reg c = shuffle8(third, every_lane(kScatter[2]));
    for (int part = 0; part < 3; ++part) {
      // mask 0 ? a : mask 1 ? b : c
      const Reg bc = _mm512_ternarylogic_epi32(every_lane(kPartMask[part][1]), b, c, 0xCA);
      const Reg v = _mm512_ternarylogic_epi32(every_lane(kPartMask[part][0]), a, bc, 0xCA);
      uint8_t* const at = to + 16 * part;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm512_castsi512_si128(v));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(at + 48), _mm512_extracti32x4_epi32(v, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(at + 96), _mm512_extracti32x4_epi32(v, 2));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(at + 144), _mm512_extracti32x4_epi32(v, 3));
    }
  }
  static void store_samples(uint8_t* to, Reg even_odd) { store(to, shuffle8(even_odd, every_lane(kZip))); }
};
