// SPDX-License-Identifier: Apache-2.0
// Labels arrive as signed integers of several widths.
#pragma once
#include "base/dtype.h"

namespace penstock {

// Both are signed integers and `to` has more bits, so every value is preserved.
constexpr bool widens_to(DType from, DType to) {
  return is_integer(from) && is_integer(to) && !is_unsigned(from) && !is_unsigned(to) && size_of(from) < size_of(to);
}

}  // namespace penstock
