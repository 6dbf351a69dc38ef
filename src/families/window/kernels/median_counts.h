// SPDX-License-Identifier: Apache-2.0
// Medians of bytes over any window: a thread goes down a column and counts the values under its window in shared
// memory. From row to row it takes one row of the window away and adds one, and moves from the last median to the next
// one. The image is extended by repeating its edge.
#pragma once
#include "families/window/kernels/byte_columns.h"

namespace penstock::window {

struct CountsRow {
  const void* in;
  void* out;
  int64_t height, width, channels;
  int64_t rows;          // that a thread makes
  int64_t across, down;  // the window reaches so far to each side
};
static_assert(sizeof(CountsRow) == 64);

// Threads of a block, which have the memory for 256 counts each.
PENSTOCK_HD constexpr int count_threads(int bytes) { return 48 * 1024 / (256 * bytes); }

// The counts of a thread, in words: neighboring threads have them in different banks. Groups of kGroup values are
// summed at once.
template <class Count> struct Counts {
  static constexpr int kThreads = count_threads(sizeof(Count)), kOfWord = 4 / sizeof(Count), kGroup = 8;
  uint32_t* words;
  PENSTOCK_KERNEL void add(int value, int by) const {
    Count* const word = reinterpret_cast<Count*>(words + value / kOfWord * kThreads);
    word[value % kOfWord] = static_cast<Count>(word[value % kOfWord] + by);
  }
  PENSTOCK_KERNEL int of(int value) const {
    return static_cast<int>(words[value / kOfWord * kThreads] >> 8 * sizeof(Count) * (value % kOfWord) &
                            (sizeof(Count) == 4 ? ~0u : (1u << 8 * (sizeof(Count) & 3)) - 1));
  }
  PENSTOCK_KERNEL int of_group(int group) const {
    uint32_t sum = 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < kGroup / kOfWord; ++k) {
      const uint32_t word = words[(group * (kGroup / kOfWord) + k) * kThreads];
      if constexpr (sizeof(Count) == 1) sum += (word & 0x00FF00FFu) + (word >> 8 & 0x00FF00FFu);
      else if constexpr (sizeof(Count) == 2) sum += (word & 0xFFFF) + (word >> 16);
      else sum += word;
    }
    if constexpr (sizeof(Count) == 1) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<int>(sum);
  }
  // The value of the group that `rank` elements of it or fewer are less than, and more are not greater than.
  PENSTOCK_KERNEL int rank_in_group(int group, int rank) const {
    int value = group * kGroup, sum = 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < kGroup - 1; ++k) {
      sum += of(group * kGroup + k);
      value += sum <= rank;
    }
    return value;
  }
  PENSTOCK_KERNEL void clear() const {
    PENSTOCK_UNROLL_BY(4)
    for (int k = 0; k < 256 / kOfWord; ++k) words[k * kThreads] = 0;
  }
};

template <int bytes> struct CountType {
  using type = uint8_t;
};
template <> struct CountType<2> {
  using type = uint16_t;
};
template <> struct CountType<4> {
  using type = uint32_t;
};

// Units of work are threads. `bytes`: of a count, which holds all elements of a window.
template <class T, int bytes> PENSTOCK_KERNEL void median_counts(const Entry<CountsRow>& e) {
  using Count = typename CountType<bytes>::type;
  using All = Counts<Count>;
  constexpr uint8_t kSign = kByteSigns<T> & 255;
  const int mine = static_cast<int>(thread());
  if (mine >= All::kThreads) return;
  const CountsRow& r = e.row;
  const int height = static_cast<int>(r.height), channels = static_cast<int>(r.channels);
  const int across = static_cast<int>(r.across), down = static_cast<int>(r.down);
  const int width = static_cast<int>(r.width), length = width * channels;
  const uint32_t strips = static_cast<uint32_t>((r.height + r.rows - 1) / r.rows);
  const int half = (2 * across + 1) * (2 * down + 1) / 2, step = threads() < All::kThreads ? threads() : All::kThreads;
  const All counts{shared_memory<uint32_t>() + mine};
  for (int64_t item = e.begin + mine; item < e.end; item += step) {
    const uint32_t strip = static_cast<uint32_t>(item) / static_cast<uint32_t>(length), image = strip / strips;
    const int x = static_cast<int>(static_cast<uint32_t>(item) - strip * static_cast<uint32_t>(length));
    const int begin = static_cast<int>(strip - image * strips) * static_cast<int>(r.rows);
    const int end = begin + r.rows < height ? begin + static_cast<int>(r.rows) : height;
    const int64_t offset = static_cast<int64_t>(image) * height * length;
    const uint8_t* const in = static_cast<const uint8_t*>(r.in) + offset;
    uint8_t* const out = static_cast<uint8_t*>(r.out) + offset + x;
    const int pixel = x / channels, left = pixel < across ? pixel : across;
    const int right = width - 1 - pixel < across ? width - 1 - pixel : across;
    int group = 0, below = 0;  // of the median before; elements of lesser groups
    const auto one = [&](int value, int times) {
      counts.add(value, times);
      below += value < group * All::kGroup ? times : 0;
    };
    // Adds `by` for all elements of a row of the window; those beside the image are those of its edge.
    const auto add = [&](int y, int by) {
      y = y < 0 ? 0 : y < height ? y : height - 1;
      const uint8_t* const row = in + static_cast<int64_t>(y) * length + x;
      if (left < across) one(row[-left * channels] ^ kSign, (across - left) * by);
      if (right < across) one(row[right * channels] ^ kSign, (across - right) * by);
      PENSTOCK_UNROLL_BY(4)
      for (int k = -left; k <= right; ++k) one(row[k * channels] ^ kSign, by);
    };
    counts.clear();
    PENSTOCK_UNROLL_BY(1)
    for (int y = begin - down; y < end + down; ++y) {
      if (y > begin + down) add(y - 2 * down - 1, -1);
      add(y, 1);
      fetch_early(in + static_cast<int64_t>(y + 3 < height ? y + 3 : height - 1) * length + x);
      if (y < begin + down) continue;
      while (below > half) below -= counts.of_group(--group);
      for (int in_group; below + (in_group = counts.of_group(group)) <= half; ++group) below += in_group;
      const int median = counts.rank_in_group(group, half - below);
      out[static_cast<int64_t>(y - down) * length] = static_cast<uint8_t>(median) ^ kSign;
    }
  }
}

}  // namespace penstock::window
