// SPDX-License-Identifier: Apache-2.0
// Self-synchronization: where do blocks start, all over the stream at once? After A. Weissenberger and B. Schmidt,
// "Accelerating JPEG decompression on GPUs" (arXiv 2111.09219), with another division of the work.
#pragma once
#include "cuda/jpeg/scan.h"

namespace penstock::jpeg_gpu {

PENSTOCK_DEVICE bool starts_segment(const BatchTable& b, const Picture& p, uint32_t sub) {
  if (p.segments == 1) return sub == 0;
  const uint32_t* segment = b.sub_segment + p.sub_base;
  return sub == 0 || segment[sub] != segment[sub - 1];
}

// Block k of a picture looks at the subsequences [k * (kThreads - warm), + kThreads); the first `warm` of them (k > 0)
// only serve to synchronize.
// 1. Every thread scans the last bits of its subsequence from a guess. 2. Each subsequence is scanned from its left
// neighbor's last state, and its entries are recorded. 3. Those whose left neighbor's last state has changed are scanned
// again, up to the first entry that ends as before, until nothing changes.
PENSTOCK_DEVICE void synchronize(const BatchTable& b) {
  alignas(16) __shared__ uint32_t lookups[4 * kLookups];
  alignas(16) __shared__ uint16_t longer[4 * kLongLookups];
  __shared__ uint32_t state[kThreads * kMostEntries], mcus[12];
  __shared__ uint16_t list[kThreads];
  __shared__ uint32_t active[2];
  const Item item = b.sync[blockIdx.x];
  const Picture& p = b.picture[item.picture];
  const uint32_t sub_bits = b.sub_bits, subs = (b.bits[item.picture] + sub_bits - 1) / sub_bits;
  const uint32_t base = item.index * (kThreads - b.warm_subs);
  if (base >= subs || (item.index && base + b.warm_subs >= subs)) return;
  const TableSet& set = b.tables[p.table_set];
  copy_words(lookups, set.scan, sizeof lookups);
  copy_words(longer, set.longer, sizeof longer);
  const uint32_t t = threadIdx.x, count = umin(subs - base, kThreads), owned = item.index ? b.warm_subs : 0;
  if (t < 2) active[t] = 0;
  if (t < p.sync_mcu_blocks) mcus[t] = tables_of(p.selectors >> (2 * t));
  __syncthreads();
  const LongTables further{longer, set.codes};
  const SharedWords shared_lookups(lookups), shared_mcus(mcus);
  const auto look = [&](uint32_t i) { return shared_lookups.load(4 * i); };
  const auto mcu = [&](uint32_t i) { return shared_mcus.load(4 * i); };
  const uint32_t entries = b.entries_per_sub, step = sub_bits / entries, word = p.word_base;
  if (t < count) {
    const uint32_t end = (base + t + 1) * sub_bits;
    State s{end - b.guess_bits, 0, 0};
    scan(s, b.words, word, end - b.guess_bits, end, look, mcu, p.sync_mcu_blocks, further);
    for (uint32_t q = 0; q + 1 < entries; ++q) state[t * entries + q] = 0xFFFFFFFFu;
    state[t * entries + entries - 1] = pack(s, end);
  }
  // The first subsequence starts in a known state; a later block's first one stays a guess.
  const uint32_t skipped = item.index ? 1 : 0;
  uint32_t n = count - skipped, current = t < n ? t + skipped : kNoMarker, round = 0, work = 0;
  __syncthreads();
  while (n > 0) {  // state: at the end of every entry
    const bool on = current != kNoMarker;
    uint32_t at = (base + current) * sub_bits;
    State s{at, 0, 0};
    bool push = false;
    if (on && current > 0 && !starts_segment(b, p, base + current)) s = unpack(state[current * entries - 1], at);
    __syncthreads();
    if (on) {
      for (uint32_t q = 0; q < entries; ++q, at += step) {
        const Record r = scan(s, b.words, word, at, at + step, look, mcu, p.sync_mcu_blocks, further);
        const uint32_t v = pack(s, at + step);
        if (current >= owned) b.sub_record[(p.sub_base + base + current) * entries + q] = r.blocks | r.first << 16;
        push = v != state[current * entries + q];
        state[current * entries + q] = v;
        ++work;
        if (!push) break;
      }
      push = push && current + 1 < count && !starts_segment(b, p, base + current + 1);
    }
    const uint32_t pushing = __ballot_sync(kAllLanes, push);
    uint32_t place = 0;
    if (pushing && (t & 31) == 0) place = atomicAdd(&active[round & 1], static_cast<uint32_t>(__popc(pushing)));
    place = __shfl_sync(kAllLanes, place, 0) + __popc(pushing & ((1u << (t & 31)) - 1));
    if (push) list[place] = static_cast<uint16_t>(current + 1);
    __syncthreads();
    n = active[round & 1];
    current = t < n ? list[t] : kNoMarker;
    if (t == 0) active[(round + 1) & 1] = 0;
    __syncthreads();
    ++round;
  }
  if (t >= owned && t < count) b.sub_state[p.sub_base + base + t] = state[t * entries + entries - 1];
  if (t == 0) {
    b.incoming[p.sync_base + item.index] = owned ? state[owned * entries - 1] : 0;
    if (b.statistics) atomicAdd(b.statistics + umin(round, 63), 1u);
  }
  if (b.statistics) atomicAdd(b.statistics + 65, work);
}

// One block a picture: where neighboring blocks of threads disagree, scans on from there (rare); then sums of the counts
// make entries of the records.
PENSTOCK_DEVICE void make_entries(const BatchTable& b) {
  __shared__ uint32_t scratch[kThreads / 32], wrong, mcus[12];
  const uint32_t picture = blockIdx.x, t = threadIdx.x;
  const Picture& p = b.picture[picture];
  const uint32_t sub_bits = b.sub_bits, entries = b.entries_per_sub, owned = kThreads - b.warm_subs;
  const uint32_t subs = (b.bits[picture] + sub_bits - 1) / sub_bits, all = subs * entries, most = p.subs * entries;
  if (t == 0) wrong = 0;
  if (t < p.sync_mcu_blocks) mcus[t] = tables_of(p.selectors >> (2 * t));
  __syncthreads();
  const uint32_t parts = subs > b.warm_subs ? (subs - b.warm_subs + owned - 1) / owned : 1;
  const auto disagrees = [&](uint32_t k) {
    const uint32_t sub = k * owned + b.warm_subs;
    return !starts_segment(b, p, sub) && b.incoming[p.sync_base + k] != b.sub_state[p.sub_base + sub - 1];
  };
  for (uint32_t k = 1 + t; k < parts; k += kThreads)
    if (disagrees(k)) wrong = 1;
  __syncthreads();
  if (wrong && t == 0) {
    const TableSet& set = b.tables[p.table_set];
    const LongTables further{set.longer, set.codes};
    const auto look = [&](uint32_t i) { return set.scan[i]; };
    const auto mcu = [&](uint32_t i) { return mcus[i]; };
    const uint32_t step = sub_bits / entries;
    uint32_t budget = 4096;
    for (uint32_t k = 1; k < parts && budget; ++k) {
      uint32_t sub = k * owned + b.warm_subs;
      if (!disagrees(k)) continue;
      for (; sub < subs && !starts_segment(b, p, sub) && budget; ++sub, --budget) {
        uint32_t at = sub * sub_bits;
        State s = unpack(b.sub_state[p.sub_base + sub - 1], at);
        for (uint32_t q = 0; q < entries; ++q, at += step) {
          const Record r = scan(s, b.words, p.word_base, at, at + step, look, mcu, p.sync_mcu_blocks, further);
          b.sub_record[(p.sub_base + sub) * entries + q] = r.blocks | r.first << 16;
        }
        const uint32_t v = pack(s, at);
        const bool same = v == b.sub_state[p.sub_base + sub];
        b.sub_state[p.sub_base + sub] = v;
        if (b.statistics) atomicAdd(b.statistics + 64, 1u);
        if (same) break;
      }
    }
    if (!budget) atomicOr(b.flags + picture, kNotSettled);
  }
  __syncthreads();
  Entry* const entry = b.entry + p.sub_base * entries;
  const uint32_t* const record = b.sub_record + p.sub_base * entries;
  uint32_t run = 0;
  for (uint32_t e0 = 0; e0 < most; e0 += kThreads) {
    const uint32_t e = e0 + t, r = e < all ? record[e] : 0;
    uint32_t n = r & 0xFFFF, total;
    uint32_t at = run + sum_before(n, scratch, total);
    run += total;
    if (p.segments == 1) {
      at = umin(at, p.blocks);
      n = umin(n, p.blocks - at);  // padding may look like one more block
    }
    if (e < most) {
      Entry made;
      made.bit = e * (sub_bits / entries) + (r >> 16);
      made.block = at;
      made.dc[0] = made.dc[1] = made.dc[2] = 0;
      made.blocks = static_cast<uint16_t>(n);
      entry[e] = made;
    }
  }
  if (p.segments == 1) {
    if (run < p.blocks && t == 0) atomicOr(b.flags + picture, kMissing);
    return;
  }
  // Of several segments each starts with a block that is known. The first entries of segments still say what came before.
  const uint32_t* const segment_of = b.sub_segment + p.sub_base;
  const uint32_t* const first_sub = b.segment_sub + p.segment_base;
  const auto blocks_of = [&](uint32_t s) {
    return s + 1 < p.segments ? p.segment_blocks : p.blocks - (p.segments - 1) * p.segment_blocks;
  };
  __syncthreads();
  for (uint32_t pass = 0; pass < 2; ++pass) {
    for (uint32_t e = t; e < all; e += kThreads) {
      const uint32_t s = segment_of[e / entries], first = first_sub[s] * entries, of_segment = blocks_of(s);
      if ((e == first) != (pass == 1)) continue;
      const uint32_t before = pass ? 0 : entry[e].block - entry[first].block, n = entry[e].blocks;
      const uint32_t at = umin(before, of_segment);
      const uint32_t next = s + 1 < p.segments ? first_sub[s + 1] * entries : all;
      if (e + 1 == next && before + n < of_segment) atomicOr(b.flags + picture, kMissing);
      entry[e].block = s * p.segment_blocks + at;
      entry[e].blocks = static_cast<uint16_t>(umin(n, of_segment - at));
    }
    __syncthreads();
  }
}

}  // namespace penstock::jpeg_gpu
