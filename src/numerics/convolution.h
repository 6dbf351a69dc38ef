// SPDX-License-Identifier: Apache-2.0
// Convolutions of real signals: of few taps directly, of many by Fourier transforms of parts that overlap
// (overlap-save; A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing", 1989, 8.7). Two parts are
// transformed at a time, as the real and the imaginary part of a complex signal. float32, the same bits on every
// processor and on a GPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/target.h"
#include "numerics/convolution_stages.h"

namespace penstock {

constexpr int64_t kDirectTaps = 48;              // convolutions of at most so many taps are sums
constexpr int64_t kMostTaps = int64_t{1} << 22;  // of others

// How a convolution is done: the size of transforms and what a part gives. Depends on lengths alone.
struct ConvolutionPlan {
  int64_t taps = 0, results = 0, size = 0, step = 0;
  ConvolutionPlan(int64_t taps, int64_t results);
  bool direct() const { return size == 0; }
  int64_t pairs() const { return direct() ? 0 : (results + 2 * step - 1) / (2 * step); }
};

// The factors of a transform's stages (convolution_stages.h), made once for each size and kept.
std::shared_ptr<const std::vector<std::byte>> convolution_factors(int64_t size);

// out[i * stride] = sum of response[k] scale in[begin + i - k], for i < plan.results.
void convolve(Target target, const ConvolutionPlan& plan, convolution::Signal in, convolution::Signal response,
              float scale, int64_t begin, float* out, int64_t stride);

}  // namespace penstock
