// SPDX-License-Identifier: Apache-2.0
#include "numerics/resampling.h"

#include <algorithm>
#include <cmath>

#include "pixel/transcendental.h"

namespace penstock {

namespace {
constexpr int kSteps = 64;
}  // namespace

Resampler::Resampler(double quality)
    : lobes_(static_cast<int>(std::lround(0.007 * quality * quality - 0.09 * quality + 3))) {
  const int count = lobes_ * kSteps;
  table_.resize(count + 2);
  for (int i = 0; i <= count; ++i) {
    const double x = static_cast<double>(i) / kSteps;
    const double sinc = i == 0 ? 1 : std::sin(kPi * x) / (kPi * x);
    table_[i] = static_cast<float>(sinc * 0.5 * (1 + std::cos(kPi * x / lobes_)));
  }
}

Resampler::Step::Step(double in_rate, double out_rate) {
  const double step = std::min(in_rate / out_rate, 0x1p62);
  whole = static_cast<uint64_t>(step);
  rest = static_cast<uint64_t>((step - static_cast<double>(whole)) * 0x1p64);
}

int64_t Resampler::length(int64_t in, double in_rate, double out_rate) {
  return static_cast<int64_t>(std::min(std::ceil(static_cast<double>(in) * out_rate / in_rate), 0x1p62));
}

void Resampler::run(const float* in, int64_t n, int channels, double in_rate, double out_rate, float* out,
                    int64_t length) const {
  const Step step(in_rate, out_rate);
  std::vector<float> weights;
  uint64_t position = 0, rest = 0;  // of output sample k: position + rest / 2^64
  for (int64_t k = 0; k < length; ++k) {
    const auto whole = static_cast<int64_t>(position);
    const float fraction = static_cast<float>(static_cast<uint32_t>(rest >> 40)) * 0x1p-24f;
    const int64_t first = std::max<int64_t>(whole + (rest != 0) - lobes_, 0);
    const int64_t last = std::min<int64_t>(whole + lobes_, n - 1);
    rest += step.rest;
    position += step.whole + (rest < step.rest);
    weights.clear();
    for (int64_t i = first; i <= last; ++i) {
      const float x = std::abs(static_cast<float>(static_cast<int32_t>(i - whole)) - fraction) * kSteps;
      const int low = static_cast<int>(x);
      const float part = x - static_cast<float>(low);
      weights.push_back(low > lobes_ * kSteps ? 0.0f : table_[low] + part * (table_[low + 1] - table_[low]));
    }
    const auto count = static_cast<int64_t>(weights.size());
    for (int c = 0; c < channels; ++c) {
      float part[8] = {};  // sums that vectorize, in a fixed order
      const float* from = in + first * channels + c;
      int64_t i = 0;
      for (; i + 8 <= count; i += 8)
        for (int j = 0; j < 8; ++j) part[j] += weights[i + j] * from[(i + j) * channels];
      float sum = ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
      for (; i < count; ++i) sum += weights[i] * from[i * channels];
      out[k * channels + c] = sum;
    }
  }
}

}  // namespace penstock
