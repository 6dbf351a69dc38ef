// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of real signals, kFourierLanes of them side by side: each vector register holds the same
// element of all. Mixed radices by Stockham's autosorting scheme (C. Van Loan, "Computational Frameworks for the Fast
// Fourier Transform", 1992, 1.7): any length; prime factors above 5 cost their square. float32, without fused
// multiply-adds: the same bits on every processor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/target.h"

namespace penstock {

constexpr int kFourierLanes = 16;

// Up to kFourierLanes lines of `count` elements each, followed by zeros: element i of line k is lines[k][i * stride],
// times window[i] if there is a window.
struct FourierInput {
  const float* const* lines;  // kFourierLanes of them; the last one may be repeated
  int64_t count, stride;
  const float* window;
};
// |X|, squared or not: frequency f of line k to lines[k][f * frequency].
struct FourierOutput {
  float* const* lines;
  int count;  // number of lines that are wanted
  int64_t frequency;
  bool squared;
};

class RealFourier {
 public:
  explicit RealFourier(int length);  // at least 1
  int length() const { return length_; }
  int bins() const { return length_ / 2 + 1; }

  void magnitudes(Target target, const FourierInput& in, const FourierOutput& out) const;

  std::shared_ptr<const std::vector<std::byte>> packed() const;  // as fourier_plan.h describes

  struct Stage {
    int radix, groups, span;      // length left = radix * groups; span = product of the radices before
    std::vector<float> twiddles;  // groups x (radix - 1) pairs
    std::vector<float> roots;     // radix pairs, where radix > 5
  };

 private:
  int length_, complex_length_;  // an even length is computed as a complex one of half the length
  std::vector<Stage> stages_;
  std::vector<float> half_turns_;  // e^(-2 pi i k / length) of an even length
};

// The transform of a length, made once and kept.
std::shared_ptr<const RealFourier> real_fourier(int length);

// Hann's window, sampled at the centers of its steps: 0.5 (1 - cos(2 pi (i + 0.5) / length)).
std::vector<float> hann_window(int length);

}  // namespace penstock
