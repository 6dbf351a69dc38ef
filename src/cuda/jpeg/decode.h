// SPDX-License-Identifier: Apache-2.0
// From entries to coefficients, and DC by prefix sums.
#pragma once
#include "cuda/jpeg/scan.h"

namespace penstock::jpeg_gpu {

// A lane's words: 32 of coefficients and 3 DC predictors; odd, so that lanes use different banks.
constexpr uint32_t kLaneWords = 35;
constexpr uint32_t kTogether = 4;  // blocks that a warp writes at once
constexpr uint32_t kDone = 64 << 9, kDoneMask = 3 * kDone, kIdle = 1u << 31;

// A thread's position in the picture, and where its blocks are stored.
struct BlockPlace {
  uint32_t column, row, stored;
  bool wanted;
};
struct WantedBlocks {
  uint32_t column_begin, row_begin, columns, rows, stored_base, mcu_blocks, mcu_columns, row_end;
  PENSTOCK_DEVICE explicit WantedBlocks(const Picture& p)
      : column_begin(p.column_begin),
        row_begin(p.row_begin),
        columns(p.column_end - p.column_begin),
        rows(p.row_end - p.row_begin),
        stored_base(p.stored_base),
        mcu_blocks(p.mcu_blocks),
        mcu_columns(p.mcu_columns),
        row_end(p.row_end) {}
  PENSTOCK_DEVICE void find(BlockPlace& at) const {
    const uint32_t column = at.column - column_begin, row = at.row - row_begin;
    at.wanted = column < columns && row < rows;
    at.stored = stored_base + (row * columns + column) * mcu_blocks;
  }
  // To the next MCU; after all wanted rows the `left` blocks are not decoded.
  PENSTOCK_DEVICE void go_on(BlockPlace& at, uint32_t& left, bool& stopped) const {
    if (++at.column == mcu_columns) {
      at.column = 0;
      if (++at.row >= row_end && left) left = 0, stopped = true;
    }
    find(at);
  }
};

// Look-up offsets of a block of the MCU: DC in the low half, AC in the high one.
PENSTOCK_DEVICE uint32_t tables_of(uint32_t selector) {
  return (selector & 1) * kLookTable | (2 + (selector >> 1 & 1)) * kLookTable << 16;
}

// Where the coefficients of one column of 8 are in the order of the file, in bytes.
struct FilePositions {
  uint32_t upper = 0, lower = 0;  // of 4 rows each
  PENSTOCK_DEVICE explicit FilePositions(uint32_t column) {
    static constexpr uint8_t kZigzagOf[64] = {0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42,
                                              3,  8,  12, 17, 25, 30, 41, 43, 9,  11, 18, 24, 31, 40, 44, 53,
                                              10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38, 46, 51, 55, 60,
                                              21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};
    for (uint32_t i = 0; i < 4; ++i) {
      upper |= 2u * kZigzagOf[i * 8 + column] << (8 * i);
      lower |= 2u * kZigzagOf[(i + 4) * 8 + column] << (8 * i);
    }
  }
  PENSTOCK_DEVICE Words4 load(const SharedWords& block, uint32_t at) const {
    Words4 v;
    v.x = block.load_half(at + (upper & 255)) | block.load_half(at + (upper >> 8 & 255)) << 16;
    v.y = block.load_half(at + (upper >> 16 & 255)) | block.load_half(at + (upper >> 24)) << 16;
    v.z = block.load_half(at + (lower & 255)) | block.load_half(at + (lower >> 8 & 255)) << 16;
    v.w = block.load_half(at + (lower >> 16 & 255)) | block.load_half(at + (lower >> 24)) << 16;
    return v;
  }
};

// Decodes the symbol that `window` begins with into the lane's block: returns what the table says of it, and moves
// `st`. `go`: whether it ends in the next word.
PENSTOCK_DEVICE uint32_t decode_symbol(const TableSet& set, const LongRange& longer, const SharedWords& look,
                                       const SharedWords& table, uint32_t window, const SharedWords& my, uint32_t& st,
                                       uint32_t& go) {
  uint32_t e = table.load_half(index_of<kLookBits>(window, longer) * 2);
  if (e == 0) {
    const auto at = static_cast<uint32_t>(table.at - look.at);
    e = search_code(set.codes + at / (2 * kLookTable), window >> 16, 33 - longer.shift, at < 4 * kLookTable);
  }
  const uint32_t size = e >> 5 & 15, rest = funnel(window, 0, e);  // the value's bits at the top
  const uint32_t ones = rest >> 31 ? 0 : kAllLanes, v = funnel(ones, rest, size) - ones;
  st += (e & 0xFE1F) + size;
  go = st & 32;
  st &= ~32u;
  if (size) my.store_half(((st >> 8) - 2) & 126, v);
  return e;
}

// Writes and clears the blocks of a warp's lanes `finished`, of which there is one: four at once, 8 lanes each. `to`
// and `id`: where this lane's block is stored, and its entry.
PENSTOCK_DEVICE void write_blocks(const BatchTable& b, const SharedWords& of_warp, const FilePositions& positions,
                                  uint32_t lane, uint32_t finished, uint32_t to, uint32_t id) {
  PENSTOCK_KEEP_LOOP
  do {
    uint32_t rest = finished;
    if (lane >= 8) rest &= rest - 1;
    if (lane >= 16) rest &= rest - 1;
    if (lane >= 24) rest &= rest - 1;
    const uint32_t from = rest ? static_cast<uint32_t>(__ffs(static_cast<int>(rest))) - 1 : 0;
    const uint32_t stored = __shfl_sync(kAllLanes, to, from), entry = __shfl_sync(kAllLanes, id, from);
    const uint32_t source = from * (kLaneWords * 4);
    const Words4 v = positions.load(of_warp, source);
    __syncwarp();
    if (rest) {
      for (uint32_t i = 0; i < 4; ++i) of_warp.store(source + 4 * (lane & 7) + 32 * i, 0);
      if (stored != kNoMarker) {
        *reinterpret_cast<Words4*>(b.coefficients + static_cast<uint64_t>(stored) * 64 + 8 * (lane & 7)) = v;
        if ((lane & 7) == 0) b.block_entry[stored] = entry;
      }
    }
    for (uint32_t i = 0; i < 4; ++i) finished &= finished - 1;
  } while (finished);
}

// One thread per entry. Each lane decodes one symbol per step into its own block. A lane with a finished block waits
// until there are four, which the whole warp writes and clears. DC values are relative to the entry until sum_dc has
// processed the entries' sums.
PENSTOCK_DEVICE void decode_blocks(const BatchTable& b) {
  alignas(16) __shared__ uint16_t lookups[4 * kLookTable];
  __shared__ uint32_t lanes[kThreads * kLaneWords], mcus[12];
  const DecodeItem item = b.decode[blockIdx.x];
  const Picture& p = b.picture[item.picture];
  if (b.flags[item.picture]) return;
  const TableSet& set = b.tables[p.table_set];
  copy_words(lookups, set.decode, sizeof lookups);
  const uint32_t t = threadIdx.x, lane = t & 31;
  uint32_t *const of_warp = lanes + (t & ~31u) * kLaneWords, *const mine = of_warp + lane * kLaneWords;
  for (uint32_t i = 0; i < kLaneWords; ++i) of_warp[i * 32 + lane] = 0;
  const FilePositions positions(lane & 7);
  const uint32_t mcu_blocks = p.mcu_blocks;
  if (t < mcu_blocks) mcus[t] = tables_of(p.selectors >> (2 * t)) | (p.component_of >> (2 * t) & 3) << 30;
  __syncthreads();
  uint32_t id = 0, left = 0, block = 0, st = 0, bad = 0, first_block = 0;
  BlockPlace place{0, 0, 0, false};
  const WantedBlocks wanted(p);
  WordWindow w(b.words, own_stream_room());
  const uint32_t limit = b.words_end - 4;
  const bool own = t < item.count;
  bool read = false, stopped = false;
  if (own) {
    id = item.first + t;
    const Entry e = b.entry[id];
    left = e.blocks;
    first_block = e.block;
    block = e.block % mcu_blocks;
    place.row = e.block / mcu_blocks / wanted.mcu_columns;
    place.column = e.block / mcu_blocks % wanted.mcu_columns;
    if (place.row >= wanted.row_end) left = 0;  // after all wanted rows
    wanted.find(place);
    if (left) {
      w.seek(p.word_base, e.bit);
      st = e.bit & 31;
    }
    read = left > 0;
  }
  __syncwarp();
  const SharedWords look(lookups), my(mine), warps(of_warp), shared_mcus(mcus);
  // Byte offsets of the tables: this block's DC, then its AC.
  uint32_t m = shared_mcus.load(4 * block);
  SharedWords ac = look + (m >> 15 & 0x7FFE), table = look + (m << 1 & 0x1FFFE);
  const LongRange longer = set.decode_long;
  // `st`: position mod 32 in bits 0 to 4 (5: the next word), index from bit 9: 64 and more if a block is done, which
  // waits until the warp writes some; kIdle if nothing is left.
  if (!left) st = kIdle;
  uint32_t e = 0;
  while (__any_sync(kAllLanes, st < kIdle)) {
    uint32_t finished;
    bool goes_on;
    do {
      const uint32_t before = w.next;
      PENSTOCK_UNROLL
      for (uint32_t k = 0; k < 2; ++k) {
        uint32_t go = 0;
        if (st < kDone) {
          e = decode_symbol(set, longer, look, table, w.window(st), my, st, go);
          table = ac;
        }
        w.advance_if(go);
      }
      w.refill(before);
      finished = __ballot_sync(kAllLanes, st & kDoneMask);
      goes_on = __popc(finished) < kTogether && __any_sync(kAllLanes, st < kDone);
    } while (goes_on);
    const bool now = st & kDoneMask;
    if (now) {
      // Only its last coefficient or an end of block may end a block.
      bad |= st >> 9 > 64 && e >> 9 != 64;
      const uint32_t at = 128 + 4 * (m >> 30), dc = my.load(at) + static_cast<uint32_t>(signed_half(my.load_half(0)));
      bad |= (dc + 16384) >> 15 ? 2 : 0;
      my.store(at, dc);
      my.store_half(0, dc);
      w.keep_below(limit);
      --left;
    }
    __syncwarp();
    const uint32_t to = place.wanted ? place.stored + block : kNoMarker;
    write_blocks(b, warps, positions, lane, finished, to, id);
    __syncwarp();
    if (now) {
      if (++block == mcu_blocks) {
        block = 0;
        wanted.go_on(place, left, stopped);
      }
      m = shared_mcus.load(4 * block);
      ac = look + (m >> 15 & 0x7FFE);
      table = look + (m << 1 & 0x1FFFE);
      st = left ? st & 31 : kIdle | (st & 31);
    }
  }
  __syncwarp();
  uint32_t why = (bad & 1 ? kBadCode : 0) | (bad & 2 ? kUnusualValue : 0);
  if (own) {
    int32_t* const sum = b.dc_sum + 4 * id;
    for (uint32_t c = 0; c < 3; ++c) sum[c] = static_cast<int32_t>(mine[32 + c]);
    if (read) {  // were bits taken after the end? (There are zeros, which may look like blocks.)
      const uint32_t bit = (w.word() - 3 - p.word_base) * 32 + (st & 31);
      if (p.segments == 1) {
        if (bit > b.bits[item.picture]) why |= kRanOver;
      } else {
        const uint32_t sub = (id - p.sub_base * b.entries_per_sub) / b.entries_per_sub;
        const uint32_t s = b.sub_segment[p.sub_base + sub];
        const uint32_t last = s + 1 < p.segments ? (s + 1) * p.segment_blocks : p.blocks;
        const uint32_t end = b.segment_bytes[p.segment_base + s] + b.segment_sub[p.segment_base + s] * (b.sub_bits / 8);
        const bool at_end = !stopped && first_block + b.entry[id].blocks == last;
        // A marker directly follows the byte that a segment ends in (T.81, B.1.1.5).
        if (bit > end * 8 || (at_end && s + 1 < p.segments && (bit + 7) / 8 != end)) why |= kRanOver;
      }
    }
  }
  if (why) atomicOr(b.flags + item.picture, why);
}

// One block per picture: computes the predictors at the entries, and sets the bytes after the planes that write_pixels
// may read.
PENSTOCK_DEVICE void sum_dc(const BatchTable& b) {
  __shared__ uint32_t scratch[kThreads / 32];
  if (blockIdx.x == 0 && threadIdx.x < kSampleSlack) b.samples[b.sample_bytes + threadIdx.x] = 0;
  const Picture& p = b.picture[blockIdx.x];
  if (b.flags[blockIdx.x]) return;
  const uint32_t entries = b.entries_per_sub, first = p.sub_base * entries, t = threadIdx.x;
  const uint32_t all = (b.bits[blockIdx.x] + b.sub_bits - 1) / b.sub_bits * entries;
  uint32_t run[3] = {0, 0, 0}, wide = 0;
  for (uint32_t e0 = 0; e0 < all; e0 += kThreads) {
    const uint32_t e = e0 + t;
    for (uint32_t c = 0; c < p.components; ++c) {
      const uint32_t v = e < all ? static_cast<uint32_t>(b.dc_sum[4 * (first + e) + c]) : 0;
      uint32_t total;
      const uint32_t at = run[c] + sum_before(v, scratch, total);
      run[c] += total;
      if (e >= all) continue;
      if (p.segments > 1) {
        b.dc_sum[4 * (first + e) + c] = static_cast<int32_t>(at);
      } else {
        wide |= (at + 16384) >> 15;
        b.entry[first + e].dc[c] = static_cast<int16_t>(at);
      }
    }
  }
  if (p.segments > 1) {  // each segment starts with zero
    __syncthreads();
    for (uint32_t e = t; e < all; e += kThreads) {
      const uint32_t s = b.sub_segment[p.sub_base + e / entries];
      const uint32_t start = first + b.segment_sub[p.segment_base + s] * entries;
      for (uint32_t c = 0; c < p.components; ++c) {
        const uint32_t at =
            static_cast<uint32_t>(b.dc_sum[4 * (first + e) + c]) - static_cast<uint32_t>(b.dc_sum[4 * start + c]);
        wide |= (at + 16384) >> 15;
        b.entry[first + e].dc[c] = static_cast<int16_t>(at);
      }
    }
  }
  if (wide) atomicOr(b.flags + blockIdx.x, kUnusualValue);
}

}  // namespace penstock::jpeg_gpu
