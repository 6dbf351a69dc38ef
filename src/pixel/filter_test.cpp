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

}  // namespace
}  // namespace penstock
