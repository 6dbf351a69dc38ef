// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/alike_words.h"

#include <cstddef>
#include <cstring>

namespace penstock {
namespace {

template <class T> void put_number(int64_t* taps, size_t offset, T value) {
  std::memcpy(reinterpret_cast<std::byte*>(taps) + offset, &value, sizeof value);
}

void put_axis(const AlikeAxis& a, int64_t* tile, int64_t& stride) {
  put_number(tile, offsetof(AxisTaps, taps), a.taps);
  put_number(tile, offsetof(AxisTaps, in), a.in);
  put_number(tile, offsetof(AxisTaps, lo), a.lo);
  put_number(tile, offsetof(AxisTaps, scale), a.scale);
  int64_t* const own = tile + EntryLayout::kTapWords;
  own[0] = a.begin, own[1] = a.step, own[3] = a.hop;
  stride = a.stride;
}

}  // namespace

void put_alike(const AlikeSample& s, const EntryLayout& at, int dims, int64_t* words) {
  put_axis(s.x, words + at.tile_x(), words[at.dim(dims - 1) + 4]);
  put_axis(s.y, words + at.tile_y(), words[at.dim(dims - 2) + 4]);
}

}  // namespace penstock
