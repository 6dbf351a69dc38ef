// SPDX-License-Identifier: Apache-2.0
// Included once per target by byte_sums.cpp.

// The byte that the sum in float32 gives; at(k) and weight(k) of tap k.
template <class At, class Weight>
inline uint8_t sum_in_float(const SumRounding& r, int taps, At at, Weight weight) {
  float s = 0;
  for (int k = 0; k < taps; ++k) s = fma(static_cast<float>(weight(k)), static_cast<float>(at(k)), s);
  const float v = floor(s * (1.0f / static_cast<float>(1 << r.shift)) + 0.5f);
  return static_cast<uint8_t>(v < 0.0f ? 0.0f : v > 255.0f ? 255.0f : v);
}
// The byte of an exact sum; `doubtful` is set if that in float32 may be another.
inline uint8_t rounded_sum(const SumRounding& r, int32_t sum, bool& doubtful) {
  const int32_t v = sum + (1 << (r.shift - 1));
  doubtful = r.doubt && ((v + r.doubt) & ((1 << r.shift) - 1)) <= 2 * r.doubt;
  const int32_t byte = v >> r.shift;
  return static_cast<uint8_t>(byte < 0 ? 0 : byte > 255 ? 255 : byte);
}

inline int16_t weight_of_pairs(const int32_t* pairs, int k) {
  return static_cast<int16_t>(k % 2 ? pairs[k / 2] >> 16 : pairs[k / 2]);
}

inline uint8_t column_in_float(const uint8_t* const* rows, const int32_t* pairs, int n_pairs, const SumRounding& r,
                               int64_t i) {
  return sum_in_float(
      r, 2 * n_pairs, [&](int k) { return rows[k][i]; }, [&](int k) { return weight_of_pairs(pairs, k); });
}

inline uint8_t output_in_float(const uint16_t* words, const WordPlan& p, const SumRounding& r, int64_t o) {
  const uint16_t* const at = words + p.first[o];
  const int16_t* const w = &p.weight[o * p.stride];
  return sum_in_float(r, p.stride, [&](int k) { return at[k]; }, [&](int k) { return w[k]; });
}

inline void vertical_plain(const uint8_t* const* rows, const int32_t* pairs, int n_pairs, const SumRounding& r,
                           uint8_t* out, int64_t begin, int64_t n) {
  for (int64_t i = begin; i < n; ++i) {
    int32_t sum = 0;
    for (int k = 0; k < 2 * n_pairs; ++k) sum += weight_of_pairs(pairs, k) * rows[k][i];
    bool doubtful;
    out[i] = rounded_sum(r, sum, doubtful);
    if (doubtful) out[i] = column_in_float(rows, pairs, n_pairs, r, i);
  }
}

#if PENSTOCK_TARGET_FLOATS
#include "cpu/sum_vectors.inc.h"

// Rounding of vectors of sums.
struct VectorRounding {
  Bits half, doubt, fraction, limit;
  __m128i shift;
  explicit VectorRounding(const SumRounding& r)
      : half(same(1 << (r.shift - 1))),
        doubt(same(r.doubt)),
        fraction(same((1 << r.shift) - 1)),
        limit(same(2 * r.doubt)),
        shift(_mm_cvtsi32_si128(r.shift)) {}
  uint32_t doubtful(Bits sum) const { return at_most(plus(sum, doubt), fraction, limit); }
};

// A block of as many bytes as a vector has. They go through registers of 32 bits: in each part of 16 bytes, register j
// has bytes 4 * j to 4 * j + 3.
template <bool kDoubts>
inline void vertical_block(const uint8_t* const* rows, const int32_t* pairs, int n_pairs, const SumRounding& r,
                           const VectorRounding& v, uint8_t* out, int64_t i) {
  Bits s[4] = {v.half, v.half, v.half, v.half};
  const Bits zero = no_bits();
  for (int k = 0; k < n_pairs; ++k) {
    const Bits a = load_bits(rows[2 * k] + i), b = load_bits(rows[2 * k + 1] + i), w = same(pairs[k]);
    const Bits low = low_bytes(a, b), high = high_bytes(a, b);
    s[0] = plus(s[0], sums_of_two(low_bytes(low, zero), w));
    s[1] = plus(s[1], sums_of_two(high_bytes(low, zero), w));
    s[2] = plus(s[2], sums_of_two(low_bytes(high, zero), w));
    s[3] = plus(s[3], sums_of_two(high_bytes(high, zero), w));
  }
  uint32_t doubtful[4] = {}, any = 0;
  if constexpr (kDoubts)
    for (int j = 0; j < 4; ++j) any |= doubtful[j] = v.doubtful(s[j]);
  for (int j = 0; j < 4; ++j) s[j] = moved_down(s[j], v.shift);
  store_bits(out + i, to_bytes(to_words(s[0], s[1]), to_words(s[2], s[3])));
  if (!kDoubts || !any) return;
  for (int j = 0; j < 4; ++j)
    for (uint32_t rest = doubtful[j]; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const int64_t at = i + lane / 4 * 16 + 4 * j + lane % 4;
      out[at] = column_in_float(rows, pairs, n_pairs, r, at);
    }
}

template <bool kDoubts>
void vertical_blocks(const uint8_t* const* rows, const int32_t* pairs, int n_pairs, const SumRounding& r, uint8_t* out,
                     int64_t n) {
  constexpr int64_t block = 4 * kWords;
  if (n < block) return vertical_plain(rows, pairs, n_pairs, r, out, 0, n);
  const VectorRounding v(r);
  int64_t i = 0;
  for (; i + block <= n; i += block) vertical_block<kDoubts>(rows, pairs, n_pairs, r, v, out, i);
  if (i < n) vertical_block<kDoubts>(rows, pairs, n_pairs, r, v, out, n - block);  // some bytes again
}

inline void vertical(const uint8_t* const* rows, const int32_t* pairs, int n_pairs, const SumRounding& r, uint8_t* out,
                     int64_t n) {
  return r.doubt ? vertical_blocks<true>(rows, pairs, n_pairs, r, out, n)
                 : vertical_blocks<false>(rows, pairs, n_pairs, r, out, n);
}

template <int kPlanes, bool kHeld>
void horizontal_groups(const uint16_t* const* words, const WordPlan& p, const SumRounding& r, uint8_t* const* out) {
  const VectorRounding v(r);
  const int64_t groups = (p.count + kWords - 1) / kWords;
  for (int64_t g = 0; g < groups; ++g) {
    Bits index = load_bits(&p.index[g * kWords]), low[kPlanes], high[kPlanes], s[kPlanes];
    const int32_t* const pair = &p.pair[g * p.pairs * kWords];
    const int64_t base = 2 * int64_t{p.base[g]};
    for (int c = 0; c < kPlanes; ++c) {
      if (kHeld) low[c] = load_bits(words[c] + base), high[c] = load_bits(words[c] + base + 2 * kWords);
      s[c] = v.half;
    }
    for (int k = 0; k < p.pairs; ++k) {
      const Bits w = load_bits(pair + k * kWords);
      for (int c = 0; c < kPlanes; ++c) {
        const uint16_t* const at = words[c] + base + 2 * k;
        if (!kHeld) low[c] = load_bits(at), high[c] = load_bits(at + 2 * kWords);
        s[c] = plus(s[c], sums_of_two(pick_words(low[c], high[c], index), w));
      }
      if (kHeld) index = plus(index, same(1));
    }
    for (int c = 0; c < kPlanes; ++c) {
      store_words_as_bytes(out[c] + g * kWords, moved_down(s[c], v.shift));
      if (!r.doubt) continue;
      for (uint32_t rest = v.doubtful(s[c]); rest; rest &= rest - 1) {
        const int64_t o = g * kWords + __builtin_ctz(rest);
        if (o < p.count) out[c][o] = output_in_float(words[c], p, r, o);
      }
    }
  }
}

template <int kPlanes>
void horizontal_planned(const uint16_t* const* words, const WordPlan& p, const SumRounding& r, uint8_t* const* out) {
  return p.form == WordPlan::Form::held ? horizontal_groups<kPlanes, true>(words, p, r, out)
                                        : horizontal_groups<kPlanes, false>(words, p, r, out);
}
#endif

// The exact sum of one output.
inline int32_t output_sum(const uint16_t* words, const WordPlan& p, int64_t o) {
  const uint16_t* const at = words + p.first[o];
  const int16_t* const w = &p.weight[o * p.stride];
#if PENSTOCK_TARGET_FLOATS
  Bits s = no_bits();
  for (int k = 0; k < p.stride; k += 2 * kWords) s = plus(s, sums_of_two(load_bits(at + k), load_bits(w + k)));
  return sum_of_words(s);
#else
  int32_t s = 0;
  for (int k = 0; k < p.stride; ++k) s += w[k] * at[k];
  return s;
#endif
}

inline void horizontal(const uint16_t* const* words, int planes, const WordPlan& p, const SumRounding& r,
                       uint8_t* const* out) {
#if PENSTOCK_TARGET_FLOATS
  if (p.form != WordPlan::Form::apart) {
    int c = 0;
    for (; c + 3 <= planes; c += 3) horizontal_planned<3>(words + c, p, r, out + c);
    for (; c < planes; ++c) horizontal_planned<1>(words + c, p, r, out + c);
    return;
  }
#endif
  for (int c = 0; c < planes; ++c)
    for (int64_t o = 0; o < p.count; ++o) {
      bool doubtful;
      out[c][o] = rounded_sum(r, output_sum(words[c], p, o), doubtful);
      if (doubtful) out[c][o] = output_in_float(words[c], p, r, o);
    }
}

inline void widen(const uint8_t* in, uint16_t* words, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  for (; i + 2 * kWords <= n; i += 2 * kWords) store_bits(words + i, widened(in + i));
#endif
  for (; i < n; ++i) words[i] = in[i];
}

#include "cpu/rgb_words.inc.h"

#if PENSTOCK_TARGET_FLOATS
constexpr int kSumLanes = kWords;
#else
constexpr int kSumLanes = 0;
inline void vertical(const uint8_t* const* rows, const int32_t* pairs, int n_pairs, const SumRounding& r, uint8_t* out,
                     int64_t n) {
  vertical_plain(rows, pairs, n_pairs, r, out, 0, n);
}
#endif
constexpr ByteSumLoops kByteSums{kSumLanes, &vertical, &horizontal, &widen, &split_rgb, &join_rgb};
