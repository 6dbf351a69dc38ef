// SPDX-License-Identifier: Apache-2.0
// Band-limited interpolation of signals: a windowed sinc from a table (J. O. Smith, "Digital Audio Resampling", 2002).
// Output sample k lies at k * in_rate / out_rate of the input; outside the input is silence.
#pragma once
#include <cstdint>
#include <vector>

namespace penstock {

class Resampler {
 public:
  // Input samples from one output sample to the next: whole + rest / 2^64, so that positions are exact in long signals.
  struct Step {
    Step(double in_rate, double out_rate);
    uint64_t whole, rest;
  };
  explicit Resampler(double quality);  // 0 to 100: 3, 16 (at 50) to 64 lobes

  static int64_t length(int64_t in, double in_rate, double out_rate);  // rounded up
  // in: n x channels interleaved; out: length x channels
  void run(const float* in, int64_t n, int channels, double in_rate, double out_rate, float* out, int64_t length) const;

  int lobes() const { return lobes_; }
  const std::vector<float>& table() const { return table_; }

 private:
  int64_t row_length() const;

  int lobes_;
  std::vector<float> table_;  // of the sinc under Hann's window, kSteps a lobe
  std::vector<float> rows_;   // the same by step between two samples: the weights of all neighbors side by side
};

}  // namespace penstock
