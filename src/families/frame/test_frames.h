// SPDX-License-Identifier: Apache-2.0
// Random rows for the tests of frames: all orders of colors and of chroma.
#pragma once
#include <algorithm>
#include <random>
#include <vector>

#include "families/frame/twin.h"

namespace penstock::frame {

template <class T> struct TestSide {
  std::vector<T> memory;
  Side side{};
};

// How chroma lies: planes, pairs, with luma in turn; and its halves.
struct ChromaOrder {
  bool planes, packed, turned;
  int half_x, half_y;
};
constexpr ChromaOrder kOrders[] = {{false, false, false, 1, 1}, {false, false, true, 1, 1}, {true, false, false, 1, 1},
                                   {true, false, true, 1, 1},   {false, true, false, 1, 0}, {false, true, true, 1, 0},
                                   {false, false, false, 1, 0}, {false, false, false, 0, 0}};

template <class T> void put_plane(TestSide<T>& s, int p, size_t at, int64_t pitch, int step) {
  s.side.plane[p] = s.memory.data() + at, s.side.pitch[p] = pitch, s.side.step[p] = step;
}

template <class T> TestSide<T> test_side(int kind, int64_t height, int64_t width, std::mt19937& random) {
  TestSide<T> s;
  const int channels = kind == colors ? 3 + static_cast<int>(random() % 2) : kind == gray ? 1 : 2;
  const bool turned = random() % 2 != 0;
  const size_t shift = random() % 3;  // addresses that are no multiples of four
  const int64_t after = kind == colors ? static_cast<int64_t>(random() % 2 * 7) : 0;  // what follows a row
  s.memory.resize(shift + static_cast<size_t>(height * (width * 4 + after)) + 1);
  for (T& v : s.memory) {
    if constexpr (std::is_floating_point_v<T>) v = static_cast<T>(random() % 1000) / 999;
    else v = static_cast<T>(random());
  }
  s.side.kind = kind, s.side.channels = kind == colors ? channels : kind == chroma ? 1 : 3;
  for (int p = 0; p < 4; ++p) {
    const int at = kind == colors ? (p == 3 ? channels - 1 : turned ? 2 - p : p) : std::min(p, channels - 1);
    put_plane(s, p, shift + static_cast<size_t>(at), width * channels + after, channels);
  }
  if (kind != chroma) return s;
  const ChromaOrder o = kOrders[random() % std::size(kOrders)];
  const int64_t across = width >> o.half_x, down = height >> o.half_y;
  const size_t n = static_cast<size_t>(height * width), first = o.turned ? 1 : 0;
  s.side.half_x = o.half_x, s.side.half_y = o.half_y;
  if (o.packed) {
    const size_t light = o.turned ? 1 : 0;
    put_plane(s, 0, shift + light, 2 * width, 2);
    put_plane(s, 1, shift + 1 - light, 2 * width, 4), put_plane(s, 2, shift + 3 - light, 2 * width, 4);
  } else {
    put_plane(s, 0, shift, width, 1);
    const size_t second = o.planes ? static_cast<size_t>(across * down) : 1;
    for (int p = 1; p < 3; ++p)
      put_plane(s, p, shift + n + ((p == 2) != (first == 1) ? second : 0), o.planes ? across : 2 * across,
                o.planes ? 1 : 2);
  }
  return s;
}

inline Matrix test_matrix() {
  constexpr int kBits = 20;
  return {1220542,
          1673527,
          -409993,
          -852492,
          2116026,
          16,
          {269484, 528482, 102760},
          {-155188, -305135, 460324},
          {460324, -385875, -74448},
          (16 << kBits) + (1 << (kBits - 1)),
          (128 << kBits) + (1 << (kBits - 1)),
          kBits};
}

// Calls f(row, in, out) with random rows of a pair of kinds. Both sides live while f runs.
template <class T, int from, int to, class F> void with_test_row(int64_t widest, std::mt19937& random, const F& f) {
  const bool even = from == chroma || to == chroma;
  int64_t height = 1 + static_cast<int64_t>(random() % 6), width = 1 + static_cast<int64_t>(random()) % widest;
  if (even) height *= 2, width *= 2;
  TestSide<T> in = test_side<T>(from, height, width, random), out = test_side<T>(to, height, width, random);
  f(FrameRow{in.side, out.side, height, width, test_matrix(), static_cast<int32_t>(random() % 2)}, out);
}

}  // namespace penstock::frame
