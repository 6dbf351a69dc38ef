// SPDX-License-Identifier: Apache-2.0
// Counts of the bytes of each channel, and the tables that equalize them. Warps count in copies of their own, so that
// they do not wait for each other.
#pragma once
#include <cstdint>

#include "families/table/kernels/lookup.h"
#include "pixel/stored.h"

namespace penstock::table {

// A slice of an image: bytes [slice * n / slices, ...) in multiples of 16, counted into counts[channel][slice][256].
struct CountRow {
  const uint8_t* in;
  int32_t* counts;
  int64_t n, channels, slices, copies;
};
static_assert(sizeof(CountRow) == 48);

PENSTOCK_KERNEL void count_one(int32_t* at) {
#ifdef __CUDACC__
  atomicAdd(at, 1);
#else
  ++*at;  // threads run in turn
#endif
}

// How many copies of the counts a block has, by the bytes of its memory.
PENSTOCK_HD constexpr int count_copies(int64_t channels, int64_t memory) {
  int copies = kThreads / 32;
  while (copies > 1 && copies * channels * 1024 > memory) copies /= 2;
  return copies;
}

// The counts of a slice in shared memory, copy by copy.
template <int known> PENSTOCK_KERNEL void count_slice(const CountRow& r, int64_t slice, int32_t* counts) {
  const int channels = known ? known : static_cast<int>(r.channels), copies = static_cast<int>(r.copies);
  for (int i = thread(); i < 256 * channels * copies; i += threads()) counts[i] = 0;
  wait_for_block();
  int32_t* const own = counts + static_cast<int>(thread() / 32) % copies * 256 * channels;
  const bool whole = reinterpret_cast<uint64_t>(r.in) % 16 == 0;
  const int64_t units = (r.n + 15) / 16, end = (slice + 1) * units / r.slices;
  for (int64_t unit = slice * units / r.slices + thread(); unit < end; unit += threads()) {
    const int64_t first = unit * 16;
    int channel = channels == 1 ? 0 : static_cast<int>(first % channels);
    const auto next = [&](uint8_t value) {
      count_one(own + channel * 256 + value);
      channel = channel + 1 == channels ? 0 : channel + 1;
    };
    if (whole && first + 16 <= r.n) {
      const auto from = *reinterpret_cast<const Several<uint8_t, 16>*>(r.in + first);
      PENSTOCK_UNROLL
      for (int k = 0; k < 16; ++k) next(from.v[k]);
    } else {
      for (int64_t i = first; i < first + 16 && i < r.n; ++i) next(r.in[i]);
    }
  }
  wait_for_block();
}
// The sum of the copies of one of `bins` counts.
PENSTOCK_KERNEL int32_t count_of(const int32_t* counts, int bin, int bins, int copies) {
  int32_t sum = 0;
  for (int k = 0; k < copies; ++k) sum += counts[k * bins + bin];
  return sum;
}

// Units of work are slices.
template <int known> PENSTOCK_KERNEL void count_bytes(const Entry<CountRow>& e) {
  const CountRow& r = e.row;
  const int channels = known ? known : static_cast<int>(r.channels);
  int32_t* const counts = shared_memory<int32_t>();
  for (int64_t slice = e.begin; slice < e.end; ++slice) {
    count_slice<known>(r, slice, counts);
    for (int i = thread(); i < 256 * channels; i += threads())
      r.counts[(i / 256 * r.slices + slice) * 256 + i % 256] =
          count_of(counts, i, 256 * channels, static_cast<int>(r.copies));
    wait_for_block();
  }
}

struct EvenRow {
  const int32_t* counts;  // of each plane and slice
  uint8_t* tables;
  int64_t positions, slices;
};
static_assert(sizeof(EvenRow) == 32);

// Units of work are planes. What it computes is told by TableRule of equalize; `pillow` is its rule.
template <int pillow> PENSTOCK_KERNEL void even_tables(const Entry<EvenRow>& e) {
  const EvenRow& r = e.row;
  int32_t* const sums = shared_memory<int32_t>();  // of the values up to each; two of them, by turns
  int32_t* const least = sums + 512;
  for (int64_t plane = e.begin; plane < e.end; ++plane) {
    for (int i = thread(); i < 256; i += threads()) {
      int32_t sum = 0;
      for (int64_t k = 0; k < r.slices; ++k) sum += r.counts[(plane * r.slices + k) * 256 + i];
      sums[i] = sum;
    }
    int from = 0;
    for (int step = 1; step < 256; step *= 2, from = 256 - from) {
      wait_for_block();
      for (int i = thread(); i < 256; i += threads())
        sums[256 - from + i] = sums[from + i] + (i >= step ? sums[from + i - step] : 0);
    }
    wait_for_block();
    const int32_t passed = pillow ? static_cast<int32_t>(r.positions) - 1 : 0;  // by the first sum that is larger
    for (int i = thread(); i < 256; i += threads())
      if (sums[from + i] > passed && (i == 0 || sums[from + i - 1] <= passed)) *least = i;
    wait_for_block();
    if (pillow) {
      const int32_t step = (*least > 0 ? sums[from + *least - 1] : 0) / 255;
      for (int i = thread(); i < 256; i += threads()) {
        const int32_t to = step == 0 ? i : i == 0 ? 0 : (sums[from + i - 1] + step / 2) / step;
        r.tables[plane * 256 + i] = static_cast<uint8_t>(to < 255 ? to : 255);
      }
      wait_for_block();
      continue;
    }
    const int32_t low = sums[from + *least];
    const int64_t others = r.positions - low;
    const float scale = 255.0f / static_cast<float>(others);
    for (int i = thread(); i < 256; i += threads()) {
      uint8_t to = 0;
      if (others == 0) to = i == *least ? static_cast<uint8_t>(i) : 0;
      else if (i > *least) to = stored<uint8_t>(static_cast<float>(sums[from + i] - low) * scale);
      r.tables[plane * 256 + i] = to;
    }
    wait_for_block();
  }
}

}  // namespace penstock::table
