// SPDX-License-Identifier: Apache-2.0
// Where the least and the greatest element of an array are, on the CPU.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace penstock {

struct ExtremePlaces {
  int64_t least = -1, most = -1;  // the first of equal ones; -1: none is a number
};
ExtremePlaces extreme_places(DType dtype, const void* elements, int64_t n);

}  // namespace penstock
