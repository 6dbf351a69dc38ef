// SPDX-License-Identifier: Apache-2.0
// Walking over entropy-coded data without output: where do blocks start?
#pragma once
#include "cuda/jpeg/huffman_lookup.h"

namespace penstock::jpeg_gpu {

// Three words of the stream: two are the window, one is on its way. One predicate moves all of them, and the load goes
// straight to its register, so that nothing waits for it before the next step.
struct WordWindow {
  const uint32_t* base;
  uint32_t next, w0, w1, w2;
  PENSTOCK_DEVICE void seek(const uint32_t* words, uint32_t word, uint32_t bit) {
    base = words;
    next = word + (bit >> 5);
    w0 = base[next];
    w1 = base[next + 1];
    w2 = base[next + 2];
    next += 3;
  }
  PENSTOCK_DEVICE uint32_t window(uint32_t bit) const { return funnel(w0, w1, bit); }
  PENSTOCK_DEVICE void advance_if(uint32_t go) {
#ifdef __CUDA_ARCH__
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %5, 0; @p mov.b32 %0, %1; @p mov.b32 %1, %2; @p ld.global.nc.u32 %2, [%4];"
        " @p add.u32 %3, %3, 1; }"
        : "+r"(w0), "+r"(w1), "+r"(w2), "+r"(next)
        : "l"(base + next), "r"(go));
#else
    if (!go) return;
    w0 = w1;
    w1 = w2;
    w2 = base[next++];
#endif
  }
};

// At a symbol: bit position, block of the MCU, zigzag index of the next coefficient (0: DC comes next).
struct State {
  uint32_t bit, block, place;
};
// Relative to the end of a subsequence, which a symbol may overlap by 26 bits.
PENSTOCK_DEVICE uint32_t pack(const State& s, uint32_t end) { return (s.bit - end) | s.block << 8 | s.place << 16; }
PENSTOCK_DEVICE State unpack(uint32_t v, uint32_t end) { return State{end + (v & 255), v >> 8 & 255, v >> 16}; }

// Blocks whose first bit lies in a stretch, and where the first one starts, from the stretch's start.
struct Record {
  uint32_t blocks, first;
};

// Look-up offsets of a block of the MCU: DC in the low half, AC in the high one.
PENSTOCK_DEVICE uint32_t tables_of(uint32_t selector) {
  return (selector & 1) * kLookups | (2 + (selector >> 1 & 1)) * kLookups << 16;
}

// Passes over the symbols that start before `end`, which is less than 2^15 bits away. The place (bits 16 to 23) and the
// position (bits 0 to 15, biased so that bit 15 means "at the end") share a register: one addition moves both, one mask
// tests both.
template <class Look, class Mcu>
PENSTOCK_DEVICE Record scan(State& s, const uint32_t* words, uint32_t word, uint32_t start, uint32_t end,
                            const Look& look, const Mcu& mcu, uint32_t mcu_blocks, const LongTables& longer) {
  WordWindow w;
  w.seek(words, word, s.bit);
  const uint32_t bias = 0x8000u - (end - start);
  uint32_t st = s.place << 16 | (s.bit - start + bias), block = s.block, count = 0, first = 0;
  uint32_t m = mcu(block), ac = m >> 16, table = s.place ? ac : m & 0xFFFF;
  if (s.place == 0) {
    count = 1;
    first = st;
  }
  while (!(st & 0x8000)) {
    const uint32_t window = w.window(st), e = look(table + (window >> (32 - kLookBits)));
    uint32_t one = e >> 8 & kPairMask, all = e & kPairMask;
    if (e == 0) one = all = one_of(look_further(longer, table / kLookups, window >> 16));
    // Where the first symbol ends the block or the stretch it is taken alone.
    const uint32_t after = st + one, then = after & 0x00C08000 ? after : st + all;
    w.advance_if((then ^ st) & 32);
    st = then;
    table = ac;
    if (st & 0x00C00000) {  // the block ends
      st &= 0xFFFF;
      if (count == 0) first = st;
      ++count;
      block = block + 1 == mcu_blocks ? 0 : block + 1;
      m = mcu(block);
      ac = m >> 16;
      table = m & 0xFFFF;
    }
  }
  s.bit = (st & 0xFFFF) - bias + start;
  s.block = block;
  s.place = st >> 16;
  if (s.place == 0) --count;  // that block starts behind the end
  return Record{count, count ? (first & 0xFFFF) - bias : 0};
}

}  // namespace penstock::jpeg_gpu
