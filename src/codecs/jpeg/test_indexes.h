// SPDX-License-Identifier: Apache-2.0
// Entropy indexes that no JPEG file has, for tests only.
#pragma once
#include <random>
#include <vector>

#include "codecs/jpeg/entropy_index.h"

namespace penstock::test {

inline EntropyIndex make_index(int columns, int rows, uint32_t seed, uint32_t file_bytes = 100000, int components = 3) {
  std::mt19937 random(seed);
  EntropyIndex index;
  index.step = 8, index.columns = columns, index.rows = rows;
  index.file_bytes = file_bytes, index.scan_bytes = file_bytes - 600;
  const uint32_t pace = index.scan_bytes * 8 / static_cast<uint32_t>(columns * rows);
  for (uint32_t i = 0; i < static_cast<uint32_t>(columns * rows); ++i) {
    EntropyPoint p;
    p.bit = i * pace + (i ? random() % pace : 0);
    for (int c = 0; c < components && i > 0; ++c) p.dc[c] = static_cast<int16_t>(random() % 2048) - 1024;
    index.points.push_back(p);
  }
  return index;
}

inline std::vector<uint8_t> make_bytes(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> b(n);
  for (auto& x : b) x = static_cast<uint8_t>(random());
  return b;
}

}  // namespace penstock::test
