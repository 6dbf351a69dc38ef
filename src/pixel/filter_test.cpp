// SPDX-License-Identifier: Apache-2.0
#include "pixel/filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace penstock {
namespace {

// The scale of integer weights follows from the largest weight of all outputs, whichever of them are looked at.
TEST(Filter, BitsOfInt16AreThoseOfTheLargestWeight) {
  std::mt19937 draw(7);
  const auto number = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(draw); };
  for (int n = 0; n < 3000; ++n) {
    AxisFilter f;
    constexpr FilterKind kKinds[] = {FilterKind::lanczos3, FilterKind::lanczos4, FilterKind::hamming,
                                     FilterKind::cubic,    FilterKind::linear,   FilterKind::gaussian};
    f.kind = kKinds[n % 6], f.antialias = number(0, 3) > 0;
    f.border = number(0, 1) ? FilterBorder::cut : FilterBorder::clamp;
    const int in = number(1, n % 5 ? 400 : 12);
    f.out = number(1, n % 7 ? 400 : 12);
    f.lo = 0, f.hi = in;
    if (number(0, 2) == 0) f.lo = in * 0.25 * number(0, 2), f.hi = f.lo + in * 0.01 * number(1, 120);
    if (number(0, 5) == 0) std::swap(f.lo, f.hi);
    if (number(0, 5) == 0) f.lo = 0, f.hi = in, f.out = in * number(1, 3);  // phases that come again, weights of 1
    AxisFilter plain = f;
    f.int16_weights = true;
    const AxisTaps axis = axis_taps(plain, in);
    std::vector<double> scratch(axis.taps);
    std::vector<float> weight(axis.taps);
    double largest = 0;
    for (int64_t o = 0; o < f.out; ++o) {
      make_output_taps(axis, o, scratch.data(), weight.data());
      for (const float w : weight) largest = std::max(largest, static_cast<double>(w));
    }
    int bits = 0;
    while (bits < 22 && 0.5 + largest * (1 << (bits + 1)) < 1 << 15) ++bits;
    EXPECT_EQ(axis_taps(f, in).bits, bits) << n << ": " << in << " to " << f.out << " from " << f.lo << " to " << f.hi;
  }
}

// Tables by vectors hold the bits that kernels compute one by one.
TEST(Filter, TablesOfAllTargetsAreEqual) {
  std::mt19937 draw(9);
  const auto number = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(draw); };
  for (int n = 0; n < 600; ++n) {
    AxisFilter f;
    f.kind = static_cast<FilterKind>(n % 13);
    if (f.kind == FilterKind::window) continue;
    f.antialias = number(0, 3) > 0, f.int16_weights = number(0, 1) > 0;
    f.border = number(0, 1) ? FilterBorder::cut : FilterBorder::clamp;
    const int in = number(1, 300);
    f.out = number(1, 300), f.lo = 0.125 * number(0, 8), f.hi = in - 0.125 * number(0, 8);
    TapTable table;
    make_taps(f, in, 0, 1, f.out, table);
    const AxisTaps axis = axis_taps(f, in);
    std::vector<double> scratch(axis.taps);
    std::vector<float> weight(axis.taps);
    for (int64_t o = 0; o < f.out; ++o) {
      EXPECT_EQ(table.first[o], make_output_taps(axis, o, scratch.data(), weight.data()).first);
      for (int k = 0; k < axis.taps; ++k)
        ASSERT_EQ(table.weight[static_cast<size_t>(o) * axis.taps + k], weight[k]) << n << ": " << o << ", " << k;
    }
  }
}

}  // namespace
}  // namespace penstock
