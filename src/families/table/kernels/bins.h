// SPDX-License-Identifier: Apache-2.0
// Counts of elements by bins of equal width, for each channel. A block counts in its own memory where that is enough.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "families/table/kernels/counts.h"
#include "launch/entry.h"

namespace penstock::table {

using namespace whole;

struct Bins {
  float low, high, scale;
  int32_t count;
};
// `count` where it is in none.
PENSTOCK_HD inline int32_t bin_of(float v, const Bins& b) {
  const bool inside = v >= b.low && v < b.high;
  const float from = inside ? v : b.low;
  const auto bin = static_cast<int32_t>((from - b.low) * b.scale);
  const int32_t most = bin < b.count ? bin : b.count - 1;  // rounding may reach the end
  return inside ? most : b.count;
}

struct BinsRow {
  const void* in;
  int32_t* out;  // [channel][bin], which begin as zeros
  int64_t n, channels;
  Bins bins;
  int64_t shared;  // whether a block has the memory
};
static_assert(sizeof(BinsRow) == 56);

PENSTOCK_KERNEL void add_count(int32_t* at, int32_t n) {
#ifdef __CUDACC__
  atomicAdd(at, n);
#else
  *at += n;  // threads run in turn
#endif
}

// Units of work are elements.
template <class In> PENSTOCK_KERNEL void count_bins(const Entry<BinsRow>& e) {
  const BinsRow& r = e.row;
  const Bins b = r.bins;
  const int64_t all = r.channels * b.count;
  int32_t* const counts = r.shared ? shared_memory<int32_t>() : r.out;
  if (r.shared) {
    for (int64_t i = thread(); i < all; i += threads()) counts[i] = 0;
    wait_for_block();
  }
  const In* const in = static_cast<const In*>(r.in);
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const int32_t bin = bin_of(static_cast<float>(in[i]), b);
    if (bin < b.count) add_count(counts + (r.channels == 1 ? 0 : i % r.channels) * b.count + bin, 1);
  }
  if (!r.shared) return;
  wait_for_block();
  for (int64_t i = thread(); i < all; i += threads())
    if (counts[i] != 0) add_count(r.out + i, counts[i]);
}

// The same for bytes, whose values are counted first.
struct ByteBinsRow {
  CountRow counted;  // its `counts` are not used
  int32_t* out;      // [channel][bin], which begin as zeros
  Bins bins;
};
static_assert(sizeof(ByteBinsRow) == 72);

// Units of work are slices.
template <int known> PENSTOCK_KERNEL void count_byte_bins(const Entry<ByteBinsRow>& e) {
  const CountRow& r = e.row.counted;
  const Bins b = e.row.bins;
  const int channels = known ? known : static_cast<int>(r.channels);
  int32_t* const counts = shared_memory<int32_t>();
  for (int64_t slice = e.begin; slice < e.end; ++slice) {
    count_slice<known>(r, slice, counts);
    for (int i = thread(); i < 256 * channels; i += threads()) {
      const int32_t sum = count_of(counts, i, 256 * channels, static_cast<int>(r.copies)),
                    bin = bin_of(static_cast<float>(i % 256), b);
      if (sum > 0 && bin < b.count) add_count(e.row.out + i / 256 * b.count + bin, sum);
    }
    wait_for_block();
  }
}

}  // namespace penstock::table
