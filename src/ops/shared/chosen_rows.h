// SPDX-License-Identifier: Apache-2.0
// Rows of an array drawn with equal probabilities, on the host: draws of many rows together. They are the rows of the
// rule in random_choice.cpp.
#pragma once
#include <cstdint>

#include "pixel/philox.h"

namespace penstock {

constexpr int64_t kMostChosen = int64_t{1} << 32;  // rows that a draw of 32 bits can number

// Row i of `out` is the row of `from` that draw i gives. A row has `bytes` of them.
void choose_rows(const void* from, int64_t rows, int64_t bytes, int64_t count, const RandomStream& stream, void* out);

}  // namespace penstock
