// SPDX-License-Identifier: Apache-2.0
// Distances of descriptors, included once per target by descriptor_matches.cpp.

// A vector is as wide as a register: GCC keeps wider ones in memory, element by element. Two of them at a time: with
// kRowsTogether rows the sums stay in registers.
constexpr int kWide = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
constexpr int kVectors = kWide < kRowsAtOnce ? 2 : 1;
using Lanes = float __attribute__((vector_size(kWide * sizeof(float))));

template <int32_t norm> PENSTOCK_INLINE void add_distance(Lanes& sum, const Lanes& apart) {
  if constexpr (norm == kNormL2) sum += apart * apart;
  else sum += apart < 0 ? -apart : apart;
}
// Distances of kRowsTogether rows from those of a block, for the numbers [begin, end). A sum has the order of numbers.
template <int32_t norm> PENSTOCK_INLINE void sum_block(const float* const* rows, const float* block, int64_t begin,
                                                       int64_t end, float (&sums)[kRowsTogether][kRowsAtOnce]) {
  for (int first = 0; first < kRowsAtOnce; first += kVectors * kWide) {
    Lanes sum[kRowsTogether][kVectors] = {};
    for (int64_t d = begin; d < end; ++d)
      for (int v = 0; v < kVectors; ++v) {
        Lanes other;
        std::memcpy(&other, block + d * kRowsAtOnce + first + v * kWide, sizeof other);
        for (int r = 0; r < kRowsTogether; ++r) add_distance<norm>(sum[r][v], rows[r][d] - other);
      }
    for (int r = 0; r < kRowsTogether; ++r) std::memcpy(&sums[r][first], sum[r], sizeof sum[r]);
  }
}
// Bytes as float32: sums of 256 numbers are exact.
template <int32_t norm> inline void compare_block(const float* const* rows, const float* block, int64_t numbers,
                                                  bool bytes, int32_t (&bits)[kRowsTogether][kRowsAtOnce]) {
  float sums[kRowsTogether][kRowsAtOnce];
  if (!bytes || numbers <= kExactNumbers) {
    sum_block<norm>(rows, block, 0, numbers, sums);
  } else {
    int32_t whole[kRowsTogether][kRowsAtOnce] = {};
    for (int64_t d = 0; d < numbers; d += kExactNumbers) {
      sum_block<norm>(rows, block, d, std::min(numbers, d + kExactNumbers), sums);
      for (int r = 0; r < kRowsTogether; ++r)
        for (int k = 0; k < kRowsAtOnce; ++k) whole[r][k] += static_cast<int32_t>(sums[r][k]);
    }
    for (int r = 0; r < kRowsTogether; ++r)
      for (int k = 0; k < kRowsAtOnce; ++k) sums[r][k] = static_cast<float>(whole[r][k]);
  }
  for (int r = 0; r < kRowsTogether; ++r)
    for (int k = 0; k < kRowsAtOnce; ++k) bits[r][k] = distance_bits(sums[r][k], norm);
}
inline void compare_numbers(const float* const* rows, const float* blocks, const MatchCoef& c, int64_t row_size,
                            int32_t* bits) {
  int32_t found[kRowsTogether][kRowsAtOnce];
  for (int64_t m = 0; m < row_size; m += kRowsAtOnce) {
    if (c.norm == kNormL2) compare_block<kNormL2>(rows, blocks + m * c.numbers, c.numbers, c.bytes != 0, found);
    else compare_block<kNormL1>(rows, blocks + m * c.numbers, c.numbers, c.bytes != 0, found);
    for (int r = 0; r < kRowsTogether; ++r) std::memcpy(bits + r * row_size + m, found[r], sizeof found[r]);
  }
}
// Words of 8 bytes.
inline void compare_words(const uint64_t* row, const uint64_t* others, int64_t words, int64_t n, int32_t* bits) {
  for (int64_t m = 0; m < n; ++m) {
    int64_t sum = 0;
    for (int64_t w = 0; w < words; ++w) sum += __builtin_popcountll(row[w] ^ others[m * words + w]);
    bits[m] = std::bit_cast<int32_t>(static_cast<float>(sum));
  }
}
inline int32_t least_of(const int32_t* bits, int64_t n) {
  int32_t least = bits[0];
  for (int64_t m = 1; m < n; ++m) least = std::min(least, bits[m]);
  return least;
}
// For each row of the target the source that is nearest so far.
inline void keep_nearer(const int32_t* bits, int32_t number, int64_t n, int32_t* least, int32_t* nearest) {
  for (int64_t m = 0; m < n; ++m) {
    const bool nearer = bits[m] < least[m];
    nearest[m] = nearer ? number : nearest[m];
    least[m] = nearer ? bits[m] : least[m];
  }
}
