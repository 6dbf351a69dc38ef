// SPDX-License-Identifier: Apache-2.0
// Huffman tables for look-ups by the next bits of the stream. A symbol is
//   in `decode` (16 bits): 0-4 bits of the code, 5-8 bits of the value, 9-15 advance in zigzag order (64: end of block,
//   65: no such code)
//   in `scan` (32 bits), one to three symbols whose codes are in the index: 0-4 all bits and 16-22 advance of all of
//   them; 11-14 and 27-31 the same for all but the last one, 7-10 and 23-26 for the first alone if others follow it.
// Zero means that not even the long look-ups contain the code; it is then searched.
#pragma once
#include "cuda/jpeg/device.h"

namespace penstock::jpeg_gpu {

constexpr uint32_t kAllMask = 0x007F001F;
constexpr uint32_t kInvalidSymbol = 16 | 65 << 9;

PENSTOCK_DEVICE uint32_t symbol_of(uint32_t length, uint32_t value, bool dc) {
  const uint32_t size = value & 15, run = dc ? 0 : value >> 4;
  if (dc && value > 11) return kInvalidSymbol;
  const uint32_t advance = !dc && size == 0 && run != 15 ? 64 : run + 1;
  return length | size << 5 | advance << 9;
}
PENSTOCK_DEVICE uint32_t bits_of(uint32_t symbol) { return (symbol & 31) + (symbol >> 5 & 15); }
// Bits and advance, in the form of a look-up for scanning for all its symbols.
PENSTOCK_DEVICE uint32_t one_of(uint32_t symbol) { return bits_of(symbol) | (symbol >> 9) << 16; }
PENSTOCK_DEVICE uint32_t first_of(uint32_t scanned) { return scanned >> 7 & 0x000F000F; }
PENSTOCK_DEVICE uint32_t but_last_of(uint32_t scanned) { return scanned >> 11 & 0x001F000F; }

PENSTOCK_DEVICE uint32_t symbol_at(const LongCodes* codes, uint32_t next, uint32_t length, bool dc) {
  if (length > 16) return kInvalidSymbol;
  const uint32_t k = ((next >> (16 - length)) + codes->delta[length]) & 255;
  return symbol_of(length, codes->values[k >> 2] >> (8 * (k & 3)) & 255, dc);
}
// The symbol of the code of at least `from` bits with which the 16 bits begin.
PENSTOCK_DEVICE uint32_t search_code(const LongCodes* codes, uint32_t next, uint32_t from, bool dc) {
  uint32_t length = from;
  while (length <= 16 && next >= codes->limit[length]) ++length;
  return symbol_at(codes, next, length, dc);
}
// For any length, without a chain of comparisons that wait for each other.
PENSTOCK_DEVICE uint32_t find_code(const LongCodes* codes, uint32_t next, bool dc) {
  uint32_t length = 1;
  PENSTOCK_UNROLL
  for (uint32_t l = 1; l <= 16; ++l) length += next >= codes->limit[l];
  return symbol_at(codes, next, length, dc);
}

// The index of the next 32 bits in a table for kBits bits.
template <uint32_t kBits> PENSTOCK_DEVICE uint32_t index_of(uint32_t window, const LongRange& range) {
#ifdef __CUDA_ARCH__
  uint32_t index;
  asm("{ .reg .pred p; .reg .b32 d; setp.ge.u32 p, %1, %2; sub.u32 d, %1, %2; shr.u32 d, d, %3; shr.u32 %0, %1, %4;"
      " @p add.u32 %0, d, %5; }"
      : "=&r"(index)
      : "r"(window), "r"(range.from), "r"(range.shift), "n"(32 - kBits), "n"(1u << kBits));
  return index;
#else
  return window >= range.from ? ((window - range.from) >> range.shift) + (1u << kBits) : window >> (32 - kBits);
#endif
}

// All prefixes of codes of more than `bits` bits in any table must be in the long look-ups, with all 16 bits if there
// is room.
PENSTOCK_DEVICE LongRange range_of(const LongCodes* codes, uint32_t bits) {
  uint32_t from = 0xFFFF, drop = 0;
  for (uint32_t t = 0; t < 4; ++t) from = umin(from, codes[t].limit[bits]);
  while ((0xFFFF >> drop) - (from >> drop) >= kLongLookups) ++drop;
  return {from >> drop << (16 + drop), 16 + drop};
}

// One block makes one set.
PENSTOCK_DEVICE void build_tables(const BatchTable& b, uint32_t set) {
  __shared__ uint16_t symbols[4 << kScanBits];
  __shared__ LongCodes codes[4];
  __shared__ LongRange ranges[2];
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
  // Longer codes are omitted: the range of long look-ups contains them.
  for (uint32_t i = t; i < 4u << kScanBits; i += kThreads) {
    const uint32_t table = i >> kScanBits, s = find_code(codes + table, i << (16 - kScanBits) & 0xFFFF, table < 2);
    symbols[i] = static_cast<uint16_t>((s & 31) > kScanBits && s != kInvalidSymbol ? 0 : s);
  }
  if (t < 2) {
    ranges[t] = range_of(codes, t ? kLookBits : kScanBits);
    (t ? to.decode_long : to.scan_long) = ranges[t];
  }
  for (uint32_t i = t; i < 4 * sizeof(LongCodes) / 4; i += kThreads)
    reinterpret_cast<uint32_t*>(to.codes)[i] = reinterpret_cast<const uint32_t*>(codes)[i];
  __syncthreads();
  for (uint32_t i = t; i < 8 * kLongLookups; i += kThreads) {
    const uint32_t k = i % kLongLookups, table = i / kLongLookups & 3, decode = i / (4 * kLongLookups);
    const uint32_t shift = ranges[decode].shift, next = (ranges[decode].from >> 16) + (k << (shift - 16));
    uint32_t s = 0;
    if (next <= 0xFFFF) {
      s = find_code(codes + table, next, table < 2);
      if ((s & 31) + shift > 32) s = 0;  // its code may be longer than the part in the index
    }
    if (decode) to.decode[table * kLookTable + (1u << kLookBits) + k] = static_cast<uint16_t>(s);
    else to.scan[table * kScanTable + (1u << kScanBits) + k] = s ? one_of(s) : 0;
  }
  for (uint32_t i = t; i < 4u << kLookBits; i += kThreads) {
    const uint32_t table = i >> kLookBits, s = symbols[i << (kScanBits - kLookBits)];
    to.decode[table * kLookTable + (i & ((1u << kLookBits) - 1))] = static_cast<uint16_t>(s);
  }
  for (uint32_t i = t; i < 4u << kScanBits; i += kThreads) {
    const uint32_t table = i >> kScanBits, last = (1u << kScanBits) - 1;
    uint32_t s = symbols[i], all = one_of(s), but_last = 0;
    // More of them, if these are AC symbols whose codes are in the index, and their fields fit.
    const uint32_t first = all;
    for (uint32_t k = 0; k < 2 && table >= 2 && s && s >> 9 < 64 && (all & 31) < kScanBits; ++k) {
      s = symbols[(i & ~last) | (i << (all & 31) & last)];
      if (!s || s >> 9 == 65 || (all & 31) + (s & 31) > kScanBits || first >> 16 > 15 || all >> 16 > 31) break;
      but_last = all;
      all += one_of(s);
    }
    const uint32_t made = but_last ? all | first << 7 | but_last << 11 : all;
    to.scan[table * kScanTable + (i & last)] = symbols[i] ? made : 0;
  }
}

}  // namespace penstock::jpeg_gpu
