// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/chosen_rows.h"

#include <algorithm>
#include <cstring>

#include "base/crew.h"
#include "ops/shared/random_streams.h"

namespace penstock {
namespace {

constexpr int64_t kChoices = 4 * static_cast<int64_t>(kStreamsTogether);  // of a tile

// Draws first .. first + kChoices - 1 as row numbers, in order.
void draw_rows(const RandomStream& stream, int64_t first, int64_t rows, uint32_t* chosen) {
  PhiloxColumns blocks;
  philox_run(stream, static_cast<uint64_t>(first) / 4, kStreamsTogether, blocks);
  for (size_t b = 0; b < kStreamsTogether; ++b)
    for (size_t k = 0; k < 4; ++k) chosen[4 * b + k] = static_cast<uint32_t>(below(blocks.word[k][b], rows));
}

using CopyChosen = void (*)(const char* from, int64_t bytes, const uint32_t* chosen, int64_t n, char* to);
// kBytes: of a row; 0: known at run time.
template <size_t kBytes>
void copy_chosen(const char* from, int64_t bytes, const uint32_t* chosen, int64_t n, char* to) {
  const auto size = kBytes ? kBytes : static_cast<size_t>(bytes);
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + static_cast<size_t>(i) * size, from + chosen[i] * size, size);
}
CopyChosen copy_of(int64_t bytes) {
  switch (bytes) {
    case 1: return &copy_chosen<1>;
    case 2: return &copy_chosen<2>;
    case 3: return &copy_chosen<3>;
    case 4: return &copy_chosen<4>;
    case 8: return &copy_chosen<8>;
    case 12: return &copy_chosen<12>;
    case 16: return &copy_chosen<16>;
    default: return &copy_chosen<0>;
  }
}

}  // namespace

void choose_rows(const void* from, int64_t rows, int64_t bytes, int64_t count, const RandomStream& stream, void* out) {
  const CopyChosen copy = copy_of(bytes);
  Crew::share((count + kChoices - 1) / kChoices, count * bytes, [&](int64_t tile, int64_t end) {
    alignas(64) uint32_t chosen[kChoices];
    for (; tile < end; ++tile) {
      const int64_t first = tile * kChoices;
      draw_rows(stream, first, rows, chosen);
      copy(static_cast<const char*>(from), bytes, chosen, std::min(kChoices, count - first),
           static_cast<char*>(out) + first * bytes);
    }
  });
}

}  // namespace penstock
