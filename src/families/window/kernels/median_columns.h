// SPDX-License-Identifier: Apache-2.0
// The network of the 5 x 5 median, for both devices: of the ranks of five sorted columns, w[5 * rank + column], w[16]
// becomes the median. Found by removing exchanges from a network of sorted rows as long as all 6^5 inputs of zeros and
// ones, which sorted columns can have, gave the median.
#pragma once

// clang-format off
#define PENSTOCK_MEDIAN_OF_COLUMNS(S)                                                                                 \
  S(0, 3) S(1, 4) S(0, 2) S(1, 3) S(2, 4) S(3, 4) S(2, 3) S(5, 8) S(6, 9) S(6, 8) S(5, 6) S(7, 9) S(6, 7) S(8, 9)     \
  S(7, 8) S(10, 13) S(11, 14) S(10, 12) S(11, 13) S(10, 11) S(12, 14) S(11, 12) S(13, 14) S(12, 13) S(15, 18)         \
  S(16, 19) S(15, 17) S(16, 18) S(15, 16) S(17, 19) S(16, 17) S(17, 18) S(20, 23) S(21, 24) S(20, 22) S(21, 23)       \
  S(20, 21) S(22, 24) S(21, 22) S(20, 13) S(7, 3) S(11, 4) S(20, 12) S(8, 21) S(4, 17) S(16, 9) S(3, 16) S(4, 12)     \
  S(15, 8) S(20, 4) S(16, 8) S(16, 12) S(20, 16) S(4, 8) S(4, 16)
// clang-format on
