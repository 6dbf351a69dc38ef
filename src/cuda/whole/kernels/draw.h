// SPDX-License-Identifier: Apache-2.0
// Random numbers: each thread takes a block of bits, in the same order as on the host.
#pragma once
#include <cstdint>

#include "cuda/whole/kernels/entry.h"
#include "pixel/philox.h"
#include "pixel/stored.h"

namespace penstock::whole {

struct DrawRow {
  void* out;
  int64_t elements;
  RandomStream stream;
  InData<char> coef;
};
static_assert(sizeof(DrawRow) == 40);

// Units of work are blocks of bits. Rule: Coef, and number(bits, k, coef): element k of the `count` that a block gives.
template <class Out, int count, class Rule> PENSTOCK_KERNEL void draw(const Entry<DrawRow>& e) {
  struct alignas(sizeof(Out) * count > 16 ? 16 : sizeof(Out) * count) Numbers {
    Out v[count];
  };
  Out* out = static_cast<Out*>(e.row.out);
  const int64_t n = e.row.elements;
  const RandomStream stream = e.row.stream;
  const auto& coef = *reinterpret_cast<const typename Rule::Coef*>(e.at(e.row.coef));
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const PhiloxBlock b = stream.block(static_cast<uint64_t>(i));
    Numbers r;
    PENSTOCK_UNROLL
    for (int k = 0; k < count; ++k) r.v[k] = stored<Out>(static_cast<double>(Rule::number(b, k, coef)));
    Out* to = out + i * count;
    if (i * count + count <= n && (reinterpret_cast<uint64_t>(to) & (alignof(Numbers) - 1)) == 0) {
      *reinterpret_cast<Numbers*>(to) = r;
    } else {
      for (int k = 0; k < count && i * count + k < n; ++k) to[k] = r.v[k];
    }
  }
}

}  // namespace penstock::whole
