// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, in its own namespace.

// Functions of std and FlacBits would not be inlined into code that is limited to general registers.
#define PENSTOCK_INLINE inline __attribute__((always_inline))
PENSTOCK_INLINE int leading_zeros(uint64_t v) { return v ? __builtin_clzll(v) : 64; }

// The dependency chain from one code to the next takes the time. So as many codes as one refill usually holds are
// decoded without checks; if the refill did not hold them, they are decoded again one by one.
template <int kCodes> bool take_codes(FlacBits& bits, int k, uint32_t* to, int n) {
  const uint8_t* const bytes = bits.bytes.data();
  const size_t size = bits.bytes.size();
  uint32_t* const end = to + n;
  uint64_t window = bits.window;
  size_t at = bits.at;
  int count = bits.count;
  while (end - to >= kCodes && at + 8 <= size) {
    uint64_t next;
    __builtin_memcpy(&next, bytes + at, sizeof next);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    next = __builtin_bswap64(next);
#endif
    window |= next >> (count & 63);
    at += static_cast<size_t>(63 - count) >> 3;
    count |= 56;
    uint64_t rest = window;
    int used = kCodes * (k + 1);
    for (int i = 0; i < kCodes; ++i) {
      const int zeros = leading_zeros(rest);
      const uint64_t code = rest << (zeros & 63);  // the first bit is the terminating one
      to[i] = static_cast<uint32_t>((static_cast<uint64_t>(zeros) - 1) << k) + static_cast<uint32_t>(code >> (63 - k));
      rest = code << (k + 1);
      used += zeros;
    }
    if (__builtin_expect(used <= count, 1)) {
      window = rest, count -= used, to += kCodes;
      continue;
    }
    bits.window = window, bits.at = at, bits.count = count;
    for (int i = 0; i < kCodes; ++i)
      if (!take_long_code(bits, k, to++)) return false;
    window = bits.window, at = bits.at, count = bits.count;
  }
  bits.window = window, bits.at = at, bits.count = count;
  for (; to < end; ++to)
    if (!take_long_code(bits, k, to)) return false;
  return true;
}

inline bool take_rice(FlacBits& bits, int k, uint32_t* to, int n) {
  if (k <= 4) return take_codes<6>(bits, k, to, n);
  if (k <= 7) return take_codes<5>(bits, k, to, n);
  if (k <= 10) return take_codes<4>(bits, k, to, n);
  if (k <= 14) return take_codes<3>(bits, k, to, n);
  if (k <= 20) return take_codes<2>(bits, k, to, n);
  if (k <= 26) return take_codes<1>(bits, k, to, n);  // 63 << 26 has 32 bits
  for (int i = 0; i < n; ++i)
    if (!take_long_code(bits, k, to + i)) return false;
  return true;
}

template <class Sum, int kOrder> void predict_by(const FlacPrediction& p, int from, int until) {
  Sum c[kOrder];
  for (int j = 0; j < kOrder; ++j) c[j] = static_cast<Sum>(p.coefficients[j]);
  int32_t* const samples = p.samples;
  const int shift = p.shift;
  for (int i = from; i < until; ++i) {
    Sum sum = 0;
    for (int j = 0; j < kOrder; ++j) sum += c[j] * static_cast<Sum>(samples[i - 1 - j]);
    const auto predicted = static_cast<uint32_t>(static_cast<std::make_signed_t<Sum>>(sum) >> shift);
    samples[i] = static_cast<int32_t>(static_cast<uint32_t>(samples[i]) + predicted);
  }
}

template <class Sum, int... kLess>
void predict_of_order(const FlacPrediction& p, int from, int until, std::integer_sequence<int, kLess...>) {
  static constexpr void (*kLoops[])(const FlacPrediction&, int, int) = {predict_by<Sum, kLess + 1>...};
  kLoops[p.order - 1](p, from, until);
}

template <class Sum> void predict_part(const FlacPrediction& p, int from, int until) {
  predict_of_order<Sum>(p, from, until, std::make_integer_sequence<int, 32>());
}
#undef PENSTOCK_INLINE
