// SPDX-License-Identifier: Apache-2.0
// What operators that raise to a power give to the loops over pixels.
#pragma once
#include <concepts>

#include "ops/shared/arithmetic.h"
#include "pixel/transcendental.h"

namespace penstock {

// A run of powers without special cases, as most are, takes a third fewer instructions (pixel_loop.inc.h).
struct PlainPowers {
  template <std::same_as<float> V> PENSTOCK_LOOPED static bool pair_takes_near(V x, V y) {
    return single_precision::is_plain_power(x, y);
  }
  template <std::same_as<float> V> PENSTOCK_LOOPED static V pixel_near(V x, V y) {
    return single_precision::pow_plain(x, y);
  }
};

}  // namespace penstock
