// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace penstock {

// A pseudo-random permutation of [0, size) in constant memory, with constant expected time per index.
//
// Above 256 elements: a Feistel network over pairs (left, right), left < rows and right < columns, both about the
// square root of size; a result outside [0, size) goes through the network again (Black and Rogaway, "Ciphers with
// arbitrary finite domains", 2002). rows x columns is so close to size that about one index in rows needs that.
// Up to 256 elements: a table shuffled by Fisher and Yates, because a network on few elements reaches few permutations.
class Permutation {
 public:
  // 0 <= size < 2^62. `stream` distinguishes permutations with the same seed and epoch (a shard, say).
  Permutation(int64_t size, uint64_t seed, uint32_t epoch, uint32_t stream = 0);
  int64_t size() const { return size_; }
  int64_t operator()(int64_t index) const;  // 0 <= index < size

 private:
  static constexpr int rounds = 8;
  static constexpr int table_size = 256;
  int64_t size_ = 0;
  uint64_t rows_ = 1, columns_ = 1;
  std::array<uint64_t, rounds> key_{};
  std::array<uint8_t, table_size> table_{};
};

}  // namespace penstock
