// SPDX-License-Identifier: Apache-2.0
// Bytes to elements by a table of 256, on the host.
#pragma once
#include <cstdint>
#include <cstring>

#include "base/target.h"

namespace penstock {

// out[i] = table[in[i]]. Elements of any type: their bytes are copied.
template <class Word> void look_up_words(const uint8_t* in, Word* out, int64_t n, const Word* table) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, in + i, sizeof eight);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) out[i + k] = table[eight >> (8 * k) & 255];
  }
  for (; i < n; ++i) out[i] = table[in[i]];
}
// The same for bytes, by vectors; out may be in.
void look_up_bytes(Target target, const uint8_t* in, uint8_t* out, int64_t n, const uint8_t* table);

}  // namespace penstock
