// SPDX-License-Identifier: Apache-2.0
// Runs of bytes at any address, as words.
#pragma once
#include "cuda/kernels/bytes.h"

namespace penstock {
// 4 n bytes from q, at any address, as n + 1 words; the first `shift` bits come before q. `inside`: the image has at
// least four more bytes after them. It ends before `end`.
template <int n> __device__ inline void words_from(const uint8_t* q, bool inside, const uint8_t* end,
                                                   uint32_t (&to)[n + 1], int& shift) {
  if (inside) {
    const int low = static_cast<int>(reinterpret_cast<uint64_t>(q) & 3);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(q - low);
    PENSTOCK_UNROLL
    for (int k = 0; k <= n; ++k) to[k] = words[k];
    shift = 8 * low;
  } else {
    for (int k = 0; k < n; ++k)
      to[k] = bytes_of(q + 4 * k, 0, end - q - 4 * k < 4 ? static_cast<int>(end - q - 4 * k) : 4);
    shift = 0;
  }
}
}  // namespace penstock
