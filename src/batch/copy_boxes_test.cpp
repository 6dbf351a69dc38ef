// SPDX-License-Identifier: Apache-2.0
#include "batch/copy_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace penstock {
namespace {

void copy_plainly(const char* from, char* to, std::span<const CopyDim> dims, int64_t bytes) {
  if (dims.empty()) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  for (int64_t i = 0; i < dims[0].extent; ++i)
    copy_plainly(from + i * dims[0].from, to + i * dims[0].to, dims.subspan(1), bytes);
}

// Dense memory whose dimensions are in a random order, some of them mirrored or with gaps. Adds the place of the first
// element to `first`.
std::vector<int64_t> random_strides(std::span<const int64_t> extents, int64_t bytes, std::mt19937& draw, bool gaps,
                                    int64_t& size, int64_t& first) {
  std::vector<size_t> order(extents.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (draw() % 2) std::ranges::shuffle(order, draw);
  std::vector<int64_t> strides(extents.size());
  size = bytes, first = 0;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[*d] = size;
    size *= extents[*d];
    if (gaps && draw() % 4 == 0) size += bytes;
    if (draw() % 4 == 0) first += (extents[*d] - 1) * strides[*d], strides[*d] = -strides[*d];
  }
  return strides;
}

TEST(CopyBoxes, EveryOrderOfDimensionsOnEveryTarget) {
  std::mt19937 draw(7);
  const int64_t kinds[] = {1, 2, 3, 3, 4, 5, 8, 16, 17, 33, 40, 70};
  for (int trial = 0; trial < 1500; ++trial) {
    const int64_t bytes = int64_t{1} << draw() % 4;
    std::vector<int64_t> extents(draw() % 5);
    int64_t volume = 1;
    for (auto& e : extents) {
      e = kinds[draw() % std::size(kinds)];
      if (volume * e > 40000) e = 1;
      volume *= e;
    }
    int64_t from_size, to_size, from_first, to_first;
    const auto from_strides = random_strides(extents, bytes, draw, true, from_size, from_first);
    const auto to_strides = random_strides(extents, bytes, draw, true, to_size, to_first);
    std::vector<CopyDim> dims;
    for (size_t d = 0; d < extents.size(); ++d) dims.push_back({extents[d], from_strides[d], to_strides[d]});
    if (!dims.empty() && draw() % 8 == 0) dims[draw() % dims.size()].from = 0;
    // Memory of exactly this size: sanitizers see what is read or written outside.
    std::vector<char> from(static_cast<size_t>(from_size)), to(static_cast<size_t>(to_size), 'x'), wanted = to;
    for (char& c : from) c = static_cast<char>(draw());
    copy_plainly(from.data() + from_first, wanted.data() + to_first, dims, bytes);
    for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
      std::ranges::fill(to, 'x');
      copy_boxes(from.data() + from_first, to.data() + to_first, dims, bytes, static_cast<Target>(t));
      ASSERT_EQ(to, wanted) << "trial " << trial << ", target " << t;
    }
  }
}

// Runs that are long enough for vectors, from and to every place in a cache line; copies so large that they bypass the
// caches; none writes outside its memory.
TEST(CopyBoxes, PixelsOfThreeBytesBecomePlanesAtEveryLength) {
  for (int64_t n = 1; n <= 100; ++n) {
    std::vector<char> from(static_cast<size_t>(3 * n)), wanted(from.size());
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(7 * i);
    const CopyDim dims[] = {{n, 3, 1}, {3, 1, n}};
    copy_plainly(from.data(), wanted.data(), dims, 1);
    for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
      std::vector<char> to(from.size(), 'x');
      copy_boxes(from.data(), to.data(), dims, 1, static_cast<Target>(t));
      ASSERT_EQ(to, wanted) << n << " pixels, target " << t;
    }
  }
}

TEST(CopyBoxes, LongRunsAtEveryAlignment) {
  std::mt19937 draw(8);
  for (int trial = 0; trial < 400; ++trial) {
    const int64_t bytes = int64_t{1} << draw() % 4, channels = 1 + draw() % 4, pixel = bytes * channels;
    const bool large = trial % 20 == 0, repeated = draw() % 2;
    const int64_t rows = large ? 40 : 3, width = (large ? 40000 : draw() % 2 ? 700 : 4500) / pixel + draw() % 40;
    const int64_t row = width * pixel, size = rows * row;
    std::vector<char> from(static_cast<size_t>(size)), to(static_cast<size_t>(size + 128), 'x'), wanted = to;
    for (char& c : from) c = static_cast<char>(draw());
    const bool forward = !repeated && draw() % 2;
    const int64_t step = repeated ? 0 : forward ? pixel : -pixel, at = draw() % 64;
    const int64_t first = repeated || forward ? 0 : row - pixel, copied = forward ? width - draw() % 2 : width;
    const CopyDim dims[] = {{rows, row, row}, {copied, step, pixel}, {channels, bytes, bytes}};
    copy_plainly(from.data() + first, wanted.data() + at, dims, bytes);
    for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
      std::ranges::fill(to, 'x');
      copy_boxes(from.data() + first, to.data() + at, dims, bytes, static_cast<Target>(t));
      ASSERT_EQ(to, wanted) << "trial " << trial << ", target " << t;
    }
  }
}

}  // namespace
}  // namespace penstock
