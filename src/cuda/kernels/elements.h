// SPDX-License-Identifier: Apache-2.0
// One dense row: a thread takes neighbors as vectors if the addresses allow it, several vectors in flight.
#pragma once
#include "cuda/kernels/byte_words.h"
#include "cuda/kernels/stage_block.h"

namespace penstock {

template <class T, int n> struct alignas(sizeof(T) * n > 16 ? 16 : sizeof(T) * n) Pack {
  T v[n];
};

// Vectors of nothing but bytes are words.
template <class Stage, int k = 0> constexpr bool has_bytes() {
  if constexpr (k == Stage::kRow.inputs) return true;
  else return std::is_same_v<typename Stage::template In<k>, uint8_t> && has_bytes<Stage, k + 1>();
}
template <class Stage, int n> constexpr bool has_words() { return n == 16 && kMakesWords<Stage> && has_bytes<Stage>(); }
using FourWordsOfBytes = Pack<uint32_t, 4>;

template <bool words, class T, int n> struct VectorOf {
  typedef Pack<T, n> Type;
};
template <class T, int n> struct VectorOf<true, T, n> {
  typedef FourWordsOfBytes Type;
};

template <class Stage, int n, int in_flight> struct ElementsOf {
  template <class T> struct Packs {
    typedef typename VectorOf<has_words<Stage, n>(), T, n>::Type Vector;
    Vector v[in_flight];
  };
};
// load(input, word) gives a word of an input.
template <class Stage, class Load>
__device__ inline FourWordsOfBytes results_of_words(const typename Stage::Coefs& coefs, int32_t* fault,
                                                    const Load& load) {
  FourWordsOfBytes y;
  PENSTOCK_UNROLL
  for (int w = 0; w < 4; ++w) {
    float made[4];
    PENSTOCK_UNROLL
    for (int e = 0; e < 4; ++e) {
      float one[1];
      Stage::apply(coefs, [&](auto k, int) { return ByteOfWord{load(k, w), e}; }, one, fault, true);
      made[e] = one[0];
    }
    y.v[w] = word_of<false>(made);
  }
  return y;
}

template <class Stage, int n, int in_flight> __device__ inline void elements(const char* table) {
  using Index = typename Stage::Index;
  using Out = typename Stage::Out;
  using Results = Pack<Out, n>;
  constexpr int kInputs = Stage::kRow.inputs;
  const StageBlock<Stage> b(table);
  const typename Stage::Coefs coefs(b.coefs + b.row.head().coefs);
  const Out* results = shared_results(b, coefs);
  const auto make = [&](const auto& load) -> Out {
    if constexpr (Stage::kTable) {
      return results[load(Known<0>(), 0)];
    } else if constexpr (Stage::kCopies) {
      return load(Known<0>(), 0);
    } else {
      typename Stage::Number made[1];
      Stage::apply(coefs, load, made, b.fault, true);
      return element_of<typename Stage::Number, Out>(made[0]);
    }
  };
  uint64_t past = reinterpret_cast<uint64_t>(b.out) & (alignof(Results) - 1);
  for_each_input<kInputs>([&](auto k) {
    const auto* in = value_of<k.value>(b.in);
    past |= reinterpret_cast<uint64_t>(in) & (alignof(Pack<typename Stage::template In<k.value>, n>) - 1);
  });
  const bool aligned = past == 0;
  const Index hop = n * static_cast<Index>(blockDim.x);
  for (Index i = b.begin + n * static_cast<Index>(threadIdx.x); i < b.end; i += in_flight * hop) {
    if (aligned && i + (in_flight - 1) * hop + n <= b.end) {
      typename Stage::template OfInputs<ElementsOf<Stage, n, in_flight>::template Packs> x;
      for_each_input<kInputs>([&](auto k) {
        using Packs = typename ElementsOf<Stage, n, in_flight>::template Packs<typename Stage::template In<k.value>>;
        using Vector = typename Packs::Vector;
        PENSTOCK_UNROLL
        for (int u = 0; u < in_flight; ++u)
          value_of<k.value>(x).v[u] = *reinterpret_cast<const Vector*>(value_of<k.value>(b.in) + i + u * hop);
      });
      PENSTOCK_UNROLL
      for (int u = 0; u < in_flight; ++u) {
        if constexpr (has_words<Stage, n>()) {
          *reinterpret_cast<FourWordsOfBytes*>(b.out + i + u * hop) =
              results_of_words<Stage>(coefs, b.fault, [&](auto k, int w) { return value_of<k.value>(x).v[u].v[w]; });
        } else {
          Results y;
          PENSTOCK_UNROLL
          for (int e = 0; e < n; ++e) y.v[e] = make([&](auto k, int) { return value_of<k.value>(x).v[u].v[e]; });
          *reinterpret_cast<Results*>(b.out + i + u * hop) = y;
        }
      }
    } else {
      for (int u = 0; u < in_flight; ++u)
        for (Index e = i + u * hop; e < i + u * hop + n && e < b.end; ++e)
          b.out[e] = make([&](auto k, int) { return value_of<k.value>(b.in)[e]; });
    }
  }
}

}  // namespace penstock
