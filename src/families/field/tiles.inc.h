// SPDX-License-Identifier: Apache-2.0
// The loops over tiles, included once per target by rows.cpp.

// ---- Random words: a vector of 64-bit numbers holds words of as many blocks. Only their lower halves matter.
#if PENSTOCK_TARGET_FLOATS
#define PENSTOCK_ALWAYS inline __attribute__((always_inline))
constexpr int kLanes = PENSTOCK_TARGET_FLOATS;
typedef uint64_t Wide __attribute__((vector_size(kLanes * 4)));
typedef float F __attribute__((vector_size(kLanes * 4)));
typedef int32_t I __attribute__((vector_size(kLanes * 4)));
#if PENSTOCK_TARGET_FLOATS == 8
PENSTOCK_ALWAYS Wide multiply(Wide a, Wide b) { return (Wide)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
PENSTOCK_ALWAYS uint32_t bits_of(I mask) { return static_cast<uint32_t>(_mm256_movemask_ps((__m256)mask)); }
#else
PENSTOCK_ALWAYS Wide multiply(Wide a, Wide b) { return (Wide)_mm512_mul_epu32((__m512i)a, (__m512i)b); }
PENSTOCK_ALWAYS uint32_t bits_of(I mask) { return _mm512_movepi32_mask((__m512i)mask); }
#endif
template <class V> PENSTOCK_ALWAYS V load(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V> PENSTOCK_ALWAYS void store(void* p, V v) { std::memcpy(p, &v, sizeof v); }

// Two vectors of blocks at once: one waits less for its products.
struct Rounds {
  Blocks first;
  Wide key0[10], key1[10];

  PENSTOCK_ALWAYS Rounds(const RandomStream& s, uint64_t block) : first(s, static_cast<uint32_t>(block >> 32)) {
    for (uint32_t r = 2; r < 10; ++r)
      key0[r] = Wide{} + (s.key0 + r * 0x9E3779B9u), key1[r] = Wide{} + (s.key1 + r * 0xBB67AE85u);
  }
  PENSTOCK_ALWAYS void run(Wide low, Wide high, Wide (&w)[2][4]) const {
    const auto all = [](uint64_t v) __attribute__((always_inline)) { return Wide{} + v; };
    const Wide m0 = all(0xD2511F53u), m1 = all(0xCD9E8D57u);
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const Wide p1 = multiply(v ? high : low, m1), p0 = multiply((p1 >> 32) ^ all(first.first0), m0);
      w[v][0] = p1 ^ all(first.second0), w[v][1] = all(first.second1);
      w[v][2] = (p0 >> 32) ^ all(first.second2), w[v][3] = p0;
    }
#pragma GCC unroll 8
    for (int r = 2; r < 10; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        const Wide p0 = multiply(w[v][0], m0), p1 = multiply(w[v][2], m1);
        w[v][0] = (p1 >> 32) ^ w[v][1] ^ key0[r], w[v][1] = p1;
        w[v][2] = (p0 >> 32) ^ w[v][3] ^ key1[r], w[v][3] = p0;
      }
  }
};
constexpr int kAtOnce = kLanes / 2;
constexpr uint64_t kLower = 0xFFFFFFFF;

inline void find_words(const RandomStream& stream, uint64_t block, uint32_t* out) {
  const Rounds rounds(stream, block);
  Wide lower{};
  for (int i = 0; i < kAtOnce; ++i) lower[i] = static_cast<uint32_t>(block) + static_cast<uint64_t>(i);
  for (int done = 0; done < kTile / 4; done += 2 * kAtOnce, lower += 2 * kAtOnce) {
    Wide w[2][4];
    rounds.run(lower, lower + static_cast<uint64_t>(kAtOnce), w);
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {  // a vector is the first, or the second, word of pairs
      uint32_t* to = out + (done + v * kAtOnce) / kGroupBlocks * kGroup + (done + v * kAtOnce) % kGroupBlocks * 2;
      store(to, (w[v][0] & kLower) | w[v][2] << 32);
      store(to + kPairs, (w[v][1] & kLower) | w[v][3] << 32);
    }
  }
}
// Words 1 and 3 of n blocks that differ in their lower halves, up to a multiple of kLanes of them.
inline void find_own_words(const RandomStream& stream, uint64_t block, const uint32_t* lower, int n, uint32_t* word1,
                           uint32_t* word3) {
  const Rounds rounds(stream, block);
  for (int i = 0; i < n; i += kLanes) {
    const Wide pairs = load<Wide>(lower + i);
    Wide w[2][4];
    rounds.run(pairs & kLower, pairs >> 32, w);
    store(word1 + i, (w[0][1] & kLower) | w[1][1] << 32);
    store(word3 + i, (w[0][3] & kLower) | w[1][3] << 32);
  }
}
#else
inline void find_words(const RandomStream& stream, uint64_t block, uint32_t* out) {
  const Blocks blocks(stream, static_cast<uint32_t>(block >> 32));
  for (int k = 0; k < kTile / 4; ++k) {
    const PhiloxBlock b = blocks(static_cast<uint32_t>(block) + static_cast<uint32_t>(k));
    uint32_t* to = out + k / kGroupBlocks * kGroup + k % kGroupBlocks * 2;
    to[0] = b.word[0], to[1] = b.word[2], to[kPairs] = b.word[1], to[kPairs + 1] = b.word[3];
  }
}
inline void find_own_words(const RandomStream& stream, uint64_t block, const uint32_t* lower, int n, uint32_t* word1,
                           uint32_t* word3) {
  const Blocks blocks(stream, static_cast<uint32_t>(block >> 32));
  for (int i = 0; i < n; ++i) {
    const PhiloxBlock b = blocks(lower[i]);
    word1[i] = b.word[1], word3[i] = b.word[3];
  }
}
#endif

inline void find_normals(const uint32_t* words, float* numbers) {
  for (int g = 0; g < kTile; g += kGroup)
#pragma GCC ivdep
    for (int i = 0; i < kPairs; ++i)
      normal_pair(words[g + i], words[g + kPairs + i], numbers[g + i], numbers[g + kPairs + i]);
}

// ---- Counts of n elements, from `first` on. Places after the n-th, up to the end of a vector, hold means of 0.

// Those of small means; of others 0.
inline void find_few_counts(const float* means, const uint32_t* words, int n, float* counts) {
#if PENSTOCK_TARGET_FLOATS
  alignas(64) float few[kTile], u[kTile], part[kTile];
#pragma GCC ivdep
  for (int i = 0; i < kTile; ++i) {
    const float mean = means[i] < kFewCounts ? means[i] : 0.0f;
    few[i] = mean > 0.0f ? mean : 0.0f, u[i] = uniform01(words[i]), part[i] = f32::exp(-few[i]);
  }
  for (int i = 0; i < n; i += kLanes) {
    const F mean = load<F>(few + i), uniform = load<F>(u + i);
    F p = load<F>(part + i), sum = p, count = {};
    for (float k = 1;; k += 1) {
      const I more = (uniform >= sum) & (p > kLeastProbability);
      if (bits_of(more) == 0) break;
      count += more ? F{} + 1.0f : F{};
      p *= mean * (1.0f / k), sum += p;
    }
    store(counts + i, count);
  }
#else
  for (int i = 0; i < n; ++i)
    counts[i] = means[i] > 0.0f && means[i] < kFewCounts ? few_counts(means[i], words[i]) : 0.0f;
#endif
}
// Those of large means: the first attempts together, the rest one by one.
inline void find_many_counts(const RandomStream& stream, uint64_t first, const float* means, int n, float* counts) {
  Tile<uint32_t> place, lower, word1, word3;
  Tile<float> mean, count;
  int many = 0;
  for (int i = 0; i < n; ++i) {
    place.of[many] = static_cast<uint32_t>(i), mean.of[many] = means[i];
    many += means[i] >= kFewCounts;
  }
  if (many == 0) return;
  const int end = std::min((many + 15) / 16 * 16, kTile);
  for (int i = many; i < end; ++i) place.of[i] = 0, mean.of[i] = kFewCounts;
  for (int i = 0; i < end; ++i) lower.of[i] = static_cast<uint32_t>(first) + place.of[i];
  find_own_words(stream, own_block(first, 1), lower.of, end, word1.of, word3.of);
#pragma GCC ivdep
  for (int i = 0; i < end; ++i) count.of[i] = attempted_count(mean.of[i], word1.of[i], word3.of[i]);
  for (int i = 0; i < many; ++i) {
    const float v = mean.of[i];
    const uint64_t e = first + place.of[i];
    counts[place.of[i]] = !(v < kMostMean) ? v : count.of[i] >= 0 ? count.of[i] : many_counts(v, stream, e, 2);
  }
}

// ---- Conversions.
template <class T> void widen(const void* in, int n, float* out) {
  const T* from = static_cast<const T*>(in);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) out[i] = static_cast<float>(from[i]);
}
template <class T> void narrow(const float* in, int n, void* out) {
  T* to = static_cast<T*>(out);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) to[i] = stored<T>(in[i]);
}
#if PENSTOCK_TARGET_FLOATS
template <> inline void narrow<uint8_t>(const float* in, int n, void* out) {
  auto* to = static_cast<uint8_t*>(out);
  int i = 0;
  // The minimum with NaN as its second operand is NaN. It and numbers below -2^31 become the least integer.
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
#if PENSTOCK_TARGET_FLOATS == 8
    const auto at = [&](int k) __attribute__((always_inline)) {
      return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_set1_ps(255), _mm256_loadu_ps(in + i + k)));
    };
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(at(0), at(8)), 0xD8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
#else
    for (int k = 0; k < 32; k += 16) {
      const __m512i v = _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(255), _mm512_loadu_ps(in + i + k)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i + k),
                       _mm512_cvtusepi32_epi8(_mm512_max_epi32(v, _mm512_setzero_si512())));
    }
#endif
  }
  for (; i < n; ++i) to[i] = stored<uint8_t>(in[i]);
}
#endif

// ---- Replacement: the places in [begin, end) of a tile whose word is at most `last`. Returns their number.
inline int find_replaced(const uint32_t* words, int begin, int end, uint32_t last, int32_t* places) {
  int count = 0, i = begin;
#if PENSTOCK_TARGET_FLOATS == 16
  I at{};
  for (int k = 0; k < kLanes; ++k) at[k] = begin + k;
  for (; i + kLanes <= end; i += kLanes, at += kLanes) {
    const __mmask16 hit = _mm512_cmple_epu32_mask((__m512i)load<I>(words + i), _mm512_set1_epi32((int32_t)last));
    _mm512_storeu_si512(places + count, _mm512_maskz_compress_epi32(hit, (__m512i)at));  // there is room: i - begin
    count += __builtin_popcount(hit);
  }
#elif PENSTOCK_TARGET_FLOATS == 8
  const __m256i most = _mm256_set1_epi32(static_cast<int32_t>(last));
  for (; i + kLanes <= end; i += kLanes) {
    const __m256i v = (__m256i)load<I>(words + i);
    for (uint32_t hit = bits_of((I)_mm256_cmpeq_epi32(_mm256_min_epu32(v, most), v)); hit; hit &= hit - 1)
      places[count++] = i + __builtin_ctz(hit);
  }
#endif
  for (; i < end; ++i)
    if (words[i] <= last) places[count++] = i;
  return count;
}
