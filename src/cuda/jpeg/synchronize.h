// SPDX-License-Identifier: Apache-2.0
// Self-synchronization: finds where blocks start, in all of the stream at once. After A. Weissenberger and B. Schmidt,
// "Accelerating JPEG decompression on GPUs" (arXiv 2111.09219), with another division of the work.
#pragma once
#include "cuda/jpeg/scan.h"

namespace penstock::jpeg_gpu {

PENSTOCK_DEVICE bool starts_segment(const BatchTable& b, const Picture& p, uint32_t sub) {
  if (p.segments == 1) return sub == 0;
  const uint32_t* segment = b.sub_segment + p.sub_base;
  return sub == 0 || segment[sub] != segment[sub - 1];
}

// What a block of threads knows about the subsequences [base, base + kThreads) that it scans.
struct SyncShared {
  alignas(16) uint32_t lookups[4 * kScanTable];
  uint32_t ends[kThreads + 1];                    // [i]: the state before subsequence i
  uint32_t inner[kThreads * (kMostEntries - 1)];  // at the ends of its entries except the last
  uint32_t ahead[kThreads], scratch[kThreads / 32];
  uint16_t list[kThreads];
  uint8_t pending[kThreads];
};

template <class Shared> PENSTOCK_DEVICE void load_tables(const BatchTable& b, const Picture& p, Shared& shared) {
  copy_words(shared.lookups, b.tables[p.table_set].scan, sizeof shared.lookups);
}
template <class Shared> PENSTOCK_DEVICE ScanTables scan_tables(const BatchTable& b, const Picture& p, Shared& shared) {
  const TableSet& set = b.tables[p.table_set];
  return {SharedWords(shared.lookups), set.scan_long, set.codes};
}

// Chains of subsequences that wait for each other take most of the time. In flat pictures, which have long chains, a
// chain reaches the same states again and again. So after some rounds idle threads scan ahead of it from the states
// that it had at its last boundaries. If one of these is right, the next subsequence adopts its end state; it is
// scanned again like all pending ones, so that nothing depends on a guess.
constexpr uint32_t kHistory = 4, kFewChains = 16, kMostRounds = 2 * kThreads;

// Scans the pending subsequences from the states before them and records their entries. Each one after a subsequence
// whose last state has changed is then pending, up to the first entry that ends as before, until none is. Records are
// kept from subsequence `owned` on. Every round settles the first pending one, so that there are at most kThreads
// rounds except for wrong guesses; returns the number of rounds.
template <class Shared>
PENSTOCK_DEVICE uint32_t settle(const BatchTable& b, const Picture& p, Shared& shared, uint32_t base, uint32_t count,
                                uint32_t owned, uint32_t most_rounds) {
  const ScanTables tables = scan_tables(b, p, shared);
  const McuTables mcu(p);
  const uint32_t t = threadIdx.x, entries = b.entries_per_sub, sub_bits = b.sub_bits, step = sub_bits / entries;
  uint32_t round = 0, work = 0;
  for (; round < most_rounds; ++round) {
    const bool waits = t < count && shared.pending[t];
    uint32_t n;
    const uint32_t rank = sum_before(waits, shared.scratch, n);
    if (n == 0) break;
    if (waits) shared.list[rank] = static_cast<uint16_t>(t);
    const bool stuck = round >= b.rounds_alone;
    const uint32_t chains = stuck && n > kFewChains && round % 2 ? kHistory : n;
    const uint32_t reach = stuck && chains <= kFewChains ? (kThreads - chains) / (chains * kHistory) : 0;
    // Lanes of a warp wait for each other's rare paths: a few tasks go to different warps.
    const uint32_t task = n <= b.spread_below ? (t & 31) * (kThreads / 32) + (t >> 5) : t;
    __syncthreads();
    const bool own = task < chains, ahead = !own && task - chains < chains * reach * kHistory;
    const uint32_t guess = task - chains, chain = own ? task : ahead ? guess / (reach * kHistory) : 0;
    const uint32_t ago = guess % kHistory, head = shared.list[chain];
    const uint32_t limit = chain + 1 < n ? shared.list[chain + 1] : count;
    const uint32_t sub = own ? head : ahead ? head + 1 + guess / kHistory % reach : 0;
    const bool on = own || (ahead && sub < limit && ago <= head);
    const uint32_t at = (base + sub) * sub_bits;
    uint32_t before = 0, end = 0;
    State s{at, 0, 0};
    if (on) {
      if (!starts_segment(b, p, base + sub)) s = unpack(shared.ends[own ? head : head - ago], at);
      if (own) shared.pending[sub] = 0;
      end = before = shared.ends[sub + 1];
    }
    __syncthreads();
    if (on) {
      WordWindow w(b.words, own_stream_room());
      w.seek(p.word_base, s.bit);
      uint32_t q = 0;
      uint32_t* const records = b.sub_record + (p.sub_base + base + sub) * entries;
      scan(s, w, at, step, tables, mcu, [&](const Record& r, uint32_t v) {
        ++work;
        if (own && sub >= owned) records[q] = r.blocks | r.first << 16;
        if (q + 1 == entries) {
          end = v;
          return false;
        }
        if (own) {
          uint32_t& inner = shared.inner[sub * (kMostEntries - 1) + q];
          if (v == inner) return false;
          inner = v;
        }
        ++q;
        return true;
      });
      if (ahead) shared.ahead[guess] = end;
    }
    __syncthreads();
    if (own && end != before) {
      uint32_t now = end, then = before, next = head + 1;
      if (reach) {
        for (; next < limit && next <= head + reach && now != then && !starts_segment(b, p, base + next); ++next) {
          uint32_t found = kNoMarker;
          for (uint32_t k = 0; k < kHistory && k <= head; ++k)
            if (shared.ends[head - k] == now) found = (chain * reach + next - head - 1) * kHistory + k;
          if (found == kNoMarker) break;
          then = shared.ends[next + 1];
          now = shared.ahead[found];
          shared.ends[next + 1] = now;
          shared.pending[next] = 1;
        }
      }
      shared.ends[head + 1] = end;
      if (next < count && now != then && !starts_segment(b, p, base + next)) shared.pending[next] = 1;
    }
    __syncthreads();
  }
  if (b.statistics) atomicAdd(b.statistics + 65, work);
  return round;
}

// Block k of a picture scans the subsequences [k * (kThreads - warm), + kThreads); the first `warm` of them (k > 0)
// only serve to synchronize. Every thread scans the last bits of its subsequence from a guess; then all of them are
// pending.
PENSTOCK_DEVICE void synchronize(const BatchTable& b) {
  __shared__ SyncShared shared;
  const Item item = b.sync[blockIdx.x];
  const Picture& p = b.picture[item.picture];
  const uint32_t sub_bits = b.sub_bits, subs = (b.bits[item.picture] + sub_bits - 1) / sub_bits;
  const uint32_t base = item.index * (kThreads - b.warm_subs);
  if (base >= subs || (item.index && base + b.warm_subs >= subs)) return;
  load_tables(b, p, shared);
  const uint32_t t = threadIdx.x, count = umin(subs - base, kThreads), owned = item.index ? b.warm_subs : 0;
  __syncthreads();
  if (t < count) {
    const uint32_t end = (base + t + 1) * sub_bits;
    const State s{end - b.guess_bits, 0, 0};
    WordWindow w(b.words, own_stream_room());
    w.seek(p.word_base, s.bit);
    scan(s, w, s.bit, b.guess_bits, scan_tables(b, p, shared), McuTables(p), [&](const Record&, uint32_t v) {
      shared.ends[t + 1] = v;
      return false;
    });
  }
  for (uint32_t q = 0; q < kMostEntries - 1; ++q) shared.inner[t * (kMostEntries - 1) + q] = 0xFFFFFFFFu;
  // The picture's first subsequence starts in a known state; that of a later block stays a guess.
  if (t == 0) shared.ends[0] = 0;
  shared.pending[t] = t < count && (t > 0 || item.index == 0);
  __syncthreads();
  const uint32_t rounds = settle(b, p, shared, base, count, owned, kMostRounds);
  if (rounds == kMostRounds && t == 0) atomicOr(b.flags + item.picture, kNotSettled);
  if (t >= owned && t < count) b.sub_state[p.sub_base + base + t] = shared.ends[t + 1];
  if (t == 0) {
    b.incoming[p.sync_base + item.index] = shared.ends[owned];
    if (b.statistics) atomicAdd(b.statistics + umin(rounds, 63), 1u);
  }
}

// One block per picture: if neighboring blocks of threads disagree, continues from there (rare except in flat
// pictures); then prefix sums of the counts turn the records into entries.
constexpr uint32_t kMostRepairs = 2048;  // rounds; if it needs more, the picture is left to the CPU

PENSTOCK_DEVICE void make_entries(const BatchTable& b) {
  __shared__ SyncShared shared;
  __shared__ uint32_t wrong;
  uint32_t* const scratch = shared.scratch;
  const uint32_t picture = blockIdx.x, t = threadIdx.x;
  const Picture& p = b.picture[picture];
  const uint32_t sub_bits = b.sub_bits, entries = b.entries_per_sub, owned = kThreads - b.warm_subs;
  const uint32_t subs = (b.bits[picture] + sub_bits - 1) / sub_bits, all = subs * entries, most = p.subs * entries;
  if (t == 0) wrong = 0;
  __syncthreads();
  const uint32_t parts = subs > b.warm_subs ? (subs - b.warm_subs + owned - 1) / owned : 1;
  const auto disagrees = [&](uint32_t k) {
    const uint32_t sub = k * owned + b.warm_subs;
    return !starts_segment(b, p, sub) && b.incoming[p.sync_base + k] != b.sub_state[p.sub_base + sub - 1];
  };
  for (uint32_t k = 1 + t; k < parts; k += kThreads)
    if (disagrees(k)) wrong = 1;
  __syncthreads();
  if (wrong) {
    load_tables(b, p, shared);
    uint32_t budget = kMostRepairs;
    uint32_t* const states = b.sub_state + p.sub_base;
    for (uint32_t k = 1; k < parts && budget; ++k) {
      __syncthreads();
      uint32_t sub = k * owned + b.warm_subs;
      bool goes_on = disagrees(k);
      while (goes_on && budget) {
        const uint32_t count = umin(subs - sub, kThreads);
        if (t == 0) shared.ends[0] = states[sub - 1];
        if (t < count) shared.ends[t + 1] = states[sub + t];
        for (uint32_t q = 0; q < kMostEntries - 1; ++q) shared.inner[t * (kMostEntries - 1) + q] = 0xFFFFFFFFu;
        shared.pending[t] = t == 0;
        __syncthreads();
        const uint32_t last = shared.ends[count];
        const uint32_t rounds = settle(b, p, shared, sub, count, 0, budget);
        budget -= umin(rounds, budget);
        if (b.statistics && t == 0) atomicAdd(b.statistics + 64, rounds);
        if (t < count) states[sub + t] = shared.ends[t + 1];
        goes_on = shared.ends[count] != last && sub + count < subs && !starts_segment(b, p, sub + count);
        sub += count;
        __syncthreads();
      }
    }
    if (!budget && t == 0) atomicOr(b.flags + picture, kNotSettled);
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
  // Each of several segments starts with a known block. The first entries of segments, which are rewritten last, still
  // have the number of blocks before them.
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
