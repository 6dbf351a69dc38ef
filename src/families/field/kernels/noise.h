// SPDX-License-Identifier: Apache-2.0
// The family's kernels. They give what the twin gives (twin.h).
#pragma once
#include "families/field/kernels/twin.h"
#include "launch/entry.h"

namespace penstock::field {

template <class Coef> struct Row {
  const void* in;
  void* out;
  int64_t n;
  RandomStream stream;
  Coef coef;
};

// As Row; positions have one word each, and those whose word is at most `last` get another value.
template <class Coef> struct ReplaceRow {
  const void* in;
  void* out;
  Positions positions;
  RandomStream stream;
  uint32_t last;
  Coef coef;
};

// What a thread makes at once: a group of bytes, or one block of wider elements, so that neighbors read neighbors.
template <class T> constexpr bool group_at_once = sizeof(T) == 1;
constexpr int64_t units_of(int64_t n, bool groups) {
  const int64_t all = (n + kGroup - 1) / kGroup;
  return groups ? all : all * kGroupBlocks;
}
struct Place {
  int64_t first, end;  // elements; of a block also those between its two pairs
  uint64_t block;
};
PENSTOCK_KERNEL Place place_of(int64_t unit, bool groups) {
  if (groups) return {unit * kGroup, (unit + 1) * kGroup, static_cast<uint64_t>(unit) * kGroupBlocks};
  const int64_t first = unit / kGroupBlocks * kGroup + unit % kGroupBlocks * 2;
  return {first, first + kPairs + 2, static_cast<uint64_t>(unit)};
}
template <class F> PENSTOCK_KERNEL void each_element(const Place& p, bool groups, int64_t n, const F& f) {
  if (groups) {
    PENSTOCK_UNROLL_BY(1)
    for (int64_t i = p.first; i < p.end && i < n; ++i) f(i);
  } else {
    PENSTOCK_UNROLL_BY(1)
    for (int k = 0; k < 4; ++k)
      if (const int64_t i = p.first + k % 2 + k / 2 * kPairs; i < n) f(i);
  }
}

template <class T, int n> struct alignas(sizeof(T) * n) Several {
  T v[n];
};

// A byte of a word, as an element of T.
template <class T> PENSTOCK_KERNEL float number_in(uint32_t word, int k) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, uint8_t>)  // without a conversion: they are slow
    return __uint_as_float(__byte_perm(word, 0x4B000000u, 0x7440 | k)) - 8388608.0f;
#endif
  return static_cast<float>(static_cast<T>(word >> (8 * k)));
}
template <class T> PENSTOCK_KERNEL uint32_t packed(float a, float b, float c, float d) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 720
  if constexpr (std::is_same_v<T, uint8_t>) {
    uint32_t upper, all;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(upper)
        : "r"(__float2int_rn(d)), "r"(__float2int_rn(c)), "r"(0));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(all)
        : "r"(__float2int_rn(b)), "r"(__float2int_rn(a)), "r"(upper));
    return all;
  }
#endif
  const auto byte = [](float v, int k) { return uint32_t{static_cast<uint8_t>(stored<T>(v))} << (8 * k); };
  return byte(a, 0) | byte(b, 1) | byte(c, 2) | byte(d, 3);
}

// ---- Normal numbers.

// A group of bytes: a thread has all of its blocks.
template <class T, class Rule>
PENSTOCK_KERNEL void noisy_group(const T* in, T* out, const Blocks& blocks, uint32_t block,
                                 const typename Rule::Coef& coef) {
  using Words = Several<uint32_t, 4>;
  const Words from[2] = {reinterpret_cast<const Words*>(in)[0], reinterpret_cast<const Words*>(in)[1]};
  Words to[2];
  PENSTOCK_UNROLL
  for (int k = 0; k < 4; ++k) {
    float z[2][4];
    PENSTOCK_UNROLL
    for (int i = 0; i < 2; ++i) {
      const PhiloxBlock b = blocks(block + static_cast<uint32_t>(2 * k + i));
      normal_pair(b.word[0], b.word[1], z[0][2 * i], z[1][2 * i]);
      normal_pair(b.word[2], b.word[3], z[0][2 * i + 1], z[1][2 * i + 1]);
    }
    PENSTOCK_UNROLL
    for (int half = 0; half < 2; ++half) {
      const auto noisy = [&](int i) {
        return Rule::template noisy<float>(number_in<T>(from[half].v[k], i), z[half][i], coef);
      };
      to[half].v[k] = packed<T>(noisy(0), noisy(1), noisy(2), noisy(3));
    }
  }
  reinterpret_cast<Words*>(out)[0] = to[0], reinterpret_cast<Words*>(out)[1] = to[1];
}
// A block of a group: elements `first`, first + 1, and those 16 places after them.
template <class T, class Rule>
PENSTOCK_KERNEL void noisy_block(const T* in, T* out, const Blocks& blocks, uint32_t block,
                                 const typename Rule::Coef& coef) {
  using Pair = Several<T, 2>;
  const Pair from[2] = {*reinterpret_cast<const Pair*>(in), *reinterpret_cast<const Pair*>(in + kPairs)};
  Pair to[2];
  float z[2][2];
  const PhiloxBlock b = blocks(block);
  normal_pair(b.word[0], b.word[1], z[0][0], z[1][0]);
  normal_pair(b.word[2], b.word[3], z[0][1], z[1][1]);
  PENSTOCK_UNROLL
  for (int half = 0; half < 2; ++half) {
    PENSTOCK_UNROLL
    for (int i = 0; i < 2; ++i)
      to[half].v[i] = stored<T>(Rule::template noisy<float>(static_cast<float>(from[half].v[i]), z[half][i], coef));
    *reinterpret_cast<Pair*>(out + half * kPairs) = to[half];
  }
}
// Units of work: those of units_of(n, group_at_once<T>).
template <class T, class Rule> PENSTOCK_KERNEL void add_normals(const whole::Entry<Row<typename Rule::Coef>>& e) {
  using V = NumberOf<T>;
  const Row<typename Rule::Coef> r = e.row;  // a copy: what a kernel writes might be its row
  const T* const in = static_cast<const T*>(r.in);
  T* const out = static_cast<T*>(r.out);
  constexpr bool kGroups = group_at_once<T>, kBlocks = std::is_same_v<V, float>;
  constexpr uint64_t kAligned = kGroups ? 16 : 2 * sizeof(T);
  const bool aligned = (reinterpret_cast<uint64_t>(in) | reinterpret_cast<uint64_t>(out)) % kAligned == 0;
  const Blocks near(r.stream, 0);
  for (int64_t unit = e.begin + whole::thread(); unit < e.end; unit += whole::threads()) {
    const Place p = place_of(unit, kGroups);
    if (aligned && p.end <= r.n && kBlocks) {
      const auto upper = static_cast<uint32_t>(p.block >> 32), lower = static_cast<uint32_t>(p.block);
      const Blocks blocks = upper == 0 ? near : Blocks(r.stream, upper);
      if constexpr (kGroups) noisy_group<T, Rule>(in + p.first, out + p.first, blocks, lower, r.coef);
      else if constexpr (kBlocks) noisy_block<T, Rule>(in + p.first, out + p.first, blocks, lower, r.coef);
      continue;
    }
    each_element(p, kGroups, r.n, [&](int64_t i) { out[i] = with_normal<T, Rule>(in[i], r.stream, i, r.coef); });
  }
}

// ---- Counts.

// Units of work: those of units_of(n, false).
template <class T, class Rule> PENSTOCK_KERNEL void add_counts(const whole::Entry<Row<typename Rule::Coef>>& e) {
  const Row<typename Rule::Coef> r = e.row;
  const T* const in = static_cast<const T*>(r.in);
  T* const out = static_cast<T*>(r.out);
  for (int64_t unit = e.begin + whole::thread(); unit < e.end; unit += whole::threads()) {
    const Place p = place_of(unit, false);
    const PhiloxBlock b = r.stream.block(p.block);
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k) {  // in the order of the words
      const int64_t i = p.first + k / 2 + k % 2 * kPairs;
      if (i < r.n) out[i] = with_count<T, Rule>(in[i], b.word[k], r.stream, i, r.coef);
    }
  }
}

// ---- Replacement.

// The bytes of a group of positions, whose channels are next to each other.
template <class T, int channels, class Rule>
PENSTOCK_KERNEL void replaced_group(const T* in, T* out, const Blocks& blocks, uint32_t block, uint32_t last,
                                    const typename Rule::Coef& coef) {
  using Words = Several<uint32_t, 4>;
  constexpr int kWords = kGroup * channels / 16, kHalf = kWords / 2;
  Words at[kWords];
  PENSTOCK_UNROLL
  for (int k = 0; k < kWords; ++k) at[k] = reinterpret_cast<const Words*>(in)[k];
  const auto put = [&](int position, uint32_t word) {
    if (word > last) return;
    const uint32_t value = static_cast<uint8_t>(stored<T>(Rule::value(word, coef)));
    PENSTOCK_UNROLL
    for (int c = 0; c < channels; ++c) {
      const int byte = position * channels + c;
      uint32_t& v = at[byte / 16].v[byte / 4 % 4];
      v = (v & ~(255u << (byte % 4 * 8))) | value << (byte % 4 * 8);
    }
  };
  PENSTOCK_UNROLL
  for (int k = 0; k < kGroupBlocks; ++k) {
    const PhiloxBlock b = blocks(block + static_cast<uint32_t>(k));
    put(2 * k, b.word[0]), put(2 * k + kPairs, b.word[1]), put(2 * k + 1, b.word[2]),
        put(2 * k + 1 + kPairs, b.word[3]);
  }
  PENSTOCK_UNROLL
  for (int k = 0; k < kWords; ++k) reinterpret_cast<Words*>(out)[k] = at[k];
  static_assert(kHalf > 0);
}
// Units of work: those of units_of(positions, group_at_once<T> && channels). `channels`: those of bytes next to each
// other, or 0 for any.
template <class T, int channels, class Rule>
PENSTOCK_KERNEL void replace(const whole::Entry<ReplaceRow<typename Rule::Coef>>& e) {
  const ReplaceRow<typename Rule::Coef> r = e.row;
  const T* const in = static_cast<const T*>(r.in);
  T* const out = static_cast<T*>(r.out);
  constexpr bool kGroups = group_at_once<T> && channels != 0;
  const bool aligned = (reinterpret_cast<uint64_t>(in) | reinterpret_cast<uint64_t>(out)) % 16 == 0;
  const Blocks near(r.stream, 0);
  for (int64_t unit = e.begin + whole::thread(); unit < e.end; unit += whole::threads()) {
    const Place p = place_of(unit, kGroups);
    if (kGroups && aligned && p.end <= r.positions.count) {
      const auto upper = static_cast<uint32_t>(p.block >> 32), lower = static_cast<uint32_t>(p.block);
      const Blocks blocks = upper == 0 ? near : Blocks(r.stream, upper);
      if constexpr (kGroups)
        replaced_group<T, channels, Rule>(in + p.first * channels, out + p.first * channels, blocks, lower, r.last,
                                          r.coef);
      continue;
    }
    each_element(p, kGroups, r.positions.count, [&](int64_t i) {
      replace_position<T, Rule>(in, out, r.positions, i, word_at(r.stream, i), r.last, r.coef);
    });
  }
}

}  // namespace penstock::field
