// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/intrinsics.h"
#include "batch/copy_plan.h"

namespace penstock {
namespace {

// Byte t of register k comes from byte at[k][r][t] of register r, if that is less than 16.
struct ByteMasks {
  alignas(16) uint8_t at[3][3][16];
};
// from(i): the byte of 48 that becomes byte i.
template <class From> constexpr ByteMasks masks_of(From from) {
  ByteMasks m{};
  for (int i = 0; i < 48; ++i)
    for (int r = 0; r < 3; ++r)
      m.at[i / 16][r][i % 16] = from(i) / 16 == r ? static_cast<uint8_t>(from(i) % 16) : uint8_t{0x80};
  return m;
}
// Pixels of three bytes to planes of 16, and back.
[[maybe_unused]] constexpr ByteMasks kToPlanes = masks_of([](int i) { return i % 16 * 3 + i / 16; });
[[maybe_unused]] constexpr ByteMasks kToPixels = masks_of([](int i) { return i % 3 * 16 + i / 3; });

#define PENSTOCK_LOOPS rows
#define PENSTOCK_LOOPS_TEXT "batch/copy_rows.inc.h"
#include "base/foreach_target.h"

}  // namespace

const CopyRows& copy_rows(Target t) { return PENSTOCK_FOR_TARGET(t, rows, kRows); }

}  // namespace penstock
