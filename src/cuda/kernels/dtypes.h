// SPDX-License-Identifier: Apache-2.0
// From the numbers of element types and compute types, as tables have them, to the types.
#pragma once
#include "pixel/convert.h"

// In the order of Lane.
#define PENSTOCK_LANES(lane, f) \
  switch (lane) {               \
    case 0: f(float);           \
    case 1: f(double);          \
    case 2: f(int32_t);         \
    case 3: f(int64_t);         \
    default: f(uint64_t);       \
  }
// In the order of DType.
#define PENSTOCK_TYPES(dtype, f) \
  switch (dtype) {               \
    case 0: f(uint8_t);          \
    case 1: f(uint16_t);         \
    case 2: f(uint32_t);         \
    case 3: f(uint64_t);         \
    case 4: f(int8_t);           \
    case 5: f(int16_t);          \
    case 6: f(int32_t);          \
    case 7: f(int64_t);          \
    case 8: f(Half);             \
    case 9: f(float);            \
    case 10: f(double);          \
    case 13: f(BFloat16);        \
    default: f(bool);            \
  }
