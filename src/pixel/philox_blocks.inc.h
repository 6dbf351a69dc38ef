// SPDX-License-Identifier: Apache-2.0
// The loop of philox_blocks.cpp, included once per target with vector instructions: Philox::generate with a stream in
// each 64-bit number of a vector. Only the lower halves count: multiply() reads nothing else.
#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 8
typedef uint64_t Vector __attribute__((vector_size(32)));
inline Vector multiply(Vector a, Vector b) {
  return reinterpret_cast<Vector>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
#else
typedef uint64_t Vector __attribute__((vector_size(64)));
inline Vector multiply(Vector a, Vector b) {
  return reinterpret_cast<Vector>(_mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#endif

inline void blocks_of(const RandomStream& stream, const uint64_t* samples, size_t n, uint64_t b, PhiloxColumns& out) {
  constexpr size_t kLanes = sizeof(Vector) / sizeof(uint64_t);
  typedef uint32_t Words __attribute__((vector_size(sizeof(Vector) / 2)));
  const auto all = [](uint64_t v) { return Vector{} + v; };
  Vector key0[10], key1[10];
  for (uint32_t r = 0; r < 10; ++r)
    key0[r] = all(stream.key0 + r * 0x9E3779B9u), key1[r] = all(stream.key1 + r * 0xBB67AE85u);
  for (size_t i = 0; i < n; i += kLanes) {
    Vector word0;
    std::memcpy(&word0, samples + i, sizeof word0);
    Vector word1 = word0 >> 32, word2 = all(b), word3 = all(b >> 32);
    for (int r = 0; r < 10; ++r) {
      const Vector p0 = multiply(word0, all(0xD2511F53u)), p1 = multiply(word2, all(0xCD9E8D57u));
      word0 = (p1 >> 32) ^ word1 ^ key0[r], word1 = p1;
      word2 = (p0 >> 32) ^ word3 ^ key1[r], word3 = p0;
    }
    const Vector words[4] = {word0, word1, word2, word3};
    for (int k = 0; k < 4; ++k) {
      const auto narrow = __builtin_convertvector(words[k], Words);
      std::memcpy(&out.word[k][i], &narrow, sizeof narrow);
    }
  }
}
#endif
