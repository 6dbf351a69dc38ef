// SPDX-License-Identifier: Apache-2.0
// Derivatives of images of bytes on the CPU, by Sobel's windows: exact sums of integers, along columns and then along
// rows.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace penstock {

constexpr int kMostSobel = 7;
struct SobelTaps {
  int size = 1;
  std::array<int16_t, kMostSobel> weights{};
};
// The window of `size` elements of the derivative of an order along an axis; order 0 smooths.
SobelTaps sobel_taps(int size, int order);

// The rows of an image of `channels` interleaved channels, filtered down and across. A row's sums need 32 bits where
// they are wide().
class ByteDerivatives {
 public:
  ByteDerivatives(const uint8_t* image, int64_t height, int64_t width, int64_t channels, int border,
                  const SobelTaps& down, const SobelTaps& across);
  bool wide() const;
  void row(int64_t y, int16_t* to);  // not where they are wide
  void row(int64_t y, int32_t* to);

 private:
  const int16_t* summed_down(int64_t y);
  const uint8_t* image_;
  int64_t height_, width_, channels_;
  int border_;
  SobelTaps down_, across_;
  std::vector<uint8_t> blank_;  // a row outside a constant border
  std::vector<int16_t> sums_;   // of columns, with what the window across sees beside the row
};

}  // namespace penstock
