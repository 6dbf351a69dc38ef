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

// The counts of a thread: neighboring threads have them in different banks.
template <class Count> struct Counts {
  static constexpr int kThreads = count_threads(sizeof(Count)), kOfWord = 4 / sizeof(Count);
  Count* counts;
  PENSTOCK_KERNEL Count& operator[](int value) const {
    return counts[value / kOfWord * (kThreads * kOfWord) + value % kOfWord];
  }
  PENSTOCK_KERNEL void clear() const {
    for (int value = 0; value < 256; ++value) (*this)[value] = 0;
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
  const All counts{shared_memory<Count>() + mine * All::kOfWord};
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
    int median = 0, below = 0;  // elements that are less
    // Adds `by` for all elements of a row of the window; those beside the image are those of its edge.
    const auto add = [&](int y, int by) {
      y = y < 0 ? 0 : y < height ? y : height - 1;
      const uint8_t* const row = in + static_cast<int64_t>(y) * length + x;
      const auto one = [&](int at, int times) {
        const int value = row[at] ^ kSign;
        counts[value] = static_cast<Count>(counts[value] + times);
        below += value < median ? times : 0;
      };
      if (left < across) one(-left * channels, (across - left) * by);
      if (right < across) one(right * channels, (across - right) * by);
      PENSTOCK_UNROLL_BY(4)
      for (int k = -left; k <= right; ++k) one(k * channels, by);
    };
    counts.clear();
    PENSTOCK_UNROLL_BY(1)
    for (int y = begin - down; y < end + down; ++y) {
      if (y > begin + down) add(y - 2 * down - 1, -1);
      add(y, 1);
      if (y < begin + down) continue;
      while (below > half) below -= counts[--median];
      while (below + static_cast<int>(counts[median]) <= half) below += counts[median++];
      out[static_cast<int64_t>(y - down) * length] = static_cast<uint8_t>(median) ^ kSign;
    }
  }
}

}  // namespace penstock::window
