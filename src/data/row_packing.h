// SPDX-License-Identifier: Apache-2.0
// Several samples in one row, so that rows of one length have little padding.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace penstock {

struct Packing {
  double row_length = 0;         // the most that the lengths of a row add up to
  int64_t window = 1;            // how many samples are placed together
  int64_t most = INT64_MAX;      // samples of a row
  std::optional<uint64_t> seed;  // permutes the samples before; none: they are taken in their order
};

struct PackedRows {
  std::vector<uint32_t> samples;  // row r has samples[first[r]] to samples[first[r + 1] - 1]
  std::vector<int64_t> first;     // one more than there are rows
};

// Divides samples into rows. The samples are taken `window` at a time; those of a window are placed from the longest to
// the shortest, each in its first row that has room. So the rows are a pure function of the arguments and the same in
// all epochs. For uint32_t and float. Error (argument) on a sample that is longer than a row.
template <class T> PackedRows pack_rows(std::span<const T> lengths, const Packing& packing);

}  // namespace penstock
