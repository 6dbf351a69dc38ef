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
// The words of blocks from i on: of two vectors, whose rounds do not wait for one another. A round's products come
// last, for the rest is known before.
inline void generate(const RoundKeys& keys, const Vector (&sample)[2], const Vector (&block)[2], size_t i,
                     PhiloxColumns& out) {
  const Vector factor0 = Vector{} + 0xD2511F53u, factor1 = Vector{} + 0xCD9E8D57u;
  Vector word[2][4];
  for (int v = 0; v < 2; ++v)
    word[v][0] = sample[v], word[v][1] = sample[v] >> 32, word[v][2] = block[v], word[v][3] = block[v] >> 32;
  for (int r = 0; r < 10; ++r)
    for (int v = 0; v < 2; ++v) {
      const Vector p0 = multiply(word[v][0], factor0), p1 = multiply(word[v][2], factor1);
      word[v][0] = (word[v][1] ^ keys.key0[r]) ^ upper(p1), word[v][1] = p1;
      word[v][2] = (word[v][3] ^ keys.key1[r]) ^ upper(p0), word[v][3] = p0;
    }
  for (int k = 0; k < 4; ++k)
    for (int v = 0; v < 2; ++v) {
      const auto narrow = __builtin_convertvector(word[v][k], Words);
      std::memcpy(&out.word[k][i + static_cast<size_t>(v) * kLanes], &narrow, sizeof narrow);
    }
}

// n is a multiple of two vectors.
inline void blocks_of(const RandomStream& stream, const uint64_t* samples, size_t n, uint64_t b, PhiloxColumns& out) {
  const RoundKeys keys(stream);
  const Vector block = Vector{} + b;
  for (size_t i = 0; i < n; i += 2 * kLanes)
    generate(keys, {load(samples + i), load(samples + i + kLanes)}, {block, block}, i, out);
}
inline void numbered_blocks(const RandomStream& stream, const uint64_t* numbers, size_t n, PhiloxColumns& out) {
  const RoundKeys keys(stream);
  const Vector sample = Vector{} + stream.sample;
  for (size_t i = 0; i < n; i += 2 * kLanes)
    generate(keys, {sample, sample}, {load(numbers + i), load(numbers + i + kLanes)}, i, out);
}
#endif
