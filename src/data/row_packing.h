// SPDX-License-Identifier: Apache-2.0
// Several samples in one row, so that rows of one length have little padding.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace penstock {

struct PackedRows {
  std::vector<uint32_t> samples;  // row r has samples[first[r]] to samples[first[r + 1] - 1]
  std::vector<int64_t> first;     // one more than there are rows
};

// Divides samples into rows of at most row_length elements. The samples are permuted by the seed and taken `window`
// at a time; those of a window are placed from the longest to the shortest, each in its first row that has room.
// So the rows are a pure function of the arguments and the same in all epochs. Error (argument) on a sample that is
// longer than a row.
PackedRows pack_rows(std::span<const uint32_t> lengths, int64_t row_length, int64_t window, uint64_t seed);

}  // namespace penstock
