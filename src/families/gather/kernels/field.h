// SPDX-License-Identifier: Apache-2.0
// Random fields on a GPU: rows of noise that are smoothed across, then columns that are smoothed down. Sums are fused,
// in the order of the window. The functions of field.cpp give the same.
#pragma once
#include "families/gather/kernels/contract.h"
#include "launch/entry.h"

namespace penstock::gather {

// Two planes, of displacements along x and y.
struct FieldRow {
  const float* from;  // what is smoothed down; null: noise is smoothed across
  float* to;
  RandomStream draws;
  int32_t height, width;
  int32_t radius;                // of the window
  float scale;                   // of what is smoothed down
  whole::InData<float> weights;  // 2 * radius + 1 of them; before and after, kFieldRows - 1 zeros
};
static_assert(sizeof(FieldRow) == 56);

constexpr int kFieldRows = 4;        // that a thread smooths down at once
constexpr int kFieldColumns = 1024;  // of a row that a block smooths across
constexpr int kMostRadius = 4096;    // what a block sees fits in its memory

// A row is drawn in groups of 256 numbers: word k of block i of a group is number 64 * k + i.
constexpr int kGroup = 256, kGroupBlocks = 64;
constexpr int32_t groups_of(int32_t width) { return (width - 1) / kGroup + 1; }
// From -1 to 1.
PENSTOCK_HD inline float noise_of(uint32_t bits) { return uniform01(bits) * 2.0f - 1.0f; }
// `row`: of both planes.
PENSTOCK_HD inline PhiloxBlock noise_block(const RandomStream& draws, int64_t row, int32_t groups, int32_t block) {
  const uint64_t i =
      static_cast<uint64_t>(row) * static_cast<uint64_t>(groups * kGroupBlocks) + static_cast<uint64_t>(block);
  return Philox::generate({{static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32),
                            static_cast<uint32_t>(draws.sample), static_cast<uint32_t>(draws.sample >> 32)}},
                          draws.key0, draws.key1);
}

// A block makes kFieldColumns of a row. Units of work are its threads.
PENSTOCK_KERNEL void smooth_across(const whole::Entry<FieldRow>& e) {
  const FieldRow& r = e.row;
  const float* weights = e.at(r.weights) + kFieldRows - 1;
  const int32_t width = r.width, radius = r.radius, groups = groups_of(width);
  const int32_t parts = (width - 1) / kFieldColumns + 1;
  auto* seen = whole::shared_memory<float>();  // from column `first` on
  for (int64_t tile = e.begin / whole::kThreads; tile < e.end / whole::kThreads; ++tile) {
    const int64_t row = tile / parts;
    const int32_t begin = static_cast<int32_t>(tile - row * parts) * kFieldColumns, first = begin - radius;
    const int32_t count = width - begin < kFieldColumns ? width - begin : kFieldColumns;
    const int32_t end = begin + count + radius, low = first > 0 ? first : 0, high = end < width ? end : width;
    whole::wait_for_block();
    const int32_t first_block = low / kGroup * kGroupBlocks, blocks = ((high - 1) / kGroup + 1) * kGroupBlocks;
    for (int32_t b = first_block + static_cast<int32_t>(whole::thread()); b < blocks;
         b += static_cast<int32_t>(whole::threads())) {
      const PhiloxBlock words = noise_block(r.draws, row, groups, b);
      const int32_t x = b / kGroupBlocks * kGroup + b % kGroupBlocks;
      for (int k = 0; k < 4; ++k)
        if (x + kGroupBlocks * k >= low && x + kGroupBlocks * k < high)
          seen[x + kGroupBlocks * k - first] = noise_of(words.word[k]);
    }
    whole::wait_for_block();
    for (int32_t x = first + static_cast<int32_t>(whole::thread()); x < end;
         x += static_cast<int32_t>(whole::threads()))
      if (x < 0 || x >= width) seen[x - first] = seen[bordered(x, width, kReflect101) - first];
    whole::wait_for_block();
    for (auto x = static_cast<int32_t>(whole::thread()); x < whole::kThreads;
         x += static_cast<int32_t>(whole::threads())) {
      constexpr int kSums = kFieldColumns / whole::kThreads;
      float sums[kSums] = {};
      for (int32_t k = 0; k <= 2 * radius; ++k) {
        const float weight = read_only(weights + k);
        PENSTOCK_UNROLL
        for (int j = 0; j < kSums; ++j) sums[j] = fma(weight, seen[x + k + j * whole::kThreads], sums[j]);
      }
      PENSTOCK_UNROLL
      for (int j = 0; j < kSums; ++j)
        if (x + j * whole::kThreads < count) r.to[row * width + begin + x + j * whole::kThreads] = sums[j];
    }
  }
}

// A thread makes kFieldRows numbers of a column. Units of work are columns of so many rows.
PENSTOCK_KERNEL void smooth_down(const whole::Entry<FieldRow>& e) {
  const FieldRow& r = e.row;
  const float* weights = e.at(r.weights);
  const int32_t width = r.width, height = r.height, radius = r.radius, parts = (height - 1) / kFieldRows + 1;
  const float scale = r.scale;
  for (int64_t i = e.begin + whole::thread(); i < e.end; i += whole::threads()) {
    const int64_t part = i / width, plane = part / parts;
    const auto x = static_cast<int32_t>(i - part * width), y = static_cast<int32_t>(part - plane * parts) * kFieldRows;
    const float* from = r.from + plane * height * width + x;
    float sums[kFieldRows] = {};
    for (int32_t k = 0; k < 2 * radius + kFieldRows; ++k) {
      const float v = read_only(from + int64_t{bordered(y - radius + k, height, kReflect101)} * width);
      PENSTOCK_UNROLL
      for (int j = 0; j < kFieldRows; ++j) sums[j] = fma(read_only(weights + k + kFieldRows - 1 - j), v, sums[j]);
    }
    float* to = r.to + (plane * height + y) * width + x;
    PENSTOCK_UNROLL
    for (int j = 0; j < kFieldRows; ++j)
      if (y + j < height) to[int64_t{j} * width] = sums[j] * scale;
  }
}

}  // namespace penstock::gather
