// SPDX-License-Identifier: Apache-2.0
// The kernels as ordinary C++, with fibers for threads, give the bytes of plain loops, aligned or not.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <random>

#include "families/table/kernels/bins.h"

namespace penstock::table {
namespace {

template <class Word, int known> void compare(int64_t channels, std::mt19937& random) {
  const int64_t n = static_cast<int64_t>(random() % 3000) * channels, shift = random() % 2;
  std::vector<uint8_t> in(static_cast<size_t>(n) + 1);
  for (uint8_t& v : in) v = static_cast<uint8_t>(random());
  std::vector<Word> tables(static_cast<size_t>(256 * channels)), out(static_cast<size_t>(n) + 2, Word(7));
  for (Word& v : tables) v = static_cast<Word>(random());
  constexpr int64_t kEach = 16 / sizeof(Word);
  const LookupRow row{in.data() + shift, out.data() + shift, tables.data(), {}, n - shift, channels};
  const int64_t units = (row.n + kEach - 1) / kEach;
  if (row.n > 0) whole::launch<LookupRow>({row}, {units}, 300, look_up<Word, known>);
  for (int64_t i = 0; i < row.n; ++i) {
    const auto at = static_cast<size_t>(i % channels * 256 + in[static_cast<size_t>(i + shift)]);
    ASSERT_EQ(out[static_cast<size_t>(i + shift)], tables[at]);
  }
  ASSERT_EQ(out.back(), Word(7));
  if (row.n <= 0) return;

  const int64_t slices = 1 + random() % 3;
  std::vector<int32_t> counts(static_cast<size_t>(channels * slices * 256)), sums(static_cast<size_t>(channels * 256));
  const CountRow counted{row.in, counts.data(), row.n, channels, slices, count_copies(channels, 48 * 1024)};
  whole::launch<CountRow>({counted}, {slices}, 1, count_bytes<known>);
  for (int64_t i = 0; i < row.n; ++i) ++sums[static_cast<size_t>(i % channels * 256 + row.in[i])];
  for (size_t i = 0; i < sums.size(); ++i) {
    int32_t sum = 0;
    for (size_t k = 0; k < static_cast<size_t>(slices); ++k)
      sum += counts[(i / 256 * static_cast<size_t>(slices) + k) * 256 + i % 256];
    ASSERT_EQ(sum, sums[i]);
  }
  const Bins bins{20, 200, 17 / 180.0f, 17};
  std::vector<int32_t> binned(static_cast<size_t>(channels * bins.count)), expected(binned.size());
  whole::launch<ByteBinsRow>({{counted, binned.data(), bins}}, {slices}, 1, count_byte_bins<known>);
  for (int64_t i = 0; i < channels * 256; ++i)
    if (const int32_t bin = bin_of(static_cast<float>(i % 256), bins); bin < bins.count)
      expected[static_cast<size_t>(i / 256 * bins.count + bin)] += sums[static_cast<size_t>(i)];
  ASSERT_EQ(binned, expected);
}

TEST(TableKernels, EqualLoops) {
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    compare<uint8_t, 1>(1, random);
    compare<uint8_t, 3>(3, random);
    compare<uint8_t, 0>(5, random);
    compare<uint32_t, 1>(1, random);
    compare<uint64_t, 0>(2, random);
  }
}

}  // namespace
}  // namespace penstock::table
