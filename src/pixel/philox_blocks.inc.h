// SPDX-License-Identifier: Apache-2.0
// The loops of philox_blocks.cpp, included once per target with vector instructions: Philox::generate with a block in
// each 64-bit element of a vector. Only the lower halves matter: multiply() reads nothing else. So upper()
// is a shuffle: a shift would wait for the port of the multiplications.
#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 8
typedef uint64_t Vector __attribute__((vector_size(32)));
inline Vector multiply(Vector a, Vector b) {
  return reinterpret_cast<Vector>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
inline Vector upper(Vector v) {
  return reinterpret_cast<Vector>(_mm256_shuffle_epi32(reinterpret_cast<__m256i>(v), 0xF5));
}
#else
typedef uint64_t Vector __attribute__((vector_size(64)));
inline Vector multiply(Vector a, Vector b) {
  return reinterpret_cast<Vector>(_mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
inline Vector upper(Vector v) {
  return reinterpret_cast<Vector>(_mm512_shuffle_epi32(reinterpret_cast<__m512i>(v), static_cast<_MM_PERM_ENUM>(0xF5)));
}
#endif

typedef uint32_t Words __attribute__((vector_size(sizeof(Vector) / 2)));
constexpr size_t kLanes = sizeof(Vector) / sizeof(uint64_t);

inline Vector load(const uint64_t* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
struct RoundKeys {
  Vector key0[10], key1[10];
  explicit RoundKeys(const RandomStream& stream) {
    for (uint32_t r = 0; r < 10; ++r)
      key0[r] = Vector{} + (stream.key0 + r * 0x9E3779B9u), key1[r] = Vector{} + (stream.key1 + r * 0xBB67AE85u);
  }
};
// The words of blocks from i on.
inline void generate(const RoundKeys& keys, Vector sample, Vector block, size_t i, PhiloxColumns& out) {
  const Vector factor0 = Vector{} + 0xD2511F53u, factor1 = Vector{} + 0xCD9E8D57u;
  Vector word0 = sample, word1 = sample >> 32, word2 = block, word3 = block >> 32;
  for (int r = 0; r < 10; ++r) {
    const Vector p0 = multiply(word0, factor0), p1 = multiply(word2, factor1);
    word0 = upper(p1) ^ word1 ^ keys.key0[r], word1 = p1;
    word2 = upper(p0) ^ word3 ^ keys.key1[r], word3 = p0;
  }
  const Vector words[4] = {word0, word1, word2, word3};
  for (int k = 0; k < 4; ++k) {
    const auto narrow = __builtin_convertvector(words[k], Words);
    std::memcpy(&out.word[k][i], &narrow, sizeof narrow);
  }
}

inline void blocks_of(const RandomStream& stream, const uint64_t* samples, size_t n, uint64_t b, PhiloxColumns& out) {
  const RoundKeys keys(stream);
  for (size_t i = 0; i < n; i += kLanes) generate(keys, load(samples + i), Vector{} + b, i, out);
}
inline void numbered_blocks(const RandomStream& stream, const uint64_t* numbers, size_t n, PhiloxColumns& out) {
  const RoundKeys keys(stream);
  for (size_t i = 0; i < n; i += kLanes) generate(keys, Vector{} + stream.sample, load(numbers + i), i, out);
}
#endif
