// SPDX-License-Identifier: Apache-2.0
// The family field: each element gets random numbers of its own. They depend on the stream (seed, epoch, sample) and on
// the element's place alone, so threads, vectors, batches and devices do not matter. An operator gives
//
//     struct Rule {
//       PENSTOCK_PIXEL(
//       struct Coef { ... };
//       template <class V> PENSTOCK_HD static V noisy(V in, V z, const Coef&) { ... })
//     };
//
// and calls field::add_normals<Rule>(in, out, coef, stream, to) in work() (field.h). V is float, or double for types
// that float does not hold; z is a number of the standard normal distribution. noisy() has no branches that differ
// between neighbors and calls nothing but what src/pixel offers, so a loop over elements becomes vectors. Two more
// kinds of fields, add_counts and replace, are described there.
//
// Which numbers an element gets: 32 elements share eight Philox blocks, and element e takes word word_of(e) of block
// block_of(e). So a vector of words is a vector of elements, and 32 bytes are the work of one thread of a GPU. Elements
// e and e + 16 of a group are the pair that the method of Box and Muller makes of two words ("A note on the generation
// of random normal deviates", 1958).
#pragma once
#include <bit>
#include <cstdint>

#include "pixel/float32.h"
#include "pixel/philox.h"
#include "pixel/stored.h"
#include "pixel/transcendental.h"

namespace penstock::field {

constexpr int kGroup = 32, kPairs = kGroup / 2, kGroupBlocks = kGroup / 4;
PENSTOCK_INLINE uint64_t block_of(uint64_t e) { return e / kGroup * kGroupBlocks + e % kPairs / 2; }
PENSTOCK_INLINE int word_of(uint64_t e) { return static_cast<int>(e % 2 * 2 + e / kPairs % 2); }
// Blocks of an element's own; `attempt` from 1 on.
PENSTOCK_INLINE uint64_t own_block(uint64_t e, uint64_t attempt) { return attempt << 48 | e; }

// Philox blocks whose numbers have the same upper half. What the first two rounds have in common is computed once.
struct Blocks {
  uint32_t key0, key1, first0, second0, second1, second2;

  PENSTOCK_HD Blocks(const RandomStream& s, uint32_t upper) : key0(s.key0), key1(s.key1) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * static_cast<uint32_t>(s.sample);
    const uint32_t word2 = static_cast<uint32_t>(p0 >> 32) ^ upper ^ key1;
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * word2;
    first0 = static_cast<uint32_t>(s.sample >> 32) ^ key0;
    second0 = static_cast<uint32_t>(p1 >> 32) ^ (key0 + 0x9E3779B9u);
    second1 = static_cast<uint32_t>(p1);
    second2 = static_cast<uint32_t>(p0) ^ (key1 + 0xBB67AE85u);
  }
  PENSTOCK_HD PhiloxBlock operator()(uint32_t lower) const {
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * lower;
    const uint64_t p0 = uint64_t{0xD2511F53u} * (static_cast<uint32_t>(p1 >> 32) ^ first0);
    PhiloxBlock b{{static_cast<uint32_t>(p1) ^ second0, second1, static_cast<uint32_t>(p0 >> 32) ^ second2,
                   static_cast<uint32_t>(p0)}};
    for (uint32_t round = 2; round < 10; ++round) {
      const uint64_t p = uint64_t{0xD2511F53u} * b.word[0], q = uint64_t{0xCD9E8D57u} * b.word[2];
      b = {{static_cast<uint32_t>(q >> 32) ^ b.word[1] ^ (key0 + round * 0x9E3779B9u), static_cast<uint32_t>(q),
            static_cast<uint32_t>(p >> 32) ^ b.word[3] ^ (key1 + round * 0xBB67AE85u), static_cast<uint32_t>(p)}};
    }
    return b;
  }
};

// The square root, rounded as IEEE 754 says, of a number from 2^-100 to 2^100.
PENSTOCK_INLINE float near_sqrt(float v) {
#ifdef __CUDA_ARCH__
  float y;  // what the compiler makes of __fsqrt_rn, without the branch for other numbers
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v));
  const float root = v * y;
  return fma(fma(-root, root, v), y * 0.5f, root);
#else
  return sqrt(v);
#endif
}
PENSTOCK_INLINE float lower_of(float a, float b) { return PENSTOCK_EXACT(::fminf(a, b), b < a ? b : a); }
// The distance of a normal pair from 0: sqrt(-2 log u), u = (word + 1/2) / 2^32; at most 6.76.
PENSTOCK_INLINE float radius_of(uint32_t word) {
  // u, or u - 1 where that is nearer to 0: both ends keep their digits.
  const float x = fma(static_cast<float>(static_cast<int32_t>(word)), 0x1p-32f, 0x1p-33f);
  const uint32_t bits = std::bit_cast<uint32_t>(x), below_one = bits < 0x3F800000u ? bits : 0x3F800000u;
  // u = 2^e (1 + f), -1/2 < f <= 0; e and f are 0 if x < 0.
  const uint32_t e = (below_one - 0x3F000001u) & 0xFF800000u;
  const float f = lower_of(std::bit_cast<float>(below_one - e) - 1.0f, x);
  // -2 log(1 + f) / f. The error is 2^-22.6 of the logarithm.
  float p = fma(f, 2.36986322f, 2.16308013f);
  p = fma(p, f, 1.57086132f), p = fma(p, f, -0.0760366007f), p = fma(p, f, 0.54450094f);
  p = fma(p, f, -0.663725258f), p = fma(p, f, 1.00007309f), p = fma(p, f, -1.9999997f);
  return near_sqrt(fma(p, f, static_cast<float>(static_cast<int32_t>(e)) * -0x1.62e43p-23f));
}
// Two independent normal numbers. The word says where on a half circle they are; its last bit says which half.
PENSTOCK_INLINE void normal_pair(uint32_t radius, uint32_t turn, float& first, float& second) {
  const float x = static_cast<float>(static_cast<int32_t>(turn)) * 0x1p-32f, q = x * x;  // in half turns
  float c = fma(q, 0.219696971f, -1.33188026f);
  c = fma(c, q, 4.05841193f), c = fma(c, q, -4.93479286f), c = fma(c, q, 0.999999953f);
  float s = fma(q, 0.0775604405f, -0.598242158f);
  s = fma(s, q, 2.55006973f), s = fma(s, q, -5.16770969f), s = fma(s, q, 3.14159264f);
  const float r = std::bit_cast<float>(std::bit_cast<uint32_t>(radius_of(radius)) ^ turn << 31);
  first = c * r, second = x * s * r;
}

// The normal number of element e, of the same words in both types.
PENSTOCK_INLINE float normal_of(const RandomStream& stream, uint64_t e, float) {
  const PhiloxBlock b = stream.block(block_of(e));
  const int pair = static_cast<int>(e % 2) * 2;
  float first, second;
  normal_pair(b.word[pair], b.word[pair + 1], first, second);
  return e / kPairs % 2 ? second : first;
}
PENSTOCK_INLINE double normal_of(const RandomStream& stream, uint64_t e, double) {
  const PhiloxBlock b = stream.block(block_of(e));
  const int pair = static_cast<int>(e % 2) * 2;
  const double r = sqrt(-2.0 * log((b.word[pair] + 0.5) * 0x1p-32)) * (b.word[pair + 1] & 1 ? -1.0 : 1.0);
  const double angle = static_cast<int32_t>(b.word[pair + 1]) * (0x1p-32 * kPi);
  return r * (e / kPairs % 2 ? sin(angle) : cos(angle));
}
PENSTOCK_INLINE uint32_t word_at(const RandomStream& stream, uint64_t e) {
  return stream.block(block_of(e)).word[word_of(e)];
}

}  // namespace penstock::field
