// SPDX-License-Identifier: Apache-2.0
// The inverse transforms in plain C++: the reference for the other targets.

inline int32_t wrap16(int32_t v) { return static_cast<int16_t>(v); }
inline int16_t saturate16(int32_t v) { return static_cast<int16_t>(std::clamp(v, -32768, 32767)); }
inline uint8_t sample(int32_t v) { return static_cast<uint8_t>(std::clamp(v + 128, 0, 255)); }
template <int kShift>
inline int16_t descale(uint32_t v) {
  return saturate16(static_cast<int32_t>(v + (1u << (kShift - 1))) >> kShift);
}

// Unsigned sums, because forged coefficients may overflow.
template <int kShift>
inline void transform8(const int16_t* in, int step, int16_t* out, int out_step) {
  const auto at = [&](int i) { return static_cast<int32_t>(in[i * step]); };
  const auto times = [](int32_t v, int k) { return static_cast<uint32_t>(v * k); };
  const uint32_t t0 = times(wrap16(at(0) + at(4)), 8192), t1 = times(wrap16(at(0) - at(4)), 8192);
  const uint32_t t2 = times(at(2), k0_541) + times(at(6), k0_541 - k1_847);
  const uint32_t t3 = times(at(2), k0_541 + k0_765) + times(at(6), k0_541);
  const int32_t s3 = wrap16(at(3) + at(7)), s4 = wrap16(at(1) + at(5));
  const uint32_t z3 = times(s3, k1_175 - k1_961) + times(s4, k1_175);
  const uint32_t z4 = times(s3, k1_175) + times(s4, k1_175 - k0_390);
  const uint32_t u0 = times(at(7), k0_298 - k0_899) + times(at(1), -k0_899) + z3;
  const uint32_t u1 = times(at(5), k2_053 - k2_562) + times(at(3), -k2_562) + z4;
  const uint32_t u2 = times(at(5), -k2_562) + times(at(3), k3_072 - k2_562) + z3;
  const uint32_t u3 = times(at(7), -k0_899) + times(at(1), k1_501 - k0_899) + z4;
  const uint32_t even[4] = {t0 + t3, t1 + t2, t1 - t2, t0 - t3}, odd[4] = {u3, u2, u1, u0};
  for (int i = 0; i < 4; ++i) {
    out[i * out_step] = descale<kShift>(even[i] + odd[i]);
    out[(7 - i) * out_step] = descale<kShift>(even[i] - odd[i]);
  }
}

template <int kShift>
inline void transform4(const int16_t* in, int step, int16_t* out, int out_step) {
  const auto at = [&](int i) { return static_cast<int32_t>(in[i * step]); };
  const auto times = [](int32_t v, int k) { return static_cast<uint32_t>(v * k); };
  const uint32_t t0 = times(at(0), 16384), t2 = times(at(2), k1_847) + times(at(6), -k0_765);
  const uint32_t u0 = times(at(7), -k0_211) + times(at(5), k1_451) + times(at(3), -k2_172) + times(at(1), k1_061);
  const uint32_t u2 = times(at(7), -k0_509) + times(at(5), -k0_601) + times(at(3), k0_899) + times(at(1), k2_562);
  out[0] = descale<kShift>(t0 + t2 + u2);
  out[3 * out_step] = descale<kShift>(t0 + t2 - u2);
  out[out_step] = descale<kShift>(t0 - t2 + u0);
  out[2 * out_step] = descale<kShift>(t0 - t2 - u0);
}

// Odd half of the 2-point transform; the even half is the first value times 2^15.
inline uint32_t odd2(const int16_t* in, int step) {
  const auto times = [&](int i, int k) { return static_cast<uint32_t>(in[i * step] * k); };
  return times(7, -k0_720) + times(5, k0_850) + times(3, -k1_272) + times(1, k3_624);
}

// Dequantizes in 16 bits. Returns whether the rows of `used` (one bit each) are zero.
inline bool dequantize(int16_t* block, const int16_t* quant, int used, int16_t* out) {
  int any = 0;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      if (used >> y & 1) any |= block[8 * y + x];
      out[8 * y + x] = static_cast<int16_t>(block[8 * y + x] * quant[16 * y + x]);
    }
  std::memset(block, 0, 128);
  return any == 0;
}

// The first pass of a block with no coefficients below row 0.
inline void first_pass_of_row(const int16_t* row, int rows, int16_t* out) {
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < 8; ++x) out[8 * y + x] = static_cast<int16_t>(wrap16(row[x] * (1 << kFirstPassBits)));
}

inline void inverse_dct_8x8(int16_t* block, const int16_t* quant, uint8_t* to, ptrdiff_t stride) {
  int16_t in[64], mid[64], row[8];
  if (dequantize(block, quant, 0xFE, in)) {
    first_pass_of_row(in, 8, mid);
  } else {
    for (int x = 0; x < 8; ++x) transform8<kFractionBits - kFirstPassBits>(in + x, 8, mid + x, 8);
  }
  for (int y = 0; y < 8; ++y) {
    transform8<kFractionBits + kFirstPassBits + 3>(mid + 8 * y, 1, row, 1);
    for (int x = 0; x < 8; ++x) to[y * stride + x] = sample(row[x]);
  }
}

inline void inverse_dct_4x4(int16_t* block, const int16_t* quant, uint8_t* to, ptrdiff_t stride) {
  int16_t in[64], mid[32], row[4];
  if (dequantize(block, quant, 0xEE, in)) {
    first_pass_of_row(in, 4, mid);
  } else {
    for (int x = 0; x < 8; ++x) transform4<kFractionBits - kFirstPassBits + 1>(in + x, 8, mid + x, 8);
  }
  for (int y = 0; y < 4; ++y) {
    transform4<kFractionBits + kFirstPassBits + 3 + 1>(mid + 8 * y, 1, row, 1);
    for (int x = 0; x < 4; ++x) to[y * stride + x] = sample(row[x]);
  }
}

// Column 0 keeps 32 bits between the passes.
inline void inverse_dct_2x2(int16_t* block, const int16_t* quant, uint8_t* to, ptrdiff_t stride) {
  constexpr int kFirst = kFractionBits - kFirstPassBits + 2, kSecond = kFractionBits + kFirstPassBits + 3 + 2;
  int16_t in[64], mid[16];
  uint32_t first[2] = {};
  dequantize(block, quant, 0, in);
  for (int x = 0; x < 8; ++x) {
    const uint32_t even = static_cast<uint32_t>(in[x]) << 15, odd = odd2(in + x, 8), round = 1u << (kFirst - 1);
    const int32_t v[2] = {static_cast<int32_t>(even + odd + round) >> kFirst,
                          static_cast<int32_t>(even - odd + round) >> kFirst};
    for (int y = 0; y < 2; ++y) {
      if (x == 0) first[y] = static_cast<uint32_t>(v[y]);
      mid[8 * y + x] = saturate16(v[y]);
    }
  }
  for (int y = 0; y < 2; ++y) {
    const uint32_t even = first[y] << 15, odd = odd2(mid + 8 * y, 1);
    to[y * stride] = sample(descale<kSecond>(even + odd));
    to[y * stride + 1] = sample(descale<kSecond>(even - odd));
  }
}

// libjpeg has no vector code for this one: the product has 32 bits, and the sample is looked up modulo 1024.
inline uint8_t mean_sample(int16_t coefficient, int16_t quant) {
  const int32_t dc = (coefficient * quant + 4) >> 3;
  return sample(((dc & 1023) ^ 512) - 512);
}
inline void inverse_dct_1x1(int16_t* block, const int16_t* quant, uint8_t* to, ptrdiff_t) {
  *to = mean_sample(block[0], quant[0]);
  std::memset(block, 0, 128);
}

template <void (*kTransform)(int16_t*, const int16_t*, uint8_t*, ptrdiff_t)>
static void pair_of(int16_t* a, int16_t* b, const int16_t* quant, uint8_t* to_a, ptrdiff_t stride_a, uint8_t* to_b,
                    ptrdiff_t stride_b) {
  kTransform(a, quant, to_a, stride_a);
  kTransform(b, quant + 8, to_b, stride_b);
}
