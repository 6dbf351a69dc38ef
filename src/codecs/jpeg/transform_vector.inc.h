// SPDX-License-Identifier: Apache-2.0
// The inverse transforms, one block per lane; each step is the scalar one with 16-bit elements.

constexpr int pair_of_factors(int low, int high) {
  return static_cast<int>(static_cast<uint32_t>(low & 0xFFFF) | static_cast<uint32_t>(high) << 16);
}

// Eight vectors to eight vectors: rows in the first pass, columns in the second.
template <class V, int kShift>
inline void transform8(typename V::Reg* r) {
  using Reg = typename V::Reg;
  // The rounding constant enters with the products: 1024 * 1 and 8192 * 16.
  constexpr int kRound = 1 << (kShift - 1), kUnit = kRound <= 16384 ? 1 : 16;
  const Reg unit = V::all16(kUnit), first = V::all32(pair_of_factors(8192, kRound / kUnit));
  const Reg even3 = V::all32(pair_of_factors(k0_541 + k0_765, k0_541));
  const Reg even2 = V::all32(pair_of_factors(k0_541, k0_541 - k1_847));
  const Reg odd_z3 = V::all32(pair_of_factors(k1_175 - k1_961, k1_175));
  const Reg odd_z4 = V::all32(pair_of_factors(k1_175, k1_175 - k0_390));
  const Reg odd0 = V::all32(pair_of_factors(k0_298 - k0_899, -k0_899));
  const Reg odd1 = V::all32(pair_of_factors(k2_053 - k2_562, -k2_562));
  const Reg odd2 = V::all32(pair_of_factors(-k2_562, k3_072 - k2_562));
  const Reg odd3 = V::all32(pair_of_factors(-k0_899, k1_501 - k0_899));
  const Reg sum04 = V::add16(r[0], r[4]), difference04 = V::sub16(r[0], r[4]);
  const Reg sum37 = V::add16(r[3], r[7]), sum15 = V::add16(r[1], r[5]);
  Reg half[2][8];
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    const auto zip = [h](Reg a, Reg b) { return h ? V::unpack_high16(a, b) : V::unpack_low16(a, b); };
    const Reg p26 = zip(r[2], r[6]), pz = zip(sum37, sum15), p71 = zip(r[7], r[1]), p53 = zip(r[5], r[3]);
    const Reg t0 = V::multiply_pairs(zip(sum04, unit), first), t1 = V::multiply_pairs(zip(difference04, unit), first);
    const Reg t2 = V::multiply_pairs(p26, even2), t3 = V::multiply_pairs(p26, even3);
    const Reg z3 = V::multiply_pairs(pz, odd_z3), z4 = V::multiply_pairs(pz, odd_z4);
    const Reg even[4] = {V::add32(t0, t3), V::add32(t1, t2), V::sub32(t1, t2), V::sub32(t0, t3)};
    const Reg odd[4] = {V::add32(V::multiply_pairs(p71, odd3), z4), V::add32(V::multiply_pairs(p53, odd2), z3),
                        V::add32(V::multiply_pairs(p53, odd1), z4), V::add32(V::multiply_pairs(p71, odd0), z3)};
    for (int i = 0; i < 4; ++i) {
      half[h][i] = V::template right32<kShift>(V::add32(even[i], odd[i]));
      half[h][7 - i] = V::template right32<kShift>(V::sub32(even[i], odd[i]));
    }
  }
  for (int i = 0; i < 8; ++i) r[i] = V::pack_signed32(half[0][i], half[1][i]);
}

template <class V>
inline void transpose(typename V::Reg* r) {
  typename V::Reg a[8], b[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = V::unpack_low16(r[2 * i], r[2 * i + 1]);
    a[2 * i + 1] = V::unpack_high16(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      b[i + 2 * k] = V::unpack_low32(a[i + k], a[i + 2 + k]);
      b[i + 2 * k + 1] = V::unpack_high32(a[i + k], a[i + 2 + k]);
    }
  for (int i = 0; i < 4; ++i) {
    r[2 * i] = V::unpack_low64(b[i], b[i + 4]);
    r[2 * i + 1] = V::unpack_high64(b[i], b[i + 4]);
  }
}

// If all rows except the first are zero, the first pass wraps instead of saturating. No valid file has such values: the
// branch is never taken.
template <class V>
inline void wrap_first_row(typename V::Reg* r, uint32_t zero_rows) {
  const typename V::Reg wrapped = V::template right16<kFirstPassBits>(V::template left16<kFirstPassBits>(r[0]));
  if (__builtin_expect(!V::is_zero(V::differ(wrapped, r[0])), 0)) r[0] = V::choose_lanes(zero_rows, wrapped, r[0]);
}

// Columns of 16-bit samples to rows of bytes: two rows in each register's lanes.
template <class V>
inline void columns_to_rows(const typename V::Reg* r, typename V::Reg* rows) {
  using Reg = typename V::Reg;
  const Reg a02 = V::pack_signed16(r[0], r[2]), a13 = V::pack_signed16(r[1], r[3]);
  const Reg a46 = V::pack_signed16(r[4], r[6]), a57 = V::pack_signed16(r[5], r[7]);
  const Reg b01 = V::unpack_low8(a02, a13), b23 = V::unpack_high8(a02, a13);
  const Reg b45 = V::unpack_low8(a46, a57), b67 = V::unpack_high8(a46, a57);
  const Reg c03[2] = {V::unpack_low16(b01, b23), V::unpack_high16(b01, b23)};
  const Reg c47[2] = {V::unpack_low16(b45, b67), V::unpack_high16(b45, b67)};
  const Reg center = V::all8(-128);
  for (int i = 0; i < 2; ++i) {
    rows[2 * i] = V::differ(V::unpack_low32(c03[i], c47[i]), center);
    rows[2 * i + 1] = V::differ(V::unpack_high32(c03[i], c47[i]), center);
  }
}

inline void store_two_rows(uint8_t* to, ptrdiff_t stride, __m128i rows) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), rows);
  _mm_storeh_pd(reinterpret_cast<double*>(to + stride), _mm_castsi128_pd(rows));
}

// A block with only a DC coefficient: eight equal rows.
inline void fill_block(int16_t dc, uint8_t* to, ptrdiff_t stride) {
  const int v = std::clamp(((static_cast<int16_t>(dc * 4) + 16) >> 5) + 128, 0, 255);
  const uint64_t row = 0x0101010101010101u * static_cast<uint64_t>(v);
  for (int y = 0; y < 8; ++y) std::memcpy(to + y * stride, &row, 8);
}

inline __m256i load_rows(const int16_t* a, const int16_t* b) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(a))),
                                 _mm_load_si128(reinterpret_cast<const __m128i*>(b)), 1);
}

// No loop: GCC turns it into "rep stos", which takes 10 ns to start.
inline void clear_block(int16_t* block) {
  __m256i* const at = reinterpret_cast<__m256i*>(block);
  const __m256i zero = _mm256_setzero_si256();
  _mm256_store_si256(at, zero);
  _mm256_store_si256(at + 1, zero);
  _mm256_store_si256(at + 2, zero);
  _mm256_store_si256(at + 3, zero);
}

inline void clear_blocks(int16_t* a, int16_t* b) {
  clear_block(a);
  clear_block(b);
}

// One bit for each byte of the two blocks' lanes that is zero in all of `any`.
inline uint32_t zero_bytes(__m256i any) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi16(any, _mm256_setzero_si256())));
}
// Bit 0: lane a is all zero; bit 1: lane b.
inline uint32_t zero_lanes(uint32_t zero) { return ((zero & 0xFFFF) == 0xFFFF) | (zero >> 16 == 0xFFFF) << 1; }

inline __m256i load_quant(const int16_t* quant, int row) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(quant) + row);
}

inline void inverse_dct_pair_8x8(int16_t* a, int16_t* b, const int16_t* quant, uint8_t* to_a, ptrdiff_t stride_a,
                                 uint8_t* to_b, ptrdiff_t stride_b) {
  using V = V256;
  V::Reg r[8];
  for (int i = 0; i < 8; ++i) r[i] = load_rows(a + 8 * i, b + 8 * i);
  clear_blocks(a, b);
  const V::Reg any =
      V::either(V::either(V::either(r[1], r[2]), V::either(r[3], r[4])), V::either(V::either(r[5], r[6]), r[7]));
  const uint32_t zero = zero_bytes(any);
  const V::Reg first = r[0];
  r[0] = V::multiply16(r[0], load_quant(quant, 0));
  if (zero == 0xFFFFFFFF) {
    const V::Reg not_dc = V::every_lane(_mm_setr_epi16(0, -1, -1, -1, -1, -1, -1, -1));
    if (_mm256_testz_si256(first, not_dc)) {
      fill_block(static_cast<int16_t>(_mm256_extract_epi16(r[0], 0)), to_a, stride_a);
      fill_block(static_cast<int16_t>(_mm256_extract_epi16(r[0], 8)), to_b, stride_b);
      return;
    }
    const V::Reg row = V::left16<kFirstPassBits>(r[0]);
    for (int i = 0; i < 8; ++i) r[i] = V::shuffle8(row, V::all16(0x0101 * 2 * i + 0x0100));
  } else {
    wrap_first_row<V>(r, zero_lanes(zero));
    for (int i = 1; i < 8; ++i) r[i] = V::multiply16(r[i], load_quant(quant, i));
    transform8<V, kFractionBits - kFirstPassBits>(r);
    transpose<V>(r);
  }
  transform8<V, kFractionBits + kFirstPassBits + 3>(r);
  V::Reg rows[4];
  columns_to_rows<V>(r, rows);
  for (int i = 0; i < 4; ++i) {
    store_two_rows(to_a + 2 * i * stride_a, stride_a, _mm256_castsi256_si128(rows[i]));
    store_two_rows(to_b + 2 * i * stride_b, stride_b, _mm256_extracti128_si256(rows[i], 1));
  }
}

// Products of neighbors of the odd inputs 1, 3 and 5, 7.
struct Odd4 {
  __m256i outer, inner;  // for outputs 0 and 3, and for 1 and 2
};
inline Odd4 odd_products4(__m256i p13, __m256i p57) {
  using V = V256;
  return {V::add32(V::multiply_pairs(p13, V::all32(pair_of_factors(k2_562, k0_899))),
                   V::multiply_pairs(p57, V::all32(pair_of_factors(-k0_601, -k0_509)))),
          V::add32(V::multiply_pairs(p13, V::all32(pair_of_factors(k1_061, -k2_172))),
                   V::multiply_pairs(p57, V::all32(pair_of_factors(k1_451, -k0_211))))};
}

// 32-bit elements; `first` is the even part's first input times 2^14.
template <int kShift>
inline void transform4(__m256i first, __m256i p26, const Odd4& odd, __m256i* out) {
  using V = V256;
  const V::Reg t0 = V::add32(first, V::all32(1 << (kShift - 1)));
  const V::Reg t2 = V::multiply_pairs(p26, V::all32(pair_of_factors(k1_847, -k0_765)));
  const V::Reg outer = V::add32(t0, t2), inner = V::sub32(t0, t2);
  out[0] = V::right32<kShift>(V::add32(outer, odd.outer));
  out[3] = V::right32<kShift>(V::sub32(outer, odd.outer));
  out[1] = V::right32<kShift>(V::add32(inner, odd.inner));
  out[2] = V::right32<kShift>(V::sub32(inner, odd.inner));
}

inline void inverse_dct_pair_4x4(int16_t* a, int16_t* b, const int16_t* quant, uint8_t* to_a, ptrdiff_t stride_a,
                                 uint8_t* to_b, ptrdiff_t stride_b) {
  using V = V256;
  V::Reg r[8];
  for (const int i : {0, 1, 2, 3, 5, 6, 7}) r[i] = load_rows(a + 8 * i, b + 8 * i);
  clear_blocks(a, b);
  const V::Reg any = V::either(V::either(V::either(r[1], r[2]), r[3]), V::either(V::either(r[5], r[6]), r[7]));
  for (const int i : {0, 1, 2, 3, 5, 6, 7}) r[i] = V::multiply16(r[i], load_quant(quant, i));
  wrap_first_row<V>(r, zero_lanes(zero_bytes(any)));
  V::Reg half[2][4];
  for (int h = 0; h < 2; ++h) {
    const auto zip = [h](V::Reg x, V::Reg y) { return h ? V::unpack_high16(x, y) : V::unpack_low16(x, y); };
    transform4<kFractionBits - kFirstPassBits + 1>(V::right32<2>(zip(V::zero(), r[0])), zip(r[2], r[6]),
                                                   odd_products4(zip(r[1], r[3]), zip(r[5], r[7])), half[h]);
  }
  V::Reg m[4];
  for (int i = 0; i < 4; ++i) m[i] = V::pack_signed32(half[0][i], half[1][i]);
  const V::Reg low01 = V::unpack_low16(m[0], m[1]), low23 = V::unpack_low16(m[2], m[3]);
  const V::Reg high01 = V::unpack_high16(m[0], m[1]), high23 = V::unpack_high16(m[2], m[3]);
  const V::Reg c01 = V::unpack_low32(low01, low23), c23 = V::unpack_high32(low01, low23);  // columns 0 and 1, 2 and 3
  const V::Reg c45 = V::unpack_low32(high01, high23), c67 = V::unpack_high32(high01, high23);
  V::Reg out[4];
  transform4<kFractionBits + kFirstPassBits + 3 + 1>(
      V::right32<2>(V::unpack_low16(V::zero(), c01)), V::unpack_low16(c23, c67),
      odd_products4(V::unpack_high16(c01, c23), V::unpack_high16(c45, c67)), out);
  const V::Reg columns = V::pack_signed16(V::pack_signed32(out[0], out[1]), V::pack_signed32(out[2], out[3]));
  const V::Reg order = V::every_lane(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  alignas(32) uint8_t rows[32];
  V::store(rows, V::differ(V::shuffle8(columns, order), V::all8(-128)));
  for (int y = 0; y < 4; ++y) {
    std::memcpy(to_a + y * stride_a, rows + 4 * y, 4);
    std::memcpy(to_b + y * stride_b, rows + 16 + 4 * y, 4);
  }
}

inline void inverse_dct_pair_2x2(int16_t* a, int16_t* b, const int16_t* quant, uint8_t* to_a, ptrdiff_t stride_a,
                                 uint8_t* to_b, ptrdiff_t stride_b) {
  using V = V256;
  constexpr int kFirst = kFractionBits - kFirstPassBits + 2, kSecond = kFractionBits + kFirstPassBits + 3 + 2;
  V::Reg r[8];
  for (const int i : {0, 1, 3, 5, 7}) r[i] = V::multiply16(load_rows(a + 8 * i, b + 8 * i), load_quant(quant, i));
  clear_blocks(a, b);
  V::Reg sum[2], difference[2];
  for (int h = 0; h < 2; ++h) {
    const auto zip = [h](V::Reg x, V::Reg y) { return h ? V::unpack_high16(x, y) : V::unpack_low16(x, y); };
    const V::Reg even = V::add32(V::right32<1>(zip(V::zero(), r[0])), V::all32(1 << (kFirst - 1)));
    const V::Reg odd = V::add32(V::multiply_pairs(zip(r[1], r[3]), V::all32(pair_of_factors(k3_624, -k1_272))),
                                V::multiply_pairs(zip(r[5], r[7]), V::all32(pair_of_factors(k0_850, -k0_720))));
    sum[h] = V::right32<kFirst>(V::add32(even, odd));
    difference[h] = V::right32<kFirst>(V::sub32(even, odd));
  }
  // Each lane: 32-bit elements 0 and 1 are the rows' results; column 0 keeps its 32 bits.
  const V::Reg factors = V::every_lane(_mm_setr_epi16(0, k3_624, 0, -k1_272, 0, k0_850, 0, -k0_720));
  const V::Reg products = _mm256_hadd_epi32(V::multiply_pairs(V::pack_signed32(sum[0], sum[1]), factors),
                                            V::multiply_pairs(V::pack_signed32(difference[0], difference[1]), factors));
  const V::Reg odd = _mm256_hadd_epi32(products, products);
  const V::Reg even = V::add32(V::left32<15>(V::unpack_low32(sum[0], difference[0])), V::all32(1 << (kSecond - 1)));
  const V::Reg left = V::right32<kSecond>(V::add32(even, odd)), right = V::right32<kSecond>(V::sub32(even, odd));
  const V::Reg words = V::pack_signed32(V::unpack_low32(left, right), V::zero());
  const V::Reg bytes = V::differ(V::pack_signed16(words, words), V::all8(-128));
  const auto put = [](uint8_t* to, ptrdiff_t stride, uint32_t v) {
    const uint16_t rows[2] = {static_cast<uint16_t>(v), static_cast<uint16_t>(v >> 16)};
    std::memcpy(to, &rows[0], 2);
    std::memcpy(to + stride, &rows[1], 2);
  };
  put(to_a, stride_a, static_cast<uint32_t>(_mm256_extract_epi32(bytes, 0)));
  put(to_b, stride_b, static_cast<uint32_t>(_mm256_extract_epi32(bytes, 4)));
}

inline void inverse_dct_pair_1x1(int16_t* a, int16_t* b, const int16_t* quant, uint8_t* to_a, ptrdiff_t, uint8_t* to_b,
                                 ptrdiff_t) {
  *to_a = kernels_scalar::mean_sample(*a, quant[0]);
  *to_b = kernels_scalar::mean_sample(*b, quant[8]);
  clear_blocks(a, b);
}
