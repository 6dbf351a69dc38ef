// SPDX-License-Identifier: Apache-2.0
// Huffman tables made for look-ups by the next kLookBits bits of the stream. Zero means a longer code: `longer` is
// indexed by the 16 next bits less the first long code, and codes behind that are searched canonically. A symbol is
//   in `decode` (16 bits): 0-4 bits of the code, 5-8 bits of the value, 9-15 advance in zigzag order (64: end of block,
//   65: no such code)
//   in `scan` (32 bits): 0-4 all bits and 16-22 advance of one symbol or two; 8-12 and 24-30 the same of the first alone.
#pragma once
#include "cuda/jpeg/device.h"

namespace penstock::jpeg_gpu {

constexpr uint32_t kPairMask = 0x007F001F;
constexpr uint32_t kInvalidSymbol = 16 | 65 << 9;

PENSTOCK_DEVICE uint32_t symbol_of(uint32_t length, uint32_t value, bool dc) {
  const uint32_t size = dc ? value & 15 : value & 15, run = dc ? 0 : value >> 4;
  if (dc && value > 11) return kInvalidSymbol;
  const uint32_t advance = !dc && size == 0 && run != 15 ? 64 : run + 1;
  return length | size << 5 | advance << 9;
}
PENSTOCK_DEVICE uint32_t bits_of(uint32_t symbol) { return (symbol & 31) + (symbol >> 5 & 15); }
PENSTOCK_DEVICE uint32_t one_of(uint32_t symbol) { return bits_of(symbol) | (symbol >> 9) << 16; }

// The symbol whose code of at least `from` bits the 16 bits begin with.
PENSTOCK_DEVICE uint32_t search_code(const LongCodes* codes, uint32_t next, uint32_t from, bool dc) {
  uint32_t length = from;
  while (length <= 16 && next >= codes->limit[length]) ++length;
  if (length > 16) return kInvalidSymbol;
  const uint32_t k = ((next >> (16 - length)) + codes->delta[length]) & 255;
  return symbol_of(length, codes->values[k >> 2] >> (8 * (k & 3)) & 255, dc);
}

struct LongTables {
  const uint16_t* longer;
  const LongCodes* codes;
};
PENSTOCK_DEVICE uint32_t look_further(const LongTables& t, uint32_t table, uint32_t next) {
  const uint32_t i = next - t.longer[table * kLongLookups + kLongLookups - 1];
  return i < kLongLookups - 1 ? t.longer[table * kLongLookups + i] : search_code(t.codes + table, next, kLookBits + 1, table < 2);
}

// One block makes one set.
PENSTOCK_DEVICE void build_tables(const BatchTable& b, uint32_t set) {
  __shared__ uint16_t symbols[4 * kLookups];
  __shared__ LongCodes codes[4];
  const TableSpec& spec = b.specs[set];
  TableSet& to = b.tables[set];
  const uint32_t t = threadIdx.x;
  for (uint32_t i = t; i < 4 * 64; i += kThreads) {
    uint32_t four = 0;
    for (uint32_t k = 0; k < 4; ++k) four |= static_cast<uint32_t>(spec.values[i / 64][i % 64 * 4 + k]) << (8 * k);
    codes[i / 64].values[i % 64] = four;
  }
  if (t < 4) {
    uint32_t code = 0, k = 0;
    codes[t].limit[0] = codes[t].delta[0] = 0;
    for (uint32_t l = 1; l <= 16; ++l) {
      codes[t].delta[l] = k - code;
      code += spec.counts[t][l - 1];
      k += spec.counts[t][l - 1];
      codes[t].limit[l] = code << (16 - l);
      code <<= 1;
    }
  }
  __syncthreads();
  for (uint32_t i = t; i < 4 * kLookups; i += kThreads) {
    const uint32_t table = i / kLookups, next = i % kLookups << (16 - kLookBits);
    const LongCodes* c = codes + table;
    uint32_t s = kInvalidSymbol;
    if (next < c->limit[kLookBits]) s = search_code(c, next, 1, table < 2);
    else if (next < c->limit[16]) s = 0;
    symbols[i] = static_cast<uint16_t>(s);
    to.decode[i] = static_cast<uint16_t>(s);
  }
  for (uint32_t i = t; i < 4 * kLongLookups; i += kThreads) {
    const uint32_t table = i / kLongLookups, first = codes[table].limit[kLookBits], next = first + i % kLongLookups;
    const bool last = i % kLongLookups == kLongLookups - 1;
    to.longer[i] = static_cast<uint16_t>(last           ? first
                                         : next < 65536 ? search_code(codes + table, next, kLookBits + 1, table < 2)
                                                        : kInvalidSymbol);
  }
  const auto* from = reinterpret_cast<const uint32_t*>(codes);
  auto* kept = reinterpret_cast<uint32_t*>(to.codes);
  for (uint32_t i = t; i < sizeof codes / 4; i += kThreads) kept[i] = from[i];
  __syncthreads();
  for (uint32_t i = t; i < 4 * kLookups; i += kThreads) {
    const uint32_t e = symbols[i], one = one_of(e), length = bits_of(e);
    uint32_t all = one;
    if (i >= 2 * kLookups && e && e >> 9 < 64 && length < kLookBits) {  // do the index's bits hold a second AC symbol?
      const uint32_t f = symbols[(i & ~(kLookups - 1)) | (i << length & (kLookups - 1))];
      if (f && f >> 9 != 65 && length + bits_of(f) <= kLookBits) all = one + one_of(f);
    }
    to.scan[i] = e ? one << 8 | all : 0;
  }
}

}  // namespace penstock::jpeg_gpu
