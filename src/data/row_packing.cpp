// SPDX-License-Identifier: Apache-2.0
#include "data/row_packing.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "data/permutation.h"

namespace penstock {
namespace {

// The room that is left in the rows of a window, and in a tree above them the most of each half, quarter ...
class Rooms {
 public:
  Rooms(size_t rows, const Packing& p)
      : leaves_(std::bit_ceil(rows)), most_(2 * leaves_, p.row_length), samples_(rows), most_samples_(p.most) {}

  // Takes the room from the first row that has it.
  size_t take(double length) {
    size_t at = 1;
    while (at < leaves_) at = most_[2 * at] >= length ? 2 * at : 2 * at + 1;
    const size_t row = at - leaves_;
    most_[at] = ++samples_[row] == most_samples_ ? -1 : most_[at] - length;  // -1: not even a sample without elements
    while (at /= 2) most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
    return row;
  }

 private:
  size_t leaves_;
  std::vector<double> most_;
  std::vector<int64_t> samples_;
  int64_t most_samples_;
};

// Appends the rows of the samples.
template <class T>
void pack_window(std::span<uint32_t> samples, std::span<const T> lengths, const Packing& packing, PackedRows& out) {
  std::stable_sort(samples.begin(), samples.end(), [&](uint32_t a, uint32_t b) { return lengths[a] > lengths[b]; });
  Rooms rooms(samples.size(), packing);
  std::vector<std::vector<uint32_t>> rows;
  for (const uint32_t s : samples) {
    const size_t row = rooms.take(lengths[s]);
    if (row >= rows.size()) rows.resize(row + 1);
    rows[row].push_back(s);
  }
  for (const auto& row : rows) {
    out.samples.insert(out.samples.end(), row.begin(), row.end());
    out.first.push_back(static_cast<int64_t>(out.samples.size()));
  }
}

}  // namespace

template <class T> PackedRows pack_rows(std::span<const T> lengths, const Packing& packing) {
  if (lengths.size() > UINT32_MAX) bad_argument("{} samples are too many for rows", lengths.size());
  if (packing.window < 1) bad_argument("window must be at least 1, got {}", packing.window);
  if (packing.most < 1) bad_argument("a row must have room for a sample, got {}", packing.most);
  for (size_t i = 0; i < lengths.size(); ++i)
    if (!(lengths[i] <= packing.row_length))
      bad_argument("sample {} has {} elements, more than row_length = {}", i, lengths[i], packing.row_length);
  const auto n = static_cast<int64_t>(lengths.size());
  const Permutation order(packing.seed ? n : 0, packing.seed.value_or(0), 0);
  PackedRows out{{}, {0}};
  out.samples.reserve(lengths.size());
  std::vector<uint32_t> samples;
  for (int64_t at = 0; at < n;) {
    samples.clear();
    for (; at < n && static_cast<int64_t>(samples.size()) < packing.window; ++at)
      samples.push_back(static_cast<uint32_t>(packing.seed ? order(at) : at));
    pack_window(std::span(samples), lengths, packing, out);
  }
  return out;
}
template PackedRows pack_rows(std::span<const uint32_t>, const Packing&);
template PackedRows pack_rows(std::span<const float>, const Packing&);

}  // namespace penstock
