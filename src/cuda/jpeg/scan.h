// SPDX-License-Identifier: Apache-2.0
// Scans entropy-coded data without output: finds where blocks start.
#pragma once
#include "cuda/jpeg/huffman_lookup.h"

namespace penstock::jpeg_gpu {

// Three words of the stream: two are the window. The next ones come from shared memory, which is filled asynchronously,
// 16 bytes at a time, alternating between two pieces of a thread: a load from global memory would make all lanes wait
// at the next step. A step takes at most one word, and refill() follows at least every second step: so the words that a
// thread takes until then are in the piece before the last one that it requested.
struct WordWindow {
  const uint8_t* base;
  SharedWords ring;
  uint32_t next, w0, w1, w2;  // next: in bytes
  PENSTOCK_DEVICE WordWindow(const uint32_t* words, const StreamRoom* room)
      : base(reinterpret_cast<const uint8_t*>(words)), ring(room), next(0), w0(0), w1(0), w2(0) {}
  PENSTOCK_DEVICE void seek(uint32_t word, uint32_t bit) {
    const uint32_t first = 4 * (word + (bit >> 5));
    next = first;
    settle();
    fetch(next & ~15u);
    fetch((next & ~15u) + 16);
    settle();
    w0 = take();
    w1 = take();
    w2 = take();
    refill(first);
  }
  PENSTOCK_DEVICE uint32_t word() const { return next / 4; }
  PENSTOCK_DEVICE void keep_below(uint32_t word) { next = umin(next, 4 * word); }
  PENSTOCK_DEVICE uint32_t window(uint32_t bit) const { return funnel(w0, w1, bit); }
  PENSTOCK_DEVICE void advance_if(uint32_t go) {
#ifdef __CUDA_ARCH__
    asm volatile(
        "{ .reg .pred p; .reg .b32 a;\n"
        " setp.ne.u32 p, %5, 0; @p mov.b32 %0, %1; @p mov.b32 %1, %2;\n"
        " and.b32 a, %3, 28; or.b32 a, a, %4; @p ld.shared.u32 %2, [a]; @p add.u32 %3, %3, 4; }"
        : "+r"(w0), "+r"(w1), "+r"(w2), "+r"(next)
        : "r"(ring.at), "r"(go));
#else
    if (!go) return;
    w0 = w1;
    w1 = w2;
    w2 = take();
#endif
  }
  // `before`: `next` at most two steps ago. If another piece was begun since then, requests the one after it.
  PENSTOCK_DEVICE void refill(uint32_t before) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "{ .reg .pred q; .reg .b32 d; .reg .b64 g;\n"
        " xor.b32 d, %0, %3; and.b32 d, d, 16; setp.ne.u32 q, d, 0;\n"
        " and.b32 d, %0, 0xFFFFFFF0; cvt.u64.u32 g, d; add.u64 g, g, %1;\n"
        " not.b32 d, %0; and.b32 d, d, 16; or.b32 d, d, %2;\n"
        " @q cp.async.ca.shared.global [d], [g + 16], 16; cp.async.commit_group; cp.async.wait_group 1; }" ::"r"(next),
        "l"(base), "r"(ring.at), "r"(before)
        : "memory");
#else
    if ((next ^ before) & 16) fetch((next & ~15u) + 16);
#endif
  }

 private:
  PENSTOCK_DEVICE uint32_t take() {
    const uint32_t w = ring.load(next & 28);
    next += 4;
    return w;
  }
  PENSTOCK_DEVICE void fetch(uint32_t at) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.commit_group;" ::"r"(ring.at + (at & 16)),
                 "l"(base + at)
                 : "memory");
#else
    const Words4 v = load_as<Words4>(base + at);
    ring.store((at & 16), v.x), ring.store((at & 16) + 4, v.y), ring.store((at & 16) + 8, v.z),
        ring.store((at & 16) + 12, v.w);
#endif
  }
  PENSTOCK_DEVICE void settle() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  }
};

// At a symbol: bit position, block of the MCU, zigzag index of the next coefficient (0: DC comes next).
struct State {
  uint32_t bit, block, place;
};
// As words, relative to the end of a stretch, which a symbol may overlap by 26 bits: 8 bits each.
PENSTOCK_DEVICE State unpack(uint32_t v, uint32_t end) { return State{end + (v & 255), v >> 8 & 255, v >> 16}; }

// The blocks whose first bit is in a stretch, and the start of the first one, from the stretch's start.
struct Record {
  uint32_t blocks, first;
};

// Start of the tables of the blocks of an MCU, in units of 256 look-ups, one byte per block: picked by a selector that
// advances by 16 per block, whose other digits pick zeros.
constexpr uint32_t kFirstBlock = 0x7707;
struct McuTables {
  uint32_t dc[2], ac[2], end;
  PENSTOCK_DEVICE explicit McuTables(const Picture& p) : dc{0, 0}, ac{0, 0}, end(kFirstBlock + 16 * p.sync_mcu_blocks) {
    static_assert(kScanTable % 256 == 0 && 3 * kScanTable < 65536);
    constexpr uint32_t kUnit = kScanTable / 256;
    PENSTOCK_UNROLL
    for (uint32_t i = 0; i < 6; ++i) {
      const uint32_t selector = i < p.sync_mcu_blocks ? p.selectors >> (2 * i) : 0;
      dc[i / 4] |= (selector & 1) * kUnit << (8 * (i % 4));
      ac[i / 4] |= (2 + (selector >> 1 & 1)) * kUnit << (8 * (i % 4));
    }
  }
  PENSTOCK_DEVICE uint32_t dc_of(uint32_t block) const { return pick_bytes(dc[0], dc[1], block); }
  PENSTOCK_DEVICE uint32_t ac_of(uint32_t block) const { return pick_bytes(ac[0], ac[1], block); }
};

// How the symbols of a table are looked up.
struct ScanTables {
  SharedWords lookups;
  LongRange longer;
  const LongCodes* codes;
  PENSTOCK_DEVICE uint32_t operator()(uint32_t table, uint32_t window) const {
    return lookups.load(4 * (table + index_of<kScanBits>(window, longer)));
  }
  PENSTOCK_DEVICE uint32_t search(uint32_t table, uint32_t window) const {
    table /= kScanTable;
    return one_of(search_code(codes + table, window >> 16, 33 - longer.shift, table < 2));
  }
};

// Scans symbols in stretches of less than 2^15 bits. At the end of each, which a symbol may overlap, f(record, state as
// for unpack()) says whether to continue. Lanes of a warp do not wait for each other there. `w` is at `s`; `start` is
// where the first stretch begins. The index (bits 16 to 23) and the position (bits 0 to 15, biased so that bit 15 means
// "at the end") share a register: one addition advances both, one mask tests both.
template <class F>
PENSTOCK_DEVICE void scan(const State& s, WordWindow& w, uint32_t start, uint32_t stretch, const ScanTables& tables,
                          const McuTables& mcu, const F& f) {
  const uint32_t bias = 0x8000u - stretch;
  uint32_t st = s.place << 16 | (s.bit - start + bias), block = kFirstBlock + 16 * s.block;
  uint32_t count = s.place == 0, first = s.place == 0 ? st : 0xFFFF;
  uint32_t ac = mcu.ac_of(block), table = s.place == 0 ? mcu.dc_of(block) : ac;
  const auto step = [&] {
    const uint32_t window = w.window(st), e = tables(table, window);
    uint32_t all = e & kAllMask;
    if (e == 0) all = tables.search(table, window);
    // If the last symbol would begin after the end of the block or the stretch, only the first one is taken.
    if ((st + but_last_of(e)) & 0x00C08000) all = first_of(e);
    const uint32_t then = st + all;
    w.advance_if((then ^ st) & 32);
    st = then;
    table = ac;
    if (st & 0x00C00000) {  // the block ends
      st &= 0xFFFF;
      first = umin(first, st);
      ++count;
      block = block + 16 == mcu.end ? kFirstBlock : block + 16;
      ac = mcu.ac_of(block);
      table = mcu.dc_of(block);
    }
    if (st & 0x8000) {                   // the stretch ends
      const bool starts = st < 0x10000;  // a block that belongs to the next stretch
      count -= starts;
      if (!f(Record{count, count ? first - bias : 0}, (st & 0xFF7FFF) | (block - kFirstBlock) << 4)) return false;
      st -= stretch;
      count = starts;
      first = starts ? st : 0xFFFF;
    }
    return true;
  };
  PENSTOCK_KEEP_LOOP
  for (;;) {
    const uint32_t before = w.next;
    if (!step() || !step()) break;
    w.refill(before);
  }
}

}  // namespace penstock::jpeg_gpu
