// SPDX-License-Identifier: Apache-2.0
// Pixels that are kept or become 0, on a GPU: a thread decides once for all channels of a pixel.
#pragma once
#include <cstdint>

#include "launch/entry.h"
#include "launch/global_memory.h"

namespace penstock::mask {

using namespace whole;

// Images follow each other. Elements are unsigned numbers of their size.
struct MaskRow {
  const void* in;
  void* out;
  int64_t height, width, channels;
  InData<char> coef;
};
static_assert(sizeof(MaskRow) == 48);

// Units of work are pixels. Rule: Coef, and clears(x, y, coef).
template <class T, class Rule> PENSTOCK_KERNEL void mask_pixels(const Entry<MaskRow>& e) {
  const T* const in = in_global_memory(static_cast<const T*>(e.row.in));
  T* const out = in_global_memory(static_cast<T*>(e.row.out));
  const auto width = static_cast<uint64_t>(e.row.width), height = static_cast<uint64_t>(e.row.height);
  const int64_t channels = e.row.channels;
  const auto coef = *reinterpret_cast<const typename Rule::Coef*>(e.at(e.row.coef));
  for (int64_t pixel = e.begin + thread(); pixel < e.end; pixel += threads()) {
    const auto i = static_cast<uint64_t>(pixel);
    const bool small = (i | width | height) >> 32 == 0;
    const uint64_t line = small ? static_cast<uint32_t>(i) / static_cast<uint32_t>(width) : i / width;
    const uint64_t image = small ? static_cast<uint32_t>(line) / static_cast<uint32_t>(height) : line / height;
    const bool cleared = Rule::clears(static_cast<double>(static_cast<int64_t>(i - line * width)),
                                      static_cast<double>(static_cast<int64_t>(line - image * height)), coef);
    const int64_t first = pixel * channels;
    PENSTOCK_UNROLL_BY(4)
    for (int64_t k = first; k < first + channels; ++k) out[k] = cleared ? T(0) : in[k];
  }
}

}  // namespace penstock::mask
