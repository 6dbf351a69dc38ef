// SPDX-License-Identifier: Apache-2.0
// Included once per target by median_counts.cpp: medians of bytes by counts that slide along a row.

// How many elements of a window have a value; coarse: any of 16 values. The 16 of `fine` are those of an earlier
// window, whose place is in `at`, until they are asked for.
template <class Count> struct Sums {
  alignas(64) Count fine[256];
  Count coarse[16];
  int64_t at[16];
};

inline void count(Column& c, uint8_t key, uint16_t by) {
  c.fine[key] = static_cast<uint16_t>(c.fine[key] + by);
  c.coarse[key >> 4] = static_cast<uint16_t>(c.coarse[key >> 4] + by);
}
template <class Count> inline void add(Count* to, const uint16_t* in) {
  for (int i = 0; i < 16; ++i) to[i] = static_cast<Count>(to[i] + in[i]);
}
template <class Count> inline void slide(Count* to, const uint16_t* in, const uint16_t* out) {
  for (int i = 0; i < 16; ++i) to[i] = static_cast<Count>(to[i] + in[i] - out[i]);
}
// The value that `below` elements or fewer are less than, and more are not greater than, in the window at x.
template <class Count, class ColumnAt>
uint8_t ranked(Sums<Count>& s, int64_t below, int64_t x, int64_t across, const ColumnAt& column) {
  int c = 0;
  for (; below >= s.coarse[c]; ++c) below -= s.coarse[c];
  Count* const fine = s.fine + c * 16;
  if (x - s.at[c] > across) {
    std::fill(fine, fine + 16, Count(0));
    for (int64_t i = x - across; i <= x + across; ++i) add(fine, column(i).fine + c * 16);
  } else {
    for (int64_t i = s.at[c] + 1; i <= x; ++i)
      slide(fine, column(i + across).fine + c * 16, column(i - 1 - across).fine + c * 16);
  }
  s.at[c] = x;
  int v = 0;
  for (; below >= fine[v]; ++v) below -= fine[v];
  return static_cast<uint8_t>(c * 16 + v);
}

template <class Count> void median_strip(const Strip& s, Column* columns) {
  const int64_t across = s.width / 2, down = s.height / 2, step = s.image.inner, row = s.image.width * step;
  const int64_t first = std::max<int64_t>(s.begin - across, 0), last = std::min(s.end + across, s.image.width);
  const auto seen_row = [&](int64_t y) { return s.in + std::clamp<int64_t>(y, 0, s.image.height - 1) * row; };
  const auto column = [&](int64_t x) -> const Column& {
    return columns[std::clamp<int64_t>(x, 0, s.image.width - 1) - first];
  };
  std::memset(static_cast<void*>(columns), 0, static_cast<size_t>(last - first) * sizeof(Column));
  for (int64_t y = -down; y <= down; ++y)
    for (int64_t x = first; x < last; ++x) count(columns[x - first], seen_row(y)[x * step] ^ s.flip, 1);
  for (int64_t y = 0; y < s.image.height; ++y) {
    const uint8_t *entering = seen_row(y + down), *leaving = seen_row(y - 1 - down);
    if (y > 0 && entering != leaving)
      for (int64_t x = first; x < last; ++x) {
        count(columns[x - first], entering[x * step] ^ s.flip, 1);
        count(columns[x - first], leaving[x * step] ^ s.flip, static_cast<uint16_t>(-1));
      }
    Sums<Count> sums{};
    std::fill(sums.at, sums.at + 16, s.begin - s.width);
    for (int64_t x = s.begin - across; x <= s.begin + across; ++x) add(sums.coarse, column(x).coarse);
    uint8_t* const to = s.out + y * row;
    for (int64_t x = s.begin; x < s.end; ++x) {
      to[x * step] = ranked(sums, s.width * s.height / 2, x, across, column) ^ s.flip;
      if (x + 1 < s.end) slide(sums.coarse, column(x + 1 + across).coarse, column(x - across).coarse);
    }
  }
}

constexpr CountLoops kLoops{&median_strip<uint16_t>, &median_strip<uint32_t>};
