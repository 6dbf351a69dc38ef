// SPDX-License-Identifier: Apache-2.0
// Inverse DCTs of libjpeg's "islow" method: Loeffler, Ligtenberg and Moschytz, "Practical fast 1-D DCT algorithms with
// 11 multiplications" (ICASSP 1989), 13 fractional bits, columns first with 2 bits kept; the reduced sizes use the low
// frequencies of each block.
#pragma once
#include <cstdint>

namespace penstock::jpeg {

// Values that are not 32 bits wide have 16 bits: sums of two inputs wrap, and results of the first pass saturate. If
// rows 1 to 7 of a block are zero (before dequantization), the first pass shifts row 0, which wraps. Valid files reach
// none of these limits.
constexpr int kFractionBits = 13, kFirstPassBits = 2;

// Constants of the 8-point transform: cosines times 8192, rounded.
constexpr int k0_298 = 2446, k0_390 = 3196, k0_541 = 4433, k0_765 = 6270, k0_899 = 7373, k1_175 = 9633, k1_501 = 12299,
              k1_847 = 15137, k1_961 = 16069, k2_053 = 16819, k2_562 = 20995, k3_072 = 25172;
// Constants of the 4-point and 2-point transforms.
constexpr int k0_211 = 1730, k0_509 = 4176, k0_601 = 4926, k1_061 = 8697, k1_451 = 11893, k2_172 = 17799;
constexpr int k0_720 = 5906, k0_850 = 6967, k1_272 = 10426, k3_624 = 29692;

}  // namespace penstock::jpeg
