// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/byte_derivatives.h"

#include <cstdlib>

#include "base/target.h"
#include "operator/image_work.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS byte_derivatives
#define PENSTOCK_LOOPS_TEXT "ops/shared/byte_derivatives.inc.h"
#define PENSTOCK_LOOPS_UP_TO_AVX2
#include "base/foreach_target.h"

int64_t sum_of(const SobelTaps& t) {
  int64_t sum = 0;
  for (int k = 0; k < t.size; ++k) sum += std::abs(t.weights[static_cast<size_t>(k)]);
  return sum;
}

}  // namespace

SobelTaps sobel_taps(int size, int order) {
  SobelTaps t;
  const int least = order > 0 ? 3 : 1;
  t.size = size > least ? size : least;
  t.weights[0] = 1;
  for (int made = 1; made < t.size; ++made) {  // times (1, 1) or (-1, 1)
    const int sign = made <= t.size - 1 - order ? 1 : -1;
    for (int k = made; k >= 0; --k) {
      const auto i = static_cast<size_t>(k);
      t.weights[i] = static_cast<int16_t>(sign * t.weights[i] + (k > 0 ? t.weights[i - 1] : 0));
    }
  }
  return t;
}

ByteDerivatives::ByteDerivatives(const uint8_t* image, int64_t height, int64_t width, int64_t channels, int border,
                                 const SobelTaps& down, const SobelTaps& across)
    : image_(image),
      height_(height),
      width_(width),
      channels_(channels),
      border_(border),
      down_(down),
      across_(across),
      blank_(border == kBorderConstant ? static_cast<size_t>(width * channels) : 0),
      sums_(static_cast<size_t>((width + across.size - 1) * channels)) {}

bool ByteDerivatives::wide() const { return sum_of(down_) * sum_of(across_) * 255 > INT16_MAX; }

const int16_t* ByteDerivatives::summed_down(int64_t y) {
  const uint8_t* rows[kMostSobel];
  for (int k = 0; k < down_.size; ++k) {
    const int64_t from = ImageRule::bordered(y + k - down_.size / 2, height_, border_);
    rows[k] = from < 0 ? blank_.data() : image_ + from * width_ * channels_;
  }
  const int64_t reach = across_.size / 2, c = channels_;
  int16_t* const first = sums_.data() + reach * c;
  PENSTOCK_FOR_TARGET(best_target(), byte_derivatives, columns(down_, rows, width_ * c, first));
  const auto beside = [&](int64_t x) {
    const int64_t from = ImageRule::bordered(x, width_, border_);
    for (int64_t k = 0; k < c; ++k) first[x * c + k] = from < 0 ? int16_t{0} : first[from * c + k];
  };
  for (int64_t x = -reach; x < 0; ++x) beside(x);
  for (int64_t x = width_; x < width_ + reach; ++x) beside(x);
  return sums_.data();
}

void ByteDerivatives::row(int64_t y, int16_t* to) {
  const int16_t* const sums = summed_down(y);
  PENSTOCK_FOR_TARGET(best_target(), byte_derivatives, across(across_, sums, channels_, width_ * channels_, to));
}

void ByteDerivatives::row(int64_t y, int32_t* to) {
  const int16_t* const sums = summed_down(y);
  PENSTOCK_FOR_TARGET(best_target(), byte_derivatives, across(across_, sums, channels_, width_ * channels_, to));
}

}  // namespace penstock
